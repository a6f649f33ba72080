import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as breathe } from 'node:timers/promises'
import { isHandoff } from '../diagnose/survey.ts'
import { type FollowCandidate, type FollowRule, followRule } from '../findings/follow.ts'
import { linkUp, relationOf } from '../findings/lineage.ts'
import { Marks, markOf } from '../read/marks.ts'
import {
  type HermesRow,
  type HermesSession,
  messageReader,
  numberOf,
  readSessions,
  scanOwners,
} from '../read/rows.ts'
import type { HermesSchema } from '../read/schema.ts'
import { type Chain, gatherChains } from './chains.ts'
import { RowIds } from './row-ids.ts'

/**
 * Which sessions form a conversation, and which rows belong to them. The doctor's survey knows this
 * and much more; here a session takes a few hundred bytes and a row eight. Text is read only for
 * the few sessions whose parent cannot be determined otherwise.
 */
interface ChainsRequest {
  readonly database: DatabaseSync
  readonly schema: HermesSchema
  readonly path: string
  readonly rowCount: number
  readonly onRows: (rows: number) => void
}

const ROWS_PER_BREATH = 10_000

export async function readChains({
  database,
  schema,
  path,
  rowCount,
  onRows,
}: ChainsRequest): Promise<{ readonly chains: Iterable<Chain>; readonly rowIds: RowIds }> {
  const rowIds = new RowIds(rowCount)
  let rows = 0
  for (const { id, sessionId } of scanOwners(database, schema, path)) {
    rowIds.add(sessionId, id)
    rows += 1
    if (rows % ROWS_PER_BREATH === 0) {
      onRows(rows)
      await breathe()
    }
  }
  rowIds.end()
  const sessions = new Map<string, FollowCandidate>()
  for (const session of readSessions(database, schema)) {
    if (sessions.has(session.id)) continue
    sessions.set(session.id, { session, rows: rowIds.of(session.id).length })
  }
  const rule = followRule(schema)
  const known = new Map([...sessions, ...namedOnly(sessions, rowIds)])
  const heirs = findHeirs({ sessions: known, rowIds, read: messageReader(database, schema), rule })
  const latest = database.prepare(
    'select max(timestamp) as at from "messages" where session_id = ?',
  )
  const lineage = linkUp(known, {
    ...{ rule, anyEnd: true },
    isContinuation: ({ session }) => heirs.has(session.id),
    lastRowAt: ({ session }) => numberOf(latest.get(session.id)?.['at']),
  })
  return { chains: gatherChains({ sessions, homeless: homeless(), lineage }), rowIds }

  function* homeless() {
    for (const name of rowIds.names()) {
      if (!sessions.has(name) && lineage.continuationsOf(name).length === 0) yield name
    }
  }
}

/** Deleted sessions that still have rows and a session that names them as its parent. */
function* namedOnly(
  sessions: ReadonlyMap<string, FollowCandidate>,
  rowIds: RowIds,
): Generator<readonly [string, FollowCandidate]> {
  for (const { session } of sessions.values()) {
    const id = session.parentId ?? ''
    const rows = sessions.has(id) ? 0 : rowIds.of(id).length
    if (rows > 0) yield [id, { session: { ...NOBODY, id }, rows }]
  }
}

const NOBODY: Omit<HermesSession, 'id'> = {
  ...{ source: '', parentId: null, startedAt: null, endedAt: null, endReason: null },
  ...{ lastActivityAt: null, origin: null, model: null, title: null, sessionKey: null },
  ...{ toolCallCount: null, cooldownUntil: null, cooldownError: null },
  ...{ fallbackStreak: 0, ineffectiveCount: 0 },
}

type ReadRow = (id: number) => HermesRow | null

/** Of the sessions whose times are ambiguous, those whose rows continue the parent. */
function findHeirs({
  sessions,
  rowIds,
  read,
  rule,
}: {
  readonly sessions: ReadonlyMap<string, FollowCandidate>
  readonly rowIds: RowIds
  readonly read: ReadRow
  readonly rule: FollowRule
}): ReadonlySet<string> {
  const heirs = new Set<string>()
  const undecided = new Map<string, string[]>()
  for (const { session } of sessions.values()) {
    const parent = sessions.get(session.parentId ?? '')?.session
    if (parent === undefined || relationOf(session, parent, { rule, anyEnd: true }) !== 'open')
      continue
    const [firstId] = rowIds.of(session.id)
    const first = firstId === undefined ? null : read(firstId)
    if (first === null) continue
    const siblings = undecided.get(parent.id)
    if (isHandoff(first)) heirs.add(session.id)
    else if (siblings === undefined) undecided.set(parent.id, [session.id])
    else siblings.push(session.id)
  }
  for (const [parentId, children] of undecided) {
    for (const id of findCarriers(parentId, children, rowIds, read)) heirs.add(id)
  }
  return heirs
}

/** Sessions that repeat rows of the parent, in the order in which all were written. */
function findCarriers(
  parentId: string,
  children: readonly string[],
  rowIds: RowIds,
  read: ReadRow,
): ReadonlySet<string> {
  const lists = [parentId, ...children].map((id) => rowIds.of(id))
  const ids = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0))
  let filled = 0
  for (const list of lists) {
    ids.set(list, filled)
    filled += list.length
  }
  const marks = new Marks()
  const carriers = new Set<string>()
  for (const id of ids.sort()) {
    const row = read(id)
    const mark = row === null || row.state === 'rewound' ? null : markOf(row)
    if (row === null || mark === null) continue
    if (row.sessionId === parentId) marks.note(mark, row)
    else if (marks.has(mark)) carriers.add(row.sessionId)
    if (carriers.size === children.length) break
  }
  return carriers
}
