import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { entryNumber } from '#core/base/ids'
import { SILENT } from '#core/base/logger'
import type { Store } from '#core/store/contract'
import { StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { packVectors } from '#core/store/search/meaning/packed-vectors'
import { FakeClock } from '../../../../../test/model/fake-clock.ts'
import { type Embedder, openEmbedder } from '../../model/embeddings/embedder.ts'
import { embedText } from '../../stand-in/protocols/embeddings.ts'
import { type Running, standIn } from '../../stand-in/server.ts'
import { EmbeddingIndexer } from './indexer.ts'
import { questionEmbedder } from './question.ts'

const server = standIn()
const closing: (() => unknown)[] = []
let running: Running
let store: Store
let clock: FakeClock

beforeEach(async () => {
  running = await server.start()
  store = openMemoryStore()
  clock = new FakeClock()
})
afterEach(async () => {
  server.faults.clear()
  for (const close of closing.splice(0).reverse()) await close()
  await store.close()
  await running.close()
})

function start(
  model = 'm',
  watched: Pick<Store, 'watch'> = store,
): { indexer: EmbeddingIndexer; embedder: Embedder } {
  const route = { provider: 'openai-compatible', baseUrl: `${running.url}/v1`, model } as const
  const embedder = openEmbedder({ ...route, credential: { kind: 'none' } }, {})
  const indexer = new EmbeddingIndexer({
    store: {
      readUnembedded: (request) => store.readUnembedded(request),
      readEntries: (request) => store.readEntries(request),
      putVectors: (request) => store.putVectors(request),
      watch: (listener) => watched.watch(listener),
    },
    embedder,
    clock,
    logger: SILENT,
    random: () => 0.5,
  })
  indexer.start()
  closing.push(
    () => embedder.close(),
    () => indexer.close(),
  )
  return { indexer, embedder }
}

const left = async (model = 'm') => (await store.readUnembedded({ model, limit: 1 })).entries

/** Lets a little time pass until it is so: requests take real time, pauses do not. */
async function until(isSo: () => boolean | Promise<boolean>, stepMs = 100): Promise<void> {
  for (let tries = 0; tries < 3_000; tries++) {
    if (await isSo()) return
    await clock.pass(stepMs)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('it never came to be')
}

async function findBy(embedder: Embedder, fixture: StoreFixture, text: string) {
  const question = await questionEmbedder(embedder, clock)({ text })
  const query = { sessionId: fixture.id, text, limit: 9, neighbours: 0 }
  const { hits } = await store.search({ ...query, ...question })
  return hits.map(({ entry }) => entry.number)
}

const sent = () =>
  server.journal.entries.flatMap(({ body }) => (body as { input: readonly string[] }).input)

describe('the indexer of embeddings', () => {
  it('embeds old and new entries in small requests, and a question finds what means the same', async () => {
    const fixture = await StoreFixture.open(store)
    const days = Array.from({ length: 90 }, (_, day) => `${'rain '.repeat(50)}on day ${day}`)
    await fixture.hear(days.join('\n'), 'our puppy is ill')
    const before = server.journal.entries.length
    const { embedder } = start()
    await until(async () => (await left()) === 0)
    const sizes = server.journal.entries
      .slice(before)
      .map(({ body }) => (body as { input: readonly string[] }).input.length)
    expect(sizes.reduce((a, b) => a + b, 0)).toBe(91)
    expect(Math.max(...sizes)).toBeLessThanOrEqual(64)
    expect(await findBy(embedder, fixture, 'terrier')).toEqual([2])
    const [number] = await fixture.hear('a sedan')
    await until(async () => (await left()) === 0)
    expect(await findBy(embedder, fixture, 'automobile')).toEqual([number])
  })

  it('stores of each entry its own vectors, and how far it came', async () => {
    const fixture = await StoreFixture.open(store)
    const [first = 0] = await fixture.hear('a dog', 'a car')
    const { putVectors } = store
    const put: Parameters<typeof putVectors>[0][] = []
    store = {
      ...store,
      putVectors: async (request) => {
        put.push(request)
        return await putVectors(request)
      },
    }
    start()
    await until(async () => (await left()) === 0)
    const dimension = embedText('a dog').length
    const bytes = (text: string) => packVectors([Float32Array.from(embedText(text))], dimension)
    expect(put).toEqual([
      {
        ...{ sessionId: fixture.id, model: 'm', dimension, after: 0, upto: first + 1 },
        vectors: [
          { number: first, bytes: bytes('a dog') },
          { number: first + 1, bytes: bytes('a car') },
        ],
      },
    ])
  })

  it('goes on until nothing is left without waiting for another change', async () => {
    const fixture = await StoreFixture.open(store)
    for (let day = 0; day < 40; day++) await fixture.exchange(`a puppy on day ${day}`, 'noted')
    const before = sent().length
    start('m', { watch: () => () => {} })
    await until(async () => (await left()) === 0)
    expect(sent().slice(before).length).toBe(80)
  })

  it('continues where another process has stopped', async () => {
    const fixture = await StoreFixture.open(store)
    await fixture.hear('one', 'two')
    const { indexer } = start()
    await until(async () => (await left()) === 0)
    await indexer.close()
    await fixture.hear('three')
    const before = sent().length
    start()
    await until(async () => (await left()) === 0)
    expect(sent().slice(before)).toEqual(['three'])
  })

  it('reports a failing host, retries it less and less often, and continues when it recovers', async () => {
    const fixture = await StoreFixture.open(store)
    const repair = server.faults.always('status; code=503')
    const { indexer } = start()
    await fixture.hear('a dog', 'a car')
    const host = new URL(running.url).host
    await until(() => indexer.problems.length > 0)
    expect(indexer.problems).toEqual([
      `Embeddings: ${host} answered 503; 2 entries wait, and search finds words alone`,
    ])
    const begun = clock.now()
    const before = server.journal.entries.length
    await until(() => server.journal.entries.length >= before + 4, 1_000)
    // 2 + 4 + 8 s at least, after the first second.
    expect(clock.now() - begun).toBeGreaterThanOrEqual(14_000)
    repair()
    await until(async () => (await left()) === 0, 10_000)
    await until(() => indexer.problems.length === 0)
  })

  it('leaves out an entry that the host refuses, but not if it refuses every text', async () => {
    const fixture = await StoreFixture.open(store)
    const isBad = { when: ({ bodyText }: { bodyText: string }) => bodyText.includes('poison') }
    server.faults.always('status; code=400', isBad)
    await fixture.hear('a puppy', 'a poison', 'a sedan')
    const { embedder, indexer } = start()
    await until(async () => (await left()) === 0)
    expect(await findBy(embedder, fixture, 'automobile')).toEqual([3])
    expect(await findBy(embedder, fixture, 'terrier')).toEqual([1])
    server.faults.always('status; code=400')
    await fixture.hear('a house')
    await until(() => indexer.problems.length > 0)
    expect(await left()).toBe(1)
  })

  it('sends nothing of an erased entry, and embeds everything again for another model', async () => {
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('a puppy of mine', 'a dog')
    await fixture.erase([entryNumber(1)])
    const before = sent().length
    const { indexer } = start()
    await until(async () => (await left()) === 0)
    expect(sent().slice(before)).toEqual(['a dog'])
    await indexer.close()
    const { embedder } = start('other')
    await until(async () => (await left('other')) === 0)
    expect(await findBy(embedder, fixture, 'hound')).toEqual([2])
  })
})
