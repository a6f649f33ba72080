import type { SessionId } from '../../base/ids.ts'
import { damagedEntry, orUnreadable } from '../integrity/damaged-row.ts'
import { type ForkRow, keeperOf } from '../lineage.ts'
import type { Entry, SessionRow } from '../tables/rows.ts'
import { type EmptiedEntry, ErasureRecord, NO_ERASURE } from '../verify/erasures.ts'
import type { SqliteConnection } from './connection.ts'
import { auditLine, firstLine, keptStretches, lineIn, type SessionNumbers } from './sessions.ts'
import { packed, SQLITE, SQLITE_HEAD_COLUMNS, unpacked } from './tables.ts'

/** Returns the entries, unless one has lost its text without a recorded erasure. */
export function checkedEmptied(
  db: SqliteConnection,
  numbers: SessionNumbers,
  session: SessionRow,
  entries: readonly Entry[],
): readonly Entry[] {
  const lost = entries.filter(({ body }) => body === null).map(({ number }) => number)
  // The texts of a deleted session are erased without naming them.
  if (lost.length === 0 || session.state !== 'open') return entries
  const line = lineIn(db, session)
  const emptied = lost.map((number) => ({ keeper: keeperOf(line, number)?.id, number }))
  const [first] = unrecorded(db, numbers, session, emptied as readonly EmptiedEntry[])
  if (first === undefined) return entries
  throw damagedEntry(session.id, first.number, NO_ERASURE)
}

/** All entries without text that an open session reads, its own or those of others. */
export function unrecordedOf(
  db: SqliteConnection,
  numbers: SessionNumbers,
  session: SessionRow,
): readonly EmptiedEntry[] {
  if (session.state !== 'open') return []
  const emptied = keptStretches(db, session, 1, session.tail).flatMap(({ sessionId, from, to }) =>
    emptiedIn(db, numbers.get(sessionId), from, to).map(({ number }) => {
      return { keeper: sessionId, number }
    }),
  )
  return unrecorded(db, numbers, session, emptied)
}

export function emptiedIn(
  db: SqliteConnection,
  n: number,
  from: number,
  to: number,
): readonly { readonly number: number; readonly hash: string }[] {
  const sql = `select id, lower(hex(hash)) as hash from entry
    where id between ? and ? and body is null order by id`
  return db
    .all(sql, packed(n, from), packed(n, to))
    .map(({ id, hash }) => ({ number: unpacked(id), hash: hash as string }))
}

/**
 * Those of the entries whose erasure is not recorded. Nearly all are named by an erasure entry of
 * their own session, which an index finds. Only if one is not, the audit of all sessions with the
 * same root is read.
 */
export function unrecorded(
  db: SqliteConnection,
  numbers: SessionNumbers,
  { id, root }: Pick<SessionRow, 'id' | 'root'>,
  emptied: readonly EmptiedEntry[],
): readonly EmptiedEntry[] {
  if (emptied.length === 0) return []
  const sql = `select id, origin, forked_at as forkedAt from session where id = ?1 or root = ?1`
  const sessions = db.all(sql, root ?? id) as unknown as readonly ForkRow[]
  const record = new ErasureRecord(sessions)
  for (const keeper of new Set(emptied.map((each) => each.keeper))) {
    addEntries(db, numbers.get(keeper), keeper, record)
    const creation = firstLine(db, keeper)
    if (creation !== undefined) record.addAudit(keeper, creation)
  }
  const left = emptied.filter(record.isMissing)
  if (left.length === 0) return []
  for (const { id: each } of sessions) {
    addEntries(db, numbers.get(each), each, record)
    const audit = `select * from audit where session = ? and kind = 'entries erased'`
    for (const row of db.all(audit, each)) {
      const line = auditLine(row)
      if (line !== undefined) record.addAudit(each, line)
    }
  }
  return left.filter(record.isMissing)
}

function addEntries(db: SqliteConnection, n: number, id: SessionId, record: ErasureRecord): void {
  // The last condition excludes nothing; it lets SQLite use the partial index of the folded kinds.
  const sql = `select ${SQLITE_HEAD_COLUMNS} from entry where id between ? and ?
    and kind = 'erasure' and kind not in ('input', 'assistant', 'result', 'turn')`
  for (const row of db.all(sql, packed(n, 1), packed(n + 1, 0) - 1n)) {
    const entry = orUnreadable(() => SQLITE.entry.decode(row))
    if (entry !== null) record.addEntry(id, entry)
  }
}
