import type { SessionId } from '../base/ids.ts'
import { LIST_MAX } from './bounds.ts'
import type { Reads } from './contract.ts'
import type { ListSessions } from './queries.ts'
import type { SessionRow } from './tables/rows.ts'

/** All sessions of a store, or of an agent, page by page. */
export async function* everySession(
  store: Pick<Reads, 'listSessions'>,
  of: Omit<ListSessions, 'after' | 'limit'> = {},
): AsyncGenerator<SessionRow> {
  let after: SessionId | undefined
  do {
    const page: readonly SessionRow[] = await store.listSessions({
      ...of,
      ...(after !== undefined && { after }),
      limit: LIST_MAX,
    })
    yield* page
    after = page.length < LIST_MAX ? undefined : page.at(-1)?.id
  } while (after !== undefined)
}
