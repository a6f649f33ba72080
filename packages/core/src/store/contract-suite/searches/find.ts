import type { Store } from '../../contract.ts'
import type { Search, SearchAnswer } from '../../queries.ts'
import type { StoreFixture } from '../bench.ts'

type Asked = Partial<Search> & { readonly text: string }

export async function searchFor(
  store: Store,
  fixture: StoreFixture,
  asked: Asked,
): Promise<SearchAnswer> {
  return await store.search({ sessionId: fixture.id, limit: 10, neighbours: 0, ...asked })
}

/** The numbers of the entries that are found, the best first. */
export async function find(
  store: Store,
  fixture: StoreFixture,
  asked: Asked | string,
): Promise<number[]> {
  const { hits } = await searchFor(
    store,
    fixture,
    typeof asked === 'string' ? { text: asked } : asked,
  )
  return hits.map(({ entry }) => entry.number)
}
