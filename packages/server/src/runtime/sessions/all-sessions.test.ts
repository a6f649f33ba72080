import { expect, it } from 'vitest'
import { StoreFixture } from '#core/store/contract-suite/bench'
import { byHand, sqlitePlace } from '../../../../../test/support/sqlite-place.ts'
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
