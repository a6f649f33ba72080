import { LLMock } from '@copilotkit/aimock'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { callModel } from '../../../packages/server/src/model/calls/call.ts'
import { asking, hear, openBench, textOfReply, within } from '../bench.ts'

/** The same promises against a server that strangers wrote, Google's protocol included. */
let bench: Awaited<ReturnType<typeof openBench>>
let mock: LLMock
beforeAll(async () => {
  bench = await openBench()
})
afterAll(() => bench.close())
beforeEach(async () => {
  mock = new LLMock({ port: 0, logLevel: 'silent' })
  await mock.start()
})
afterEach(async () => {
  await bench.settle()
  await mock.stop()
})

const WIRES = [
  ['openai-chat', '/v1', 'gpt-4o'],
  ['openai-responses', '/v1', 'gpt-5.5'],
  ['anthropic', '/v1', 'claude-sonnet-4-6'],
  ['google', '/v1beta', 'gemini-2.5-pro'],
  ['openai-compatible', '/v1', 'llama-3.1-8b'],
] as const

describe.each(WIRES)('%s', (provider, path, model) => {
  const open = () => bench.modelOf(provider, { baseUrl: `${mock.url}${path}`, model })
  const ask = asking('hello', {
    tools: [
      { name: 'read', inputSchema: { type: 'object', properties: { path: { type: 'string' } } } },
    ],
  })
  const text = 'A stranger answers with quite a number of words, so that there are several chunks.'

  it('reads an answer, its end and its usage', async () => {
    mock.onMessage('hello', {
      content: text,
      usage: { prompt_tokens: 12, completion_tokens: 7, input_tokens: 12, output_tokens: 7 },
    })
    const heard = await hear(open().stream(ask, within()))
    expect(heard.end.outcome).toEqual({ kind: 'finished', finish: 'stop' })
    expect(heard.text).toBe(text)
    expect(textOfReply(heard.end)).toBe(text)
    expect(heard.end.usage).toBeDefined()
  })

  it('reads a call, and hands its result in', async () => {
    mock.onMessage('hello', { toolCalls: [{ name: 'read', arguments: '{"path":"a.txt"}' }] })
    const { end, pieces } = await hear(open().stream(ask, within()))
    expect(end.outcome).toEqual({ kind: 'finished', finish: 'tool-calls' })
    const call = pieces.find((piece) => piece.kind === 'call')
    if (call?.kind !== 'call' || end.reply === null) throw new Error('no call came')
    expect(call).toMatchObject({ name: 'read', input: '{"path":"a.txt"}' })
    mock.clearFixtures()
    mock.on({ hasToolResult: true }, { content: 'Thanks.' })
    const output = [{ type: 'text', text: 'ok' }] as const
    const result = { type: 'tool-result', callId: call.id, name: 'read', output } as const
    const messages = [...ask.messages, end.reply, { role: 'tool', parts: [result] } as const]
    const next = await hear(open().stream({ ...ask, messages }, within()))
    expect(next.end.outcome).toEqual({ kind: 'finished', finish: 'stop' })
    expect(next.text).toBe('Thanks.')
  })

  it('recognizes an overflow, a limit and a failure', async () => {
    const failing = async (
      status: number,
      error: { message: string; type?: string; code?: string },
    ) => {
      mock.clearFixtures()
      mock.onMessage('hello', { error, status, retryAfter: 7 })
      return (await hear(open().stream(ask, within()))).end.outcome
    }
    const overflow = {
      message: 'prompt is too long: 9000 tokens > 8000 maximum',
      code: 'context_length_exceeded',
    }
    expect(await failing(400, overflow)).toMatchObject({ kind: 'overflow' })
    expect(await failing(429, { message: 'Slow down.' })).toMatchObject({
      kind: 'refused',
      refusal: 'rate-limit',
      retryAfterMs: 7_000,
    })
    expect(await failing(503, { message: 'Busy.' })).toMatchObject({ refusal: 'overloaded' })
    expect(await failing(401, { message: 'No.' })).toMatchObject({ refusal: 'bad-key' })
  })

  it('keeps what came before a cut', async () => {
    mock.onMessage(
      'hello',
      { content: text },
      { truncateAfterChunks: 4, latency: 20, chunkSize: 8 },
    )
    const { end, text: said } = await hear(open().stream(ask, within()))
    expect(['connection', 'malformed']).toContain(end.outcome.kind)
    expect(text.startsWith(said)).toBe(true)
    expect(textOfReply(end)).toBe(said)
  })

  it('sees through silence and drops, and is answered on the next try', async () => {
    mock.onMessage('hello', { content: text })
    mock.setChaos({ latencyMs: 2_000 })
    const slow = await hear(open().stream(ask, within({ firstByteMs: 200 })))
    expect(slow.end.outcome).toEqual({ kind: 'deadline', deadline: 'first-byte' })
    mock.setChaos({ disconnectRate: 1 })
    const cut = await hear(open().stream(ask, within()))
    expect(['connection', 'malformed']).toContain(cut.end.outcome.kind)
    mock.setChaos({ dropRate: 1 })
    const options = { ...within(), clock: bench.clock, random: Math.random }
    let tries = 0
    for await (const piece of callModel([open()], ask, options)) {
      if (piece.kind === 'retry') {
        tries++
        mock.clearChaos()
      } else if (piece.kind === 'end') expect(piece.outcome.kind).toBe('finished')
    }
    expect(tries).toBe(1)
  })
})
