import assert from 'node:assert/strict'
import { sessionId } from '../../../base/ids.ts'
import { StoreFixture, said } from '../bench.ts'
import type { StoreCase } from '../case.ts'
import { find } from './find.ts'

const ODD_TEXTS = [
  '"unbalanced',
  "it's",
  'a AND OR NOT',
  'NEAR(a b)',
  'col:word',
  'a* ^b -c',
  '(((',
  '%_\\',
  "'; drop table entry; --",
  '\u0000\u0001',
  '\ud800',
  '🧵',
  '   ',
  '',
  '日本語',
  'x'.repeat(50_000),
]

export const searches: readonly StoreCase[] = [
  {
    name: 'search finds messages of people and agents, and tool results',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('please water the orchid')
      await fixture.reply('I ask the gardener', { calls: ['sprinkler'] })
      await fixture.results('sprinkler')
      assert.deepEqual(await find(store, fixture, 'orchid'), [1])
      assert.deepEqual(await find(store, fixture, 'gardener'), [2])
      assert.deepEqual(await find(store, fixture, 'sprinkler'), [3])
    },
  },
  {
    name: 'search finds word forms, without regard to case and accents',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('The deployments were FAILING', 'ein Café in Zürich')
      assert.deepEqual(await find(store, fixture, 'deployment'), [1])
      assert.deepEqual(await find(store, fixture, 'fail'), [1])
      assert.deepEqual(await find(store, fixture, 'cafe zurich'), [2])
    },
  },
  {
    name: 'search finds parts of text in a script without spaces',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('データベースの設計', 'another')
      assert.deepEqual(await find(store, fixture, '設計'), [1])
    },
  },
  {
    name: 'search finds compacted entries, but no handoffs [I10]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('the password is swordfish', 'noted')
      await fixture.compact(1)
      assert.deepEqual(await find(store, fixture, 'swordfish'), [1])
      assert.deepEqual(await find(store, fixture, 'what happened'), [])
    },
  },
  {
    name: 'entries with more of the words come first, newer before older',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('red', 'red green', 'blue', 'red')
      assert.deepEqual(await find(store, fixture, 'red green'), [2, 4, 1])
    },
  },
  {
    name: 'hits come with their neighbours',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('a one', 'b two', 'needle', 'c three', 'd four')
      const query = { sessionId: fixture.id, text: 'needle', limit: 5, neighbours: 1 }
      const {
        hits: [hit],
      } = await store.search(query)
      assert.deepEqual(
        [hit?.before, [hit?.entry], hit?.after].map((list) => list?.map((entry) => entry?.number)),
        [[2], [3], [4]],
      )
      const {
        hits: [edge],
      } = await store.search({ ...query, text: 'one', neighbours: 3 })
      assert.deepEqual([edge?.before.length, edge?.after.length], [0, 3])
    },
  },
  {
    name: 'search stays inside its session [I21]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const other = await StoreFixture.open(store)
      await fixture.hear('canary')
      await other.hear('nothing here')
      assert.deepEqual(await find(store, other, 'canary'), [])
      const nobody = { sessionId: sessionId('nobody'), text: 'canary', limit: 5, neighbours: 0 }
      assert.deepEqual((await store.search(nobody)).hits, [])
    },
  },
  {
    name: 'search gives at most as many hits as asked for',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('same', 'same', 'same')
      assert.equal((await find(store, fixture, { text: 'same', limit: 2 })).length, 2)
    },
  },
  {
    name: 'an entry is found right after its commit, before any indexing',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      for (let index = 0; index < 40; index++) {
        await fixture.deliver(await fixture.admit(said(`marker${index}`), { tokens: 1 }))
        assert.deepEqual(await find(store, fixture, `marker${index}`), [index + 1])
      }
    },
  },
  {
    name: 'search accepts any text as a query',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('a quiet text')
      for (const text of ODD_TEXTS) await find(store, fixture, text)
      for (let round = 0; round < 200; round++) {
        const codes = Array.from({ length: 8 }, (_, index) => 32 + ((round * 37 + index * 61) % 95))
        await find(store, fixture, String.fromCharCode(...codes))
      }
    },
  },
]
