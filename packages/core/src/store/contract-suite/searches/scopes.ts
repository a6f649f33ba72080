import assert from 'node:assert/strict'
import { entryNumber } from '../../../base/ids.ts'
import type { Store } from '../../contract.ts'
import { openMemoryStore } from '../../memory/open.ts'
import type { Search, SearchedScope } from '../../queries.ts'
import { expectKind, StoreFixture } from '../bench.ts'
import type { StoreCase } from '../case.ts'
import { forkAt, linesOf, purgeWhole } from '../forks/forks.ts'

const PEOPLE = ['ann', 'ben', 'cleo']
const AGENTS = ['ada', 'bob']
const WORDS = ['orchid', 'river', 'deploy', 'invoice', 'Lisbon', 'hotel', 'error', 'blue', 'green']

/** What is found, as places that are the same in another store: session by its turn, and entry. */
async function found(
  store: Store,
  fixtures: readonly StoreFixture[],
  query: Partial<Search> & Pick<Search, 'sessionId' | 'text'>,
): Promise<{ readonly places: readonly (readonly number[])[]; readonly total: number }> {
  const { hits, total } = await store.search({ limit: 50, neighbours: 0, ...query })
  const ids = fixtures.map(({ id }) => id)
  return {
    places: hits.map(({ sessionId, entry }) => [ids.indexOf(sessionId), entry.number]),
    total,
  }
}

/** Random numbers that are the same on every run. */
function dice(start: number): (sides: number) => number {
  let seed = start
  return (sides) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * sides)
  }
}

/** Conversations of three people with two agents, a few words each. */
async function talk(store: Store): Promise<readonly StoreFixture[]> {
  const roll = dice(5)
  const sentence = () =>
    Array.from({ length: 2 + roll(6) }, () => WORDS[roll(WORDS.length)]).join(' ')
  const fixtures: StoreFixture[] = []
  for (let each = 0; each < 12; each++) {
    const [agent, scope] = [AGENTS[each % 2] as string, PEOPLE[each % 3] as string]
    const fixture = await StoreFixture.open(store, { agent, scope })
    for (let turn = 0; turn <= roll(3); turn++) await fixture.exchange(sentence(), sentence())
    fixtures.push(fixture)
  }
  return fixtures
}

const SCOPES: readonly SearchedScope[] = [
  {},
  { agent: 'ada' },
  { scope: 'ann' },
  { agent: 'bob', scope: 'ben' },
  { agent: 'nobody' },
]
const QUESTIONS = ['orchid', 'river deploy', 'invoice from the hotel in Lisbon', 'blue green error']

/** Each search of a scope must find what a search of its open sessions finds, in this order. */
async function checkScopes(store: Store, fixtures: readonly StoreFixture[]): Promise<unknown[]> {
  const all: unknown[] = []
  for (const sessionId of SCOPES) {
    const rows = await Promise.all(fixtures.map((fixture) => fixture.row()))
    const own = rows.filter(
      ({ state, agent, scope }) =>
        state === 'open' &&
        (sessionId.agent ?? agent) === agent &&
        (sessionId.scope ?? scope) === scope,
    )
    for (const text of QUESTIONS) {
      const answer = await found(store, fixtures, { sessionId, text })
      const wanted = await found(store, fixtures, { sessionId: own.map(({ id }) => id), text })
      assert.deepEqual(answer, wanted, `${JSON.stringify(sessionId)} ${text}`)
      all.push(answer)
    }
  }
  return all
}

/** Searches of all sessions of a store, of an agent, of a person. */
export const scopes: readonly StoreCase[] = [
  {
    name: 'a search of a store, an agent or a person finds entries of their sessions only [I21]',
    run: async ({ store }) => {
      const fixtures: StoreFixture[] = []
      for (const [agent, scope] of [
        ['ada', 'ann'],
        ['ada', 'ben'],
        ['bob', 'ann'],
      ] as const) {
        const fixture = await StoreFixture.open(store, { agent, scope })
        await fixture.hear('a canary', 'nothing here')
        fixtures.push(fixture)
      }
      const sessions = async (sessionId: SearchedScope) => {
        const { places } = await found(store, fixtures, { sessionId, text: 'canaries' })
        return places.map(([session]) => session).sort()
      }
      assert.deepEqual(await sessions({}), [0, 1, 2])
      assert.deepEqual(await sessions({ agent: 'ada' }), [0, 1])
      assert.deepEqual(await sessions({ scope: 'ann' }), [0, 2])
      assert.deepEqual(await sessions({ agent: 'ada', scope: 'ann' }), [0])
      assert.deepEqual(await sessions({ scope: 'nobody' }), [])
    },
  },
  {
    name: 'a search of a scope ranks like a search of its listed sessions, and like the memory store',
    run: async ({ store }) => {
      const reference = openMemoryStore()
      const [here, there] = [await talk(store), await talk(reference)]
      assert.deepEqual(await checkScopes(store, here), await checkScopes(reference, there))
      for (const fixtures of [here, there]) {
        await fixtures[4]?.exchange('an orchid for the hotel', 'deploy it')
        await fixtures[1]?.exchange('no error', 'a green river')
      }
      assert.deepEqual(await checkScopes(store, here), await checkScopes(reference, there))
    },
  },
  {
    name: 'a search of a scope counts no words that were erased, deleted or imported elsewhere [I19]',
    run: async ({ store, fresh }) => {
      const reference = openMemoryStore()
      const stories = []
      for (const [each, other] of [
        [store, await fresh()],
        [reference, openMemoryStore()],
      ] as const) {
        const fixtures = await talk(each)
        expectKind(await (fixtures[0] as StoreFixture).erase([entryNumber(1)]), 'erased')
        expectKind(await (fixtures[5] as StoreFixture).erase([entryNumber(2)]), 'erased')
        await purgeWhole(each, (fixtures[7] as StoreFixture).id, 'keep')
        const before = await checkScopes(each, fixtures)
        const guest = await StoreFixture.open(other, { agent: 'ada', scope: 'ann' })
        await guest.exchange('an orchid from elsewhere', 'by the river in Lisbon')
        expectKind(
          await each.importSession(await linesOf(other.exportSession(guest.id))),
          'imported',
        )
        const own = [...fixtures, guest]
        const after = []
        for (const text of QUESTIONS) {
          after.push(await found(each, own, { sessionId: { agent: 'ada' }, text }))
          // An import does not bring a file into another person's scope.
          const { places } = await found(each, own, { sessionId: { scope: 'ann' }, text })
          assert.ok(places.every(([session]) => session !== fixtures.length))
        }
        assert.ok(after.some(({ places }) => places.some(([at]) => at === fixtures.length)))
        stories.push([before, after])
      }
      assert.deepEqual(stories[0], stories[1])
    },
  },
  {
    name: 'no search finds an erased word, not even as a misspelling of another [I19]',
    run: async ({ store }) => {
      const [one, other] = [await StoreFixture.open(store), await StoreFixture.open(store)]
      await one.exchange('the zanzibarquartz is hidden', 'noted')
      await other.exchange('nothing is hidden', 'noted')
      const all = [one, other]
      const search = (text: string) => found(store, all, { sessionId: {}, text })
      assert.equal((await search('zanzibarquarts')).total, 1)
      expectKind(await one.erase([entryNumber(1)]), 'erased')
      assert.equal((await search('zanzibarquartz')).total, 0)
      assert.equal((await search('zanzibarquarts')).total, 0)
      assert.deepEqual(await search('hidden'), { places: [[1, 1]], total: 1 })
    },
  },
  {
    name: "a person's search finds the prefix of their fork, even of a deleted origin, and no more [I36]",
    run: async ({ store }) => {
      const origin = await StoreFixture.open(store, { scope: 'ann' })
      await origin.exchange('an orchid before', 'noted')
      const { tail } = await origin.row()
      const fork = await forkAt(store, origin.id, tail)
      await origin.exchange('an orchid behind', 'noted')
      await fork.exchange('an orchid in the fork', 'noted')
      const { scope } = await fork.row()
      const ask = async (sessionId: SearchedScope) => {
        const { places } = await found(store, [origin, fork], { sessionId, text: 'orchid' })
        return places.map(([session, number]) => `${session} ${number}`).sort()
      }
      const ofFork = ['1 1', `1 ${tail + 2}`]
      assert.deepEqual(await ask({ scope }), ofFork)
      assert.deepEqual(await ask({ scope: 'ann' }), ['0 1', `0 ${tail + 1}`])
      assert.deepEqual(await ask({}), ['0 1', `0 ${tail + 1}`, `1 ${tail + 2}`])
      await purgeWhole(store, origin.id, 'keep')
      assert.deepEqual(await ask({ scope: 'ann' }), [])
      assert.deepEqual(await ask({}), ofFork)
      assert.deepEqual(await ask({ scope }), ofFork)
    },
  },
  {
    name: 'filters, pages and the limit of the current session apply to a search of a scope',
    run: async ({ store }) => {
      const fixtures: StoreFixture[] = []
      for (let each = 0; each < 3; each++) {
        const fixture = await StoreFixture.open(store, { scope: 'ann' })
        await fixture.exchange(`the orchid number ${each}`, 'an orchid, yes')
        fixtures.push(fixture)
      }
      const [here] = fixtures as [StoreFixture]
      const ask = async (more: Partial<Search> = {}) =>
        (await found(store, fixtures, { sessionId: { scope: 'ann' }, text: 'orchid', ...more }))
          .places
      const all = await ask()
      assert.equal(all.length, 6)
      assert.deepEqual([...(await ask({ limit: 2 })), ...(await ask({ limit: 4, skip: 2 }))], all)
      assert.deepEqual(
        (await ask({ speaker: 'person' })).map(([, number]) => number),
        [1, 1, 1],
      )
      assert.deepEqual(await ask({ text: '"number 1"' }), [[1, 1]])
      assert.deepEqual(await ask({ until: 1 }), [])
      const limited = await ask({
        ...{ sessionId: { scope: 'ann', here: here.id }, before: entryNumber(2) },
      })
      assert.deepEqual(
        limited.filter(([session]) => session === 0),
        [[0, 1]],
      )
      assert.equal(limited.length, 5)
    },
  },
]
