import type { SessionId } from '#core/base/ids'
import { LIST_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import type { SessionRow } from '#core/store/rows'
import type {
  Found,
  SearchedSessions,
  SearchRequest,
  SessionQuery,
  SessionSummary,
} from '../runtime.ts'
import { readSummary, type SessionDependencies, searchEntries } from './session-handle.ts'

export async function listSummaries(
  store: Store,
  query: SessionQuery,
  waitOf: SessionDependencies['waitOf'],
): Promise<readonly SessionSummary[]> {
  const rows = await store.listSessions(query)
  return await Promise.all(rows.map((row) => readSummary(store, row, waitOf)))
}

/** All sessions are ranked together. A damaged one hides nothing of the others; health tells of it. */
export async function searchAll(
  store: Store,
  { agent, scope, sessionIds, ...query }: SearchRequest & SearchedSessions,
): Promise<readonly Found[]> {
  const wanted = sessionIds === undefined ? null : new Set(sessionIds)
  const sessions = new Map<SessionId, SessionRow>()
  let after: SessionId | undefined
  do {
    const rows: readonly SessionRow[] = await store.listSessions({
      ...(agent !== undefined && { agent }),
      ...(after !== undefined && { after }),
      limit: LIST_MAX,
    })
    for (const row of rows) {
      const isWanted = (wanted?.has(row.id) ?? true) && (scope ?? row.scope) === row.scope
      if (isWanted) sessions.set(row.id, row)
    }
    after = rows.length < LIST_MAX ? undefined : rows.at(-1)?.id
  } while (after !== undefined)
  return await searchEntries(store, sessions, { ...query, neighbours: 0 })
}
