import type { SessionId } from '../../../base/ids.ts'
import { damagedEntry, orUnreadable, unlessDamaged } from '../../integrity/damaged-row.ts'
import { type ForkRow, keeperOf, lineOf } from '../../lineage.ts'
import type { AuditRow, Entry, SessionRow } from '../../tables/rows.ts'
import {
  type EmptiedEntry,
  ErasureRecord,
  isDeletionRecorded,
  NO_ERASURE,
  notDeleted,
} from '../../verify/erasures.ts'
import type { Query } from '../connections/connections.ts'
import { type Columns, decodeAudit, POSTGRES, POSTGRES_HEAD_COLUMNS, toText } from '../tables.ts'

/** Runs statements that do not need each other's answers, in order. */
export type SendQueries = (queries: readonly Query[]) => Promise<readonly (readonly Columns[])[]>

/** A line that cannot be read records nothing. */
function auditLine(line: unknown): AuditRow | undefined {
  const columns = { line, cursor: 0, hash: Buffer.alloc(0) }
  return line ? (orUnreadable(() => decodeAudit(columns)) ?? undefined) : undefined
}

/** The kind is the third field of a line. New lines are not in the chain yet and have no cursor. */
const isKind = (kind: AuditRow['kind']) => `line ~ '^-?[0-9]+,"[^"]*","${kind}",'`
const FIRST_LINE = 'select line from audit where session = asked.id order by cursor, id limit 1'

/** Sessions whose rows claim a deletion that the audit does not record. */
export async function findNotDeleted(
  send: SendQueries,
  rows: readonly Columns[],
): Promise<ReadonlySet<SessionId>> {
  const deleted = rows.filter(({ state }) => state !== 'open')
  if (deleted.length === 0) return new Set()
  const [lines = []] = await send([
    {
      text: `select asked.id, asked.state, deletion.line as deletion, creation.line as creation
        from unnest($1::text[], $2::text[]) as asked (id, state)
        left join lateral (
          select line from audit where session = asked.id and ${isKind('session deleted')}
          order by cursor desc nulls first, id desc limit 1
        ) as deletion on true
        left join lateral (${FIRST_LINE}) as creation on true`,
      values: [deleted.map(({ id }) => id), deleted.map(({ state }) => state)],
    },
  ])
  const wrong = lines.filter(({ state, deletion, creation }) => {
    const isState = state as SessionRow['state']
    return !isDeletionRecorded(isState, auditLine(deletion), auditLine(creation))
  })
  return new Set(wrong.map(({ id }) => id as SessionId))
}

/** Returns the rows, unless one claims a deletion that the audit does not record. */
export async function checkedDeletions(
  send: SendQueries,
  rows: readonly Columns[],
): Promise<readonly Columns[]> {
  const wrong = await findNotDeleted(send, rows)
  const first = rows.find(({ id }) => wrong.has(id as SessionId))
  if (first === undefined) return rows
  throw notDeleted(first as unknown as SessionRow)
}

/** Without damaged rows, which must not hide the others; `verify` reports them. */
export async function decodeRecorded(
  send: SendQueries,
  rows: readonly Columns[],
): Promise<readonly SessionRow[]> {
  return decodeReadable(await withoutNotDeleted(send, rows))
}

export function decodeReadable(rows: readonly Columns[]): readonly SessionRow[] {
  return rows.flatMap((row) => unlessDamaged(() => POSTGRES.session.decode(row)) ?? [])
}

export async function withoutNotDeleted(
  send: SendQueries,
  rows: readonly Columns[],
): Promise<readonly Columns[]> {
  const wrong = await findNotDeleted(send, rows)
  return rows.filter(({ id }) => !wrong.has(id as SessionId))
}

/** Returns the entries, unless one has lost its text without a recorded erasure. */
export async function checkEmptied(
  send: SendQueries,
  session: SessionRow,
  entries: readonly Entry[],
): Promise<readonly Entry[]> {
  const lost = entries.filter(({ body }) => body === null).map(({ number }) => number)
  const [first] = lost.length === 0 ? [] : await findUnrecorded(send, session, lost)
  if (first === undefined) return entries
  throw damagedEntry(session.id, first, NO_ERASURE)
}

/**
 * Those of the entries without text whose erasure is not recorded. Nearly all are named by an erasure
 * entry of their own session, which an index finds. Only if one is not, the audit of all sessions with
 * the same root is read.
 */
export async function findUnrecorded(
  send: SendQueries,
  session: Pick<SessionRow, 'id' | 'root' | 'state'>,
  numbers: readonly number[],
): Promise<readonly number[]> {
  // The texts of a deleted session are erased without naming them.
  if (numbers.length === 0 || session.state !== 'open') return []
  const [sessions = []] = await send([
    {
      text: `select id, origin, forked_at as "forkedAt" from session where id = $1 or root = $1`,
      values: [toText(session.root ?? session.id)],
    },
  ])
  const forks = sessions as unknown as readonly ForkRow[]
  const byId = new Map(forks.map((row) => [row.id, row]))
  const own = byId.get(session.id)
  const line = own === undefined ? [] : lineOf(own, (id) => byId.get(id))
  const emptied: readonly EmptiedEntry[] = numbers.map((number) => {
    return { keeper: keeperOf(line, number)?.id ?? session.id, number }
  })
  const record = new ErasureRecord(forks)
  await hear(send, record, [...new Set(emptied.map(({ keeper }) => keeper))], FIRST_LINES)
  const left = emptied.filter(record.isMissing)
  if (left.length === 0) return []
  await hear(send, record, [...byId.keys()], ERASED_LINES)
  return left.filter(record.isMissing).map(({ number }) => number)
}

const FIRST_LINES = `select asked.id as session, creation.line from unnest($1::text[]) as asked (id)
  cross join lateral (${FIRST_LINE}) as creation`
const ERASED_LINES = `select session, line from audit where session = any($1)
  and ${isKind('entries erased')}`
// The last condition excludes nothing; it lets the server use the partial index of the folded kinds.
const ERASURES = `select ${POSTGRES_HEAD_COLUMNS} from entry where session = any($1)
  and kind = 'erasure' and kind not in ('input', 'assistant', 'result', 'turn')`

async function hear(
  send: SendQueries,
  record: ErasureRecord,
  ids: readonly SessionId[],
  audit: string,
): Promise<void> {
  const values = [ids]
  const [entries = [], lines = []] = await send([
    { text: ERASURES, values },
    { text: audit, values },
  ])
  for (const row of entries) {
    const entry = orUnreadable(() => POSTGRES.entry.decode(row))
    if (entry !== null) record.addEntry(row['session'] as SessionId, entry)
  }
  for (const { session, line } of lines) {
    const row = auditLine(line)
    if (row !== undefined) record.addAudit(session as SessionId, row)
  }
}

/** For an import: entries without text, except those of open sessions that no erasure explains. */
export async function withoutUnrecorded(
  send: SendQueries,
  rows: readonly Columns[],
): Promise<readonly Columns[]> {
  if (rows.length === 0) return rows
  const ids = [...new Set(rows.map(({ session }) => session as SessionId))]
  const [sessions = []] = await send([
    { text: 'select id, root, state from session where id = any($1)', values: [ids] },
  ])
  const kept: Columns[] = []
  for (const session of sessions as unknown as Pick<SessionRow, 'id' | 'root' | 'state'>[]) {
    const own = rows.filter((row) => row['session'] === session.id)
    const numbers = own.map(({ number }) => number as number)
    const lost = new Set(await findUnrecorded(send, session, numbers))
    kept.push(...own.filter(({ number }) => !lost.has(number as number)))
  }
  return kept
}
