import assert from 'node:assert/strict'
import { type EntryNumber, entryNumber } from '../../../base/ids.ts'
import type { Store } from '../../contract.ts'
import { ownAfter } from '../../lineage.ts'
import { packVectors } from '../../search/meaning/packed-vectors.ts'
import { cutPassages } from '../../search/passages.ts'
import { isSearched, searchedText } from '../../search/words.ts'
import type { Entry } from '../../tables/rows.ts'
import type { Meaning, PutVectors, PutVectorsOutcome } from '../../vector-rows.ts'
import { expectKind, StoreFixture } from '../bench.ts'
import type { StoreCase } from '../case.ts'
import { forkAt, purgeWhole } from '../forks/forks.ts'
import { find, searchFor } from './find.ts'

const DIMENSION = 64
const MODEL = 'concepts'

/** Words of one line mean the same; all others mean nothing. */
const CONCEPTS = ['dog puppy terrier', 'car sedan roadster', 'bread loaf baguette']

/** Two concepts have nothing in common: each has its own row of a Hadamard matrix. */
function axis(concept: number, dimension = DIMENSION): Float32Array {
  const row = concept + 1
  const sign = (at: number) => [...(row & at).toString(2)].filter((bit) => bit === '1').length % 2
  return Float32Array.from({ length: dimension }, (_, at) => (sign(at) === 0 ? 1 : -1))
}

function vectorOf(text: string, dimension = DIMENSION): Float32Array {
  const concepts = CONCEPTS.flatMap((words, concept) =>
    words.split(' ').some((word) => text.includes(word)) ? [concept] : [],
  )
  const sum = axis(20, dimension)
  if (concepts.length > 0) sum.fill(0)
  for (const concept of concepts) {
    for (const [at, value] of axis(concept, dimension).entries()) sum[at] = (sum[at] ?? 0) + value
  }
  return sum
}

const meaning = (text: string, model = MODEL): Meaning => ({ model, vector: vectorOf(text) })

function vectorsOf(entries: readonly Entry[], dimension = DIMENSION): PutVectors['vectors'] {
  return entries.flatMap((entry) => {
    const passages = isSearched(entry) ? cutPassages(searchedText(entry)) : []
    const vectors = passages.map((passage) => vectorOf(passage, dimension))
    return vectors.length === 0
      ? []
      : [{ number: entry.number, bytes: packVectors(vectors, dimension) }]
  })
}

/** Embeds the entries that a session has of its own, after those that are embedded. */
async function embed(
  store: Store,
  { id: sessionId }: StoreFixture,
  { model = MODEL, dimension = DIMENSION, ...fields }: Partial<PutVectors> = {},
): Promise<PutVectorsOutcome> {
  const { sessions } = await store.readUnembedded({ model, limit: 100 })
  const behind = sessions.find((each) => each.sessionId === sessionId)
  assert.ok(behind, 'something is not embedded yet')
  const { after, upto } = behind
  const from = entryNumber(after + 1)
  const vectors = vectorsOf(await store.readEntries({ sessionId, from, to: upto }), dimension)
  return await store.putVectors({ sessionId, model, dimension, after, upto, vectors, ...fields })
}

async function unembedded(store: Store, model = MODEL): Promise<number> {
  return (await store.readUnembedded({ model, limit: 100 })).entries
}

async function pets(store: Store): Promise<StoreFixture> {
  const fixture = await StoreFixture.open(store)
  await fixture.hear('my terrier is ill', 'the sedan was sold', 'a puppy and a loaf', 'rain today')
  await fixture.reply('I bake a baguette', { ends: 'answered' })
  expectKind(await embed(store, fixture), 'done')
  return fixture
}

export const meanings: readonly StoreCase[] = [
  {
    name: 'a search by meaning finds entries that share no word with the question',
    run: async ({ store }) => {
      const fixture = await pets(store)
      const asked = { text: 'dog', meaning: meaning('dog') }
      assert.deepEqual(await find(store, fixture, 'dog'), [])
      assert.deepEqual(await find(store, fixture, asked), [1, 3])
      const answer = await searchFor(store, fixture, asked)
      assert.deepEqual([answer.total, answer.unembedded], [2, 0])
      assert.equal(answer.hits[0]?.excerpt, 'my terrier is ill')
    },
  },
  {
    name: 'hits by both words and meaning come first, then either in turn; pages continue',
    run: async ({ store }) => {
      const fixture = await pets(store)
      const asked = { text: 'bread sedan rain puppy', meaning: meaning('bread') }
      const words = await find(store, fixture, asked.text)
      assert.deepEqual(words, [4, 3, 2])
      assert.deepEqual(await find(store, fixture, asked), [3, 4, 5, 2])
      const paged = []
      for (const skip of [0, 1, 2, 3]) {
        paged.push(...(await find(store, fixture, { ...asked, limit: 1, skip })))
      }
      assert.deepEqual(paged, [3, 4, 5, 2])
    },
  },
  {
    name: 'a hit by meaning shows the nearest passage',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear(`${'nothing of interest. '.repeat(20)}\na roadster\n${'etc. '.repeat(60)}`)
      expectKind(await embed(store, fixture), 'done')
      const { hits } = await searchFor(store, fixture, { text: 'car', meaning: meaning('car') })
      assert.match(hits[0]?.excerpt ?? '', /roadster/)
    },
  },
  {
    name: 'filters apply to hits by meaning',
    run: async ({ store }) => {
      const fixture = await pets(store)
      const asked = { text: 'bread', meaning: meaning('bread') }
      assert.deepEqual(await find(store, fixture, asked), [5, 3])
      assert.deepEqual(await find(store, fixture, { ...asked, speaker: 'person' }), [3])
      assert.deepEqual(await find(store, fixture, { ...asked, before: entryNumber(5) }), [3])
      assert.deepEqual(await find(store, fixture, { ...asked, path: 'puppy' }), [3])
      assert.deepEqual(await find(store, fixture, { ...asked, tool: 'bake' }), [])
      const [last] = await store.readEntries({
        ...{ sessionId: fixture.id, from: entryNumber(5), to: entryNumber(5) },
      })
      const at = last?.at ?? 0
      assert.deepEqual(await find(store, fixture, { ...asked, since: at + 1 }), [])
      assert.deepEqual(await find(store, fixture, { ...asked, until: at - 60_000 }), [])
      assert.deepEqual(await find(store, fixture, { ...asked, exact: true }), [])
      assert.deepEqual(await find(store, fixture, { ...asked, text: '"bread"' }), [])
    },
  },
  {
    name: 'a search by meaning stays inside its sessions [I21]',
    run: async ({ store }) => {
      const fixture = await pets(store)
      const other = await pets(store)
      const asked = { text: 'dog', meaning: meaning('dog') }
      const { hits } = await searchFor(store, other, asked)
      assert.deepEqual([...new Set(hits.map(({ sessionId }) => sessionId))], [other.id])
      const both = await searchFor(store, fixture, { ...asked, sessionId: [fixture.id, other.id] })
      assert.equal(both.hits.length, 4)
      const { scope } = await fixture.row()
      const own = await searchFor(store, fixture, { ...asked, sessionId: { scope } })
      assert.deepEqual([...new Set(own.hits.map(({ sessionId }) => sessionId))], [fixture.id])
    },
  },
  {
    name: 'embedding continues after the last vector, in every process, and new entries count as missing',
    run: async ({ store, sibling }) => {
      const fixture = await pets(store)
      const other = await sibling()
      assert.equal(await unembedded(other), 0)
      const { tail } = await fixture.row()
      await fixture.exchange('a loaf, please', 'here it is')
      assert.equal(await unembedded(other), 3)
      const asked = { text: 'bread', meaning: meaning('bread') }
      assert.equal((await searchFor(other, fixture, asked)).unembedded, 3)
      const late = { after: entryNumber(tail - 1), vectors: [] }
      expectKind(await embed(other, fixture, late), 'stale')
      expectKind(await embed(store, fixture, { upto: entryNumber(tail + 100) }), 'stale')
      expectKind(await embed(store, fixture, { upto: tail, vectors: [] }), 'stale')
      expectKind(await embed(other, fixture), 'done')
      assert.equal(await unembedded(store), 0)
      assert.ok((await find(store, fixture, asked)).includes(tail + 1))
    },
  },
  {
    name: 'vectors of other entries or of another length are refused',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('a dog')
      const put = (number: EntryNumber, length: number) =>
        embed(store, fixture, { vectors: [{ number, bytes: new Uint8Array(length) }] })
      await assert.rejects(put(entryNumber(2), 64), /entries 1 to 1/)
      await assert.rejects(put(entryNumber(1), 63), /64 dimensions/)
      assert.equal(await unembedded(store), 1)
    },
  },
  {
    name: 'another model or dimension starts over and removes the earlier vectors',
    run: async ({ store }) => {
      const fixture = await pets(store)
      const { tail } = await fixture.row()
      assert.equal(await unembedded(store, 'other'), tail)
      expectKind(await embed(store, fixture, { model: 'other' }), 'done')
      const asked = { text: 'dog', meaning: meaning('dog') }
      assert.deepEqual(await find(store, fixture, asked), [])
      const other = { text: 'dog', meaning: meaning('dog', 'other') }
      assert.deepEqual(await find(store, fixture, other), [1, 3])
      await fixture.exchange('a puppy', 'yes')
      expectKind(await embed(store, fixture, { model: 'other', dimension: 128 }), 'stale')
      assert.equal(await unembedded(store, 'other'), tail + 3)
      expectKind(await embed(store, fixture, { model: 'other', dimension: 128 }), 'done')
      assert.deepEqual(await find(store, fixture, other), [])
    },
  },
  {
    name: 'an erased entry is not found by meaning, even if it was erased while it was embedded [I19]',
    run: async ({ store }) => {
      const fixture = await pets(store)
      const asked = { text: 'dog', meaning: meaning('dog') }
      expectKind(await fixture.erase([entryNumber(1)]), 'erased')
      assert.deepEqual(await find(store, fixture, asked), [3])
      const [mine = entryNumber(0)] = await fixture.hear('another puppy')
      const { id: sessionId } = fixture
      const read = await store.readEntries({ sessionId, from: mine, to: mine })
      await fixture.reply('noted', { ends: 'answered' })
      expectKind(await fixture.erase([mine]), 'erased')
      expectKind(await embed(store, fixture, { vectors: vectorsOf(read) }), 'done')
      assert.deepEqual(await find(store, fixture, asked), [3])
      assert.deepEqual(await store.verify({ sessionId }), [])
    },
  },
  {
    name: 'a fork finds its prefix by meaning, also after its origin was deleted [I36]',
    run: async ({ store }) => {
      const origin = await pets(store)
      const fork = await forkAt(store, origin.id, 2)
      await fork.exchange('a dog in the fork', 'noted')
      assert.equal(await unembedded(store), (await fork.row()).tail - ownAfter(await fork.row()))
      const asked = { text: 'terrier', meaning: meaning('dog') }
      assert.deepEqual(await find(store, fork, asked), [1])
      expectKind(await embed(store, fork), 'done')
      const own = (await find(store, fork, asked)).at(-1)
      assert.deepEqual(await find(store, fork, asked), [1, own])
      assert.deepEqual(await find(store, origin, asked), [1, 3])
      await purgeWhole(store, origin.id, 'keep')
      assert.deepEqual(await find(store, origin, { ...asked, text: 'dog' }), [1])
      assert.deepEqual(await find(store, fork, { ...asked, text: 'dog' }), [own, 1])
    },
  },
  {
    name: 'an export has no vectors, and an import is embedded again',
    run: async ({ store, fresh }) => {
      const fixture = await pets(store)
      const lines: string[] = []
      for await (const line of store.exportSession(fixture.id)) lines.push(line)
      assert.doesNotMatch(lines.join('\n'), /vectors|concepts/)
      const target = await fresh()
      expectKind(await target.importSession(lines), 'imported')
      assert.equal(await unembedded(target), (await fixture.row()).tail)
      const asked = { text: 'dog', meaning: meaning('dog') }
      assert.deepEqual(await find(target, fixture, asked), [])
      expectKind(await embed(target, fixture), 'done')
      assert.deepEqual(await find(target, fixture, asked), [1, 3])
    },
  },
]
