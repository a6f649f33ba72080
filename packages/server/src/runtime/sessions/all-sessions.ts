import type { SessionId } from '#core/base/ids'
import { LIST_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import { DamagedRowError } from '#core/store/errors'
import type { SessionRow } from '#core/store/rows'
import type { Found, SessionQuery, SessionSummary } from '../runtime.ts'
import { readSummary, type SessionDependencies, searchEntries } from './session-handle.ts'

export async function listSummaries(
  store: Store,
  query: SessionQuery,
  waitOf: SessionDependencies['waitOf'],
): Promise<readonly SessionSummary[]> {
  const rows = await store.listSessions(query)
  return await Promise.all(rows.map((row) => readSummary(store, row, waitOf)))
}

/** One session after another, until there is enough. */
export async function searchAll(
  store: Store,
  query: { text: string; agent?: string; limit: number },
): Promise<readonly Found[]> {
  const { text, agent, limit } = query
  const found: Found[] = []
  let after: SessionId | undefined
  for (;;) {
    const rows = await store.listSessions({
      ...(agent !== undefined && { agent }),
      ...(after !== undefined && { after }),
      limit: LIST_MAX,
    })
    for (const row of rows) {
      const left = limit - found.length
      if (left <= 0) return found
      found.push(...(await searchSound(store, row, { text, limit: left })))
    }
    after = rows.at(-1)?.id
    if (rows.length < LIST_MAX || after === undefined) return found
  }
}

/** Health tells of a session that is damaged; it must not hide what the others hold. */
async function searchSound(
  store: Store,
  row: SessionRow,
  query: { text: string; limit: number },
): Promise<readonly Found[]> {
  try {
    return await searchEntries(store, row, { ...query, neighbours: 0 })
  } catch (error) {
    if (error instanceof DamagedRowError) return []
    throw error
  }
}
