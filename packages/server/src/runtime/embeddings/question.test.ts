import { afterEach, beforeEach, expect, it } from 'vitest'
import { FakeClock } from '../../../../../test/model/fake-clock.ts'
import { type Embedder, openEmbedder } from '../../model/embeddings/embedder.ts'
import { embedText } from '../../stand-in/protocols/embeddings.ts'
import { type Running, standIn } from '../../stand-in/server.ts'
import { QUESTION_MS, questionEmbedder } from './question.ts'

const server = standIn()
const clock = new FakeClock()
let running: Running
let embedder: Embedder

beforeEach(async () => {
  running = await server.start()
  const route = { provider: 'ollama', baseUrl: running.url, model: 'm' } as const
  embedder = openEmbedder({ ...route, credential: { kind: 'none' } }, {})
})
afterEach(async () => {
  server.faults.clear()
  await embedder.close()
  await running.close()
})

const host = () => new URL(running.url).host

it('gives the vector of a question, under the name of its model', async () => {
  const { meaning, note } = await questionEmbedder(embedder, clock)({ text: 'a dog' })
  expect(note).toBeUndefined()
  expect(meaning?.model).toBe('m')
  expect([...(meaning?.vector ?? [])]).toEqual(embedText('a dog'))
})

it('gives up after 300 ms, with a note that names the host', async () => {
  server.faults.next('half-open')
  let isOver = false
  const asked = questionEmbedder(embedder, clock)({ text: 'a dog' })
  void asked.then(() => {
    isOver = true
  })
  await clock.pass(QUESTION_MS - 1)
  expect([QUESTION_MS, isOver]).toEqual([300, false])
  await clock.pass(1)
  expect(await asked).toEqual({
    note: `Searched by words alone: ${host()} did not answer within 0.3 s.`,
  })
  expect(clock.timers).toBe(0)
})

it('gives up as well where the embedder does not heed the signal, and leaves nothing behind', async () => {
  let heard: AbortSignal | undefined
  const deaf = {
    model: 'm',
    host: 'h',
    embed: (_: unknown, signal: AbortSignal) => {
      heard = signal
      return new Promise<never>(() => {})
    },
  }
  const asked = questionEmbedder(deaf as never, clock)({ text: `${'x'.repeat(2_000)}y` })
  await clock.pass(QUESTION_MS)
  expect(await asked).toEqual({
    note: 'Searched by words alone: h did not answer within 0.3 s.',
  })
  expect(heard?.reason).toMatchObject({
    ...{ name: 'LateError', code: 'embedding-late', retryable: true },
  })
})

it('sends 2,000 characters of a question, and hides what is wrong with the host', async () => {
  const texts: unknown[] = []
  const embedder = {
    model: 'm',
    host: 'h',
    embed: async (given: unknown) => {
      texts.push(given)
      throw new Error('secret')
    },
  }
  const question = { text: `${'x'.repeat(2_000)}y` }
  expect(await questionEmbedder(embedder as never, clock)(question)).toEqual({
    note: 'Searched by words alone: h cannot be asked.',
  })
  expect(texts).toEqual([['x'.repeat(2_000)]])
  const none = { ...embedder, embed: async () => [] }
  expect(await questionEmbedder(none as never, clock)(question)).toEqual({})
  expect(clock.timers).toBe(0)
})

it('reports an unexpected answer of a host', async () => {
  server.faults.next('status; code=503')
  expect(await questionEmbedder(embedder, clock)({ text: 'a dog' })).toEqual({
    note: `Searched by words alone: ${host()} answered 503.`,
  })
})

it('sends nothing for a text that must occur exactly, or without an embedder', async () => {
  const before = server.journal.entries.length
  const embed = questionEmbedder(embedder, clock)
  expect(await embed({ text: 'a.dog()', exact: true })).toEqual({})
  expect(await embed({ text: 'the "big dog" here' })).toEqual({})
  expect(await embed({ text: '  ' })).toEqual({})
  expect(await questionEmbedder(undefined, clock)({ text: 'a dog' })).toEqual({})
  expect(server.journal.entries.length).toBe(before)
})
