import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DamagedRowError } from '#core/store/errors'
import {
  type ReadOnlyMode,
  SqliteConnection,
  translateSqliteError,
} from '#core/store/sqlite/connection'
import {
  fileState,
  hasWalIndex,
  isOldSqlite,
  lacksEvidence,
  SQLITE_VERSION_MIN,
  walSize,
} from '#core/store/sqlite/store-file'
import { compareIndex, type IndexDrift } from '#core/store/sqlite/words/compare-index'
import { counted } from '../migration/hermes/findings/finding.ts'
import { type OwnFinding, unreadable } from './finding.ts'

/**
 * Checks that only a SQLite file needs: the files beside it, its permissions, its search index.
 * Only reads.
 */
const WAL_BYTES_MAX = 256 * 1024 * 1024
const OTHERS = 0o077
/** The write-ahead log alone may take this much before a checkpoint. */
const FREE_BYTES_MIN = 64 * 1024 * 1024

export function examineFile(path: string): readonly OwnFinding[] {
  return [...judgeModes(path), ...judgeWal(path), ...judgeEvidence(path)]
}

function judgeModes(path: string): OwnFinding[] {
  // Windows has no file modes.
  if (process.platform === 'win32') return []
  return ['', '-wal', '-shm', '.anchor', '.commits'].flatMap((suffix): OwnFinding[] => {
    const file = `${path}${suffix}`
    const stat = statSync(file, { throwIfNoEntry: false })
    if (stat === undefined || (stat.mode & OTHERS) === 0) return []
    const mode = (stat.mode & 0o777).toString(8)
    return [
      {
        ...{ kind: 'open-to-others', severity: 'warning', sessionIds: [], since: stat.ctimeMs },
        what: `${file} can be read by others on this host (mode ${mode}).`,
        advice: 'It holds whole conversations. --fix makes it private (600).',
        fix: { kind: 'make-private', path: file },
      },
    ]
  })
}

function judgeWal(path: string): OwnFinding[] {
  const bytes = walSize(path)
  if (bytes <= WAL_BYTES_MAX) return []
  return [
    {
      ...{ kind: 'large-wal', severity: 'warning', sessionIds: [], since: null },
      what: `The write-ahead log has grown to ${Math.round(bytes / 1024 / 1024)} MB.`,
      advice:
        'A reader never ends, or no process could fold it in: restart the processes that serve the store.',
    },
  ]
}

function judgeEvidence(path: string): OwnFinding[] {
  if (!lacksEvidence(path)) return []
  return [
    {
      ...{ kind: 'no-evidence', severity: 'note', sessionIds: [], since: null },
      what: `${path} has neither its anchor (.anchor) nor its record of commits (.commits).`,
      advice:
        'A backup has none. If this is not one, messages may be missing: `throughline audit` compares it with the audit logs.',
    },
  ]
}

export function judgeVersion(version: string): OwnFinding[] {
  if (!isOldSqlite(version)) return []
  return [
    {
      ...{ kind: 'old-sqlite', severity: 'fault', sessionIds: [], since: null },
      what: `This program runs SQLite ${version}, which can lose commits.`,
      advice: `Use a Node.js with SQLite ${SQLITE_VERSION_MIN} or newer.`,
    },
  ]
}

export function judgeSpace(bytes: number | null): OwnFinding[] {
  if (bytes === null || bytes >= FREE_BYTES_MIN) return []
  return [
    {
      ...{ kind: 'little-space', severity: 'warning', sessionIds: [], since: null },
      what: `Only ${Math.floor(bytes / 1024 / 1024)} MB are free where the store is.`,
      advice:
        'Free some space: on a full disk no messages are accepted. Accepted messages are safe.',
    },
  ]
}

/** The free space on the disk of a file; null if the system does not report it. */
export function freeBytes(path: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(dirname(path))
    return bavail * bsize
  } catch {
    return null
  }
}

/** The version of the loaded library; Node may be built with the system's SQLite. */
export function sqliteVersion(): string {
  const database = new DatabaseSync(':memory:')
  try {
    return String(database.prepare('select sqlite_version() as v').get()?.['v'])
  } finally {
    database.close()
  }
}

/**
 * For a readable store: does the search index contain what it claims? `isWhole`: the transcripts
 * were checked without findings.
 */
export function examineIndex(path: string, isWhole: boolean): readonly OwnFinding[] {
  for (let tries = 1; ; tries++) {
    const isImmutable = walSize(path) === 0
    if (!isImmutable && !hasWalIndex(path)) return []
    const before = fileState(path)
    const findings = readIndex(path, isImmutable ? '?immutable=1' : '?readonly_shm=1', isWhole)
    // Without a WAL nothing is locked: a process that began to write meanwhile may look like damage.
    const isSure = !isImmutable || (walSize(path) === 0 && fileState(path) === before)
    if (findings.length === 0 || isSure) return findings
    if (tries === TRIES_MAX) return []
  }
}

const TRIES_MAX = 3

function readIndex(path: string, manner: ReadOnlyMode, isWhole: boolean): readonly OwnFinding[] {
  let db: SqliteConnection | undefined
  try {
    db = new SqliteConnection(path, { readOnly: true, busyMs: 0, manner })
    // One snapshot for all reads, because a process may be writing.
    db.exec('begin')
    return judgeIndex(db, path, isWhole)
  } catch (error) {
    return [unreadable(translateSqliteError(error, path))]
  } finally {
    db?.close()
  }
}

function judgeIndex(db: SqliteConnection, path: string, isWhole: boolean): OwnFinding[] {
  // The index of a damaged transcript differs from it, too, and is not rebuilt from it.
  const what = unlessIndexDamaged(() =>
    isWhole ? describeDrift(compareIndex(db)) : describeGaps(db),
  )
  if (what === null) return []
  return [
    {
      ...{ kind: 'index-drift', severity: 'warning', sessionIds: [], since: null },
      what,
      advice: `Searches may miss messages${isWhole ? '; every transcript was checked and is whole' : ''}. \`throughline doctor --fix\` rebuilds the index.`,
      fix: { kind: 'rebuild-index', path },
    },
  ]
}

function unlessIndexDamaged(describe: () => string | null): string | null {
  try {
    return describe()
  } catch (error) {
    const isIndexRow = error instanceof DamagedRowError && error.facts.remedy !== undefined
    if (!isIndexRow && !String(error).includes('malformed JSON')) throw error
    return 'The search index has rows that cannot be read.'
  }
}

function describeDrift({ sessions, pages, areTotalsWrong }: IndexDrift): string | null {
  if (sessions > 0) {
    return `The search index does not match the messages of ${counted(sessions, 'session')}.`
  }
  if (pages > 0) return `The search index has ${counted(pages, 'damaged page')}.`
  return areTotalsWrong ? 'The totals of the search index do not match its sessions.' : null
}

/** Everything that a session's index claims must exist: its blocks and passages, and some pages. */
function describeGaps(db: SqliteConnection): string | null {
  const drifted = db.get(
    `select count(*) as count from indexed
     left join (select id >> 31 as session, sum(length(entries)) / 7 as entries,
         sum(length(lengths)) / 2 as passages from passage_block group by 1) as block
       on block.session = indexed.session
     where coalesce(entries, 0) <> upto or coalesce(passages, 0) <> state ->> 1
       or (state ->> 2 > 0 and not exists (select 1 from word_page))`,
  )?.['count']
  if (drifted === 0) return null
  return `The search index of ${counted(Number(drifted), 'session')} lacks pages.`
}
