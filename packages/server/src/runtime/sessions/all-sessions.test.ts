import { expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { create, newOperation, StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { MemoryTables } from '#core/store/memory/tables'
import { byHand, sqlitePlace } from '../../../../../test/support/sqlite-place.ts'
import type { SessionQuery } from '../runtime.ts'
import { listSummaries } from './all-sessions.ts'

const { newPath, open } = sqlitePlace()

const UNGUARDED = 'drop trigger entry_changes_by_erasure_only'

it.each(['meta', 'body'])(
  'an entry with a damaged %s hides no session from a list, not even its own',
  async (column) => {
    const path = newPath()
    const store = await open(path)
    const fixtures = [await StoreFixture.open(store), await StoreFixture.open(store)]
    for (const fixture of fixtures) await fixture.exchange('hi', 'hello')
    byHand(path, `${UNGUARDED}; update entry set ${column} = '(' where id >> 31 = 1`)
    const listed = await listSummaries(
      store,
      { limit: 9 },
      { waitOf: async () => undefined, leftOf: () => null },
    )
    const known = listed.map(({ id, entries, contextTokens }) => [id, entries, contextTokens > 0])
    expect(new Set(known)).toEqual(
      new Set(fixtures.map(({ id, tail }, index) => [id, tail.number, index > 0])),
    )
  },
)

it.each<[Partial<SessionQuery>, string, string]>([
  [{}, 'a b c d', 'by id'],
  [{ limit: 2, after: sessionId('b') }, 'c d', 'by id, after one'],
  [{ sort: 'created' }, 'c a b d', 'by creation, those of one time by id'],
  [{ sort: 'active' }, 'a c b d', 'by the last entry'],
  [{ sort: 'active', limit: 2 }, 'a c', 'the first two'],
  [{ sort: 'active', limit: 2, after: sessionId('c') }, 'b d', 'two after one'],
  [{ sort: 'active', limit: 1, after: sessionId('d') }, '', 'none after the last'],
  [{ sort: 'created', agent: 'bo' }, 'b d', 'of an agent'],
  [{ sort: 'created', state: 'open' }, 'c a d', 'without deleted ones'],
  [{ sort: 'created', state: 'open', after: sessionId('b') }, 'd', 'after a deleted one'],
])('lists sessions with %j: %s (%s)', async (query, ids) => {
  let now = 1_000
  const store = openMemoryStore({ tables: new MemoryTables({ clock: () => now }) })
  await create(store, { id: sessionId('d'), agent: 'bo' })
  now = 2_000
  const b = await StoreFixture.open(store, { id: sessionId('b'), agent: 'bo' })
  const a = await StoreFixture.open(store, { id: sessionId('a') })
  now = 3_000
  await create(store, { id: sessionId('c') })
  now = 4_000
  await a.exchange('hi', 'hello')
  await store.deleteSession({ sessionId: b.id, operation: newOperation(), reason: 'test' })
  const evidence = { waitOf: async () => undefined, leftOf: () => null }
  const listed = await listSummaries(store, { limit: 9, ...query }, evidence)
  expect(listed.map(({ id }) => id).join(' ')).toBe(ids)
})
