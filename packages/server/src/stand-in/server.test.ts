import { Agent } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '#core/base/json'
import { render } from '#core/message/dialects/render'
import type { Message } from '#core/message/message'
import { handoffOf, user } from '../../../../test/support/builders.ts'
import { leastOf } from '../../../../test/support/timing.ts'
import {
  at,
  documentIn,
  eventsIn,
  finishIn,
  PROTOCOLS,
  type Sending,
  send,
  startStandIn,
  textIn,
} from '../../../../test/wire/raw-client.ts'
import type { ProtocolName } from './protocols/protocol.ts'
import { type StandInOptions, standIn } from './server.ts'

const closers: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

async function start(options: StandInOptions = {}) {
  const running = await startStandIn(options)
  closers.push(running.close)
  return running
}

function wire(protocol: ProtocolName, messages: readonly Message[]): JsonObject {
  return render(messages, protocol)
}

describe.each(PROTOCOLS)('the stand-in over %s', (protocol) => {
  it('answers from a handoff envelope in the request', async () => {
    const { url } = await start()
    const handoff = handoffOf({ summary: 'The code word is PELICAN.' })
    const body = wire(protocol, [{ role: 'handoff', handoff }, user('What was the code word?')])
    const seen = await send(url, { protocol, stream: true, body })
    expect(textIn(protocol, seen)).toContain("the handoff's summary")
    expect(textIn(protocol, seen)).toContain('PELICAN')
  })

  it('answers the same request with the same body, streamed and whole', async () => {
    const { url } = await start()
    for (const stream of [true, false]) {
      const first = await send(url, { protocol, stream, text: 'use nothing {}' })
      const second = await send(url, { protocol, stream, text: 'use nothing {}' })
      expect(second.bytes.toString()).toBe(first.bytes.toString())
    }
  })

  it('says the same streamed and whole', async () => {
    const { url } = await start()
    const text = 'say abc🦩, Grüße and ☕ to all of you.'
    const streamed = await send(url, { protocol, stream: true, text })
    const whole = documentIn(await send(url, { protocol, text }))
    const said =
      at(whole, 'choices', 0, 'message', 'content') ??
      at(whole, 'output', 0, 'content', 0, 'text') ??
      at(whole, 'content', 0, 'text')
    expect(said).toBe('abc🦩, Grüße and ☕ to all of you.')
    expect(eventsIn(streamed).some((event) => JSON.stringify(event).includes('\\ud83e'))).toBe(
      false,
    )
    expect(textIn(protocol, streamed)).toBe(said)
  })

  it('refuses a request larger than its window, in the provider’s words', async () => {
    const windowTokens = (model: string) => (model === 'small' ? 2_000 : undefined)
    const { url } = await start({ windowTokens })
    const text = 'word '.repeat(2_000)
    const seen = await send(url, { protocol, text, body: { model: 'small' } })
    expect(seen.status).toBe(400)
    const error = at(documentIn(seen), 'error')
    const expected = {
      'openai-chat': {
        message:
          "This model's maximum context length is 2000 tokens. However, your messages resulted in 2501 tokens. Please reduce the length of the messages.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
      'openai-responses': {
        message:
          'Your input exceeds the context window of this model. Please adjust your input and try again.',
        type: 'invalid_request_error',
        param: 'input',
        code: 'context_length_exceeded',
      },
      anthropic: {
        type: 'invalid_request_error',
        message: 'prompt is too long: 2501 tokens > 2000 maximum',
      },
    }
    expect(error).toEqual(expected[protocol])
    expect((await send(url, { protocol, text })).status).toBe(200)
  })

  it('keeps the pace that was set, and the wait for the first byte', async () => {
    const speed = { firstByteMs: 60, inputTokensPerSecond: 1_000, outputTokensPerSecond: 200 }
    const { url } = await start({ speed })
    // 40 tokens in (40 ms), 20 tokens out (100 ms).
    const text = `say ${'x'.repeat(80)}\n${' '.repeat(71)}`
    for (const stream of [true, false]) {
      const measure = async () => (await send(url, { protocol, text, stream })).durationMs
      const durationMs = await leastOf(measure, { below: 1_500 })
      expect(durationMs).toBeGreaterThan(195)
      expect(durationMs).toBeLessThan(1_500)
    }
  })

  it('refuses a result without its call, as the provider does', async () => {
    const { url } = await start()
    const orphan = {
      'openai-chat': { messages: [{ role: 'tool', tool_call_id: 'a', content: 'x' }] },
      'openai-responses': { input: [{ type: 'function_call_output', call_id: 'a', output: 'x' }] },
      anthropic: {
        messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] }],
      },
    }
    const seen = await send(url, { protocol, body: orphan[protocol] })
    expect(seen.status).toBe(400)
    expect(at(documentIn(seen), 'error', 'message')).toContain('orphan-result')
  })

  it('refuses a body that is no JSON, and a path that it does not know', async () => {
    const { url } = await start()
    const version = protocol === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {}
    const response = await fetch(`${url}/v1/nothing`, { method: 'POST', headers: version })
    expect(response.status).toBe(404)
    expect(await response.text()).toContain(
      protocol === 'anthropic' ? 'not_found_error' : 'Invalid',
    )
    const bad = await send(url, { protocol, body: { model: 7 } })
    expect(bad.status).toBe(400)
  })
})

describe('opaque items', () => {
  const thinking = { type: 'enabled', budget_tokens: 1_024 }

  it('come back unchanged or are refused: thoughts of Anthropic', async () => {
    const { url } = await start()
    const protocol = 'anthropic'
    const first = documentIn(
      await send(url, { protocol, text: 'think\nsay a', body: { thinking } }),
    )
    const again = (content: unknown) => {
      const turn = { role: 'assistant', content: content as JsonObject }
      const messages = [{ role: 'user', content: 'a' }, turn, { role: 'user', content: 'b' }]
      return send(url, { protocol, body: { messages } })
    }
    expect((await again(first['content'])).status).toBe(200)
    const changed = JSON.parse(JSON.stringify(first['content']).replace('I read', 'I wrote'))
    const refused = await again(changed)
    expect(refused.status).toBe(400)
    expect(refused.bytes.toString()).toContain('signature')
  })

  it('come back unchanged or are refused: the compaction of Responses', async () => {
    const { url } = await start()
    const protocol = 'openai-responses'
    const input = [
      { role: 'user', content: 'Find the number.' },
      { role: 'assistant', content: 'The build number is 4711.' },
      { role: 'user', content: 'Good.' },
    ]
    const path = '/v1/responses/compact'
    const compacted = documentIn(await send(url, { protocol, path, body: { input } }))
    const output = compacted['output'] as readonly JsonObject[]
    expect(output.map((item) => item['type'])).toEqual(['message', 'message', 'compaction'])
    expect(JSON.stringify(output)).not.toContain('4711')

    const question = { role: 'user', content: 'What was the build number?' }
    const body = { input: [...output, question] }
    const seen = await send(url, { protocol, stream: true, body })
    expect(textIn(protocol, seen)).toContain('4711')
    const changed = JSON.parse(JSON.stringify(body).replace(/standin\.(....)/, 'standin.0000'))
    expect((await send(url, { protocol, body: changed })).status).toBe(400)
  })
})

describe('the journal', () => {
  it('records the connection of each request, whether it was reused, and who closed it', async () => {
    const { url, server } = await start()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const protocol = 'anthropic'
    await send(url, { protocol, agent })
    await send(url, { protocol, agent, text: 'Again.' })
    await send(url, { protocol })
    const { journal } = server
    expect(server.journal.entries.map(({ socket, reused }) => [socket.id, reused])).toEqual([
      [1, false],
      [1, true],
      [2, false],
    ])
    expect(journal.entries[1]).toMatchObject({ outcome: 'answered', status: 200, number: 2 })
    expect(at(journal.entries[1]?.body, 'messages', 0, 'content')).toBe('Again.')
    expect(JSON.parse(journal.entries[1]?.bodyText ?? '')).toEqual(journal.entries[1]?.body)
    agent.destroy()
    await expect.poll(() => journal.openSockets).toBe(0)
    expect(journal.sockets[0]).toMatchObject({ id: 1, requests: 2, closedBy: 'client' })
    expect(journal.socketsOpened).toBe(2)
  })

  it('sees a client leave in the middle of a stream', async () => {
    const { url, server } = await start({ speed: { outputTokensPerSecond: 10 } })
    const leaveFrom: Sending['leaveFrom'] = ({ bytes }) => bytes.length > 0
    await send(url, { protocol: 'openai-chat', stream: true, leaveMs: 0, leaveFrom })
    await expect.poll(() => server.journal.last?.outcome).toBe('left')
    expect(server.journal.last?.socket.closedBy).toBe('client')
  })

  it('keeps the numbers when it forgets', async () => {
    const { url, server } = await start()
    await send(url, { protocol: 'openai-chat' })
    server.journal.clear()
    await send(url, { protocol: 'openai-chat' })
    expect(server.journal.entries.map(({ number }) => number)).toEqual([2])
    expect(server.journal.requests).toBe(2)
  })
})

describe('the server', () => {
  it('closes idle connections on request', async () => {
    const { url, server } = await start()
    const agent = new Agent({ keepAlive: true })
    await send(url, { protocol: 'openai-chat', agent })
    expect(server.journal.openSockets).toBe(1)
    server.closeIdleSockets()
    await expect.poll(() => server.journal.openSockets).toBe(0)
    expect(server.journal.sockets[0]?.closedBy).toBe('stand-in')
    agent.destroy()
  })

  it('leaves no connection and no timer when it closes, however busy it was', async () => {
    const before = await countResources()
    const { url, port, server, close } = await startStandIn()
    const faults = ['half-open', 'stall-after-headers', 'drip; ms=60000', 'latency; ms=60000']
    const agent = new Agent({ keepAlive: true })
    await send(url, { protocol: 'openai-chat', agent })
    const waiting = faults.map((fault) =>
      send(url, { protocol: 'anthropic', stream: true, headers: { 'x-stand-in-fault': fault } }),
    )
    const mute = connect(port, '127.0.0.1')
    const unfinished = connect(port, '127.0.0.1')
    unfinished.write('POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{')
    for (const socket of [mute, unfinished]) socket.on('error', () => {})
    await expect.poll(() => server.journal.openRequests).toBe(faults.length)
    const both = [close(), close()]
    await Promise.all(both)
    expect(server.journal.openSockets).toBe(0)
    await Promise.all(waiting)
    agent.destroy()
    expect(await countResources()).toEqual(before)
    await expect(close()).resolves.toBeUndefined()
  })

  it('refuses a body of more than 64 MB as providers do', async () => {
    const { url } = await start()
    const text = 'x'.repeat(64 * 1024 * 1024)
    expect((await send(url, { protocol: 'openai-chat', text })).status).toBe(413)
  })

  it('comes back on the same port after it was closed', async () => {
    const { server, port, close } = await startStandIn()
    await expect(server.start()).rejects.toThrow('running')
    await close()
    const again = await server.start({ port })
    expect((await send(again.url, { protocol: 'anthropic' })).status).toBe(200)
    await again.close()
  })

  it('serves a thousand streams at once', async () => {
    const { url, server } = await start()
    const agent = new Agent({ keepAlive: true, maxSockets: 200 })
    const seen = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) =>
        send(url, { protocol: 'openai-chat', stream: true, agent, text: `say Number ${index}.` }),
      ),
    )
    const wrong = seen.filter(
      (one, index) =>
        textIn('openai-chat', one) !== `Number ${index}.` ||
        finishIn('openai-chat', one) !== 'stop',
    )
    expect(wrong).toEqual([])
    expect(server.journal.socketsOpened).toBeLessThanOrEqual(200)
    agent.destroy()
  })

  it('lists its models and counts tokens', async () => {
    const { url } = await start({ models: ['one', 'two'] })
    const openai = (await (await fetch(`${url}/v1/models`)).json()) as JsonObject
    expect(at(openai, 'data', 1, 'id')).toBe('two')
    const headers = { 'anthropic-version': '2023-06-01' }
    const anthropic = (await (await fetch(`${url}/v1/models`, { headers })).json()) as JsonObject
    expect(anthropic).toMatchObject({ first_id: 'one', last_id: 'two', has_more: false })
    const path = '/v1/messages/count_tokens'
    const counted = await send(url, { protocol: 'anthropic', path, text: 'x'.repeat(396) })
    expect(documentIn(counted)).toEqual({ input_tokens: 100 })
  })

  it('streams every item of Responses from beginning to end, with sequence numbers', async () => {
    const { url } = await start()
    const tools = [{ type: 'function', name: 'read' }]
    const text = 'think hm\nsay ok\nuse read {}'
    const sending = { protocol: 'openai-responses', stream: true, text, body: { tools } } as const
    const events = eventsIn(await send(url, sending))
    expect(events.map((event) => event['sequence_number'])).toEqual([...events.keys()])
    expect(events.map(({ type }) => String(type).replace('response.', ''))).toEqual([
      ...['created', 'in_progress', 'output_item.added', 'reasoning_summary_part.added'],
      ...['reasoning_summary_text.delta', 'reasoning_summary_text.done'],
      ...['reasoning_summary_part.done', 'output_item.done', 'output_item.added'],
      ...['content_part.added', 'output_text.delta', 'output_text.done', 'content_part.done'],
      ...['output_item.done', 'output_item.added', 'function_call_arguments.delta'],
      ...['function_call_arguments.done', 'output_item.done', 'completed'],
    ])
  })

  it('keeps at most the configured number of requests in its journal', async () => {
    const { url, server } = await start({ journalEntriesMax: 2 })
    for (const word of ['one', 'two', 'three']) {
      await send(url, { protocol: 'openai-chat', text: `say ${word}` })
    }
    expect(server.journal.entries.map(({ number }) => number)).toEqual([2, 3])
    expect(server.journal.requests).toBe(3)
  })

  it('takes system messages among the others from Anthropic, as Claude Code sends them [proxy law 23]', async () => {
    const { url } = await start()
    const calls = [{ type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }]
    const results = [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'PELICAN' }]
    const messages = [
      { role: 'user', content: 'Read it.' },
      { role: 'system', content: 'You are at sea.' },
      { role: 'assistant', content: calls },
      { role: 'user', content: results },
      { role: 'system', content: 'The date has changed.' },
    ]
    const seen = await send(url, { protocol: 'anthropic', stream: true, body: { messages } })
    expect(textIn('anthropic', seen)).toContain('answered: PELICAN')
    const empty = { role: 'system', content: [] }
    const setting = { ...empty, output_config: { effort: 'medium' } }
    const withOne = async (message: JsonObject) => {
      const body = { messages: [...messages.slice(0, 1), message, ...messages.slice(2, 4)] }
      return (await send(url, { protocol: 'anthropic', body })).status
    }
    expect(await withOne(setting)).toBe(200)
    expect(await withOne(empty)).toBe(400)
    const first = { messages: [...messages.slice(1, 2), ...messages.slice(0, 1)] }
    expect((await send(url, { protocol: 'anthropic', body: first })).status).toBe(400)
  })

  it('answers a compaction trigger of Responses with one compaction, as Codex expects', async () => {
    const { url } = await start()
    const input = [{ role: 'user', content: 'Hello.' }, { type: 'compaction_trigger' }]
    const sending = { protocol: 'openai-responses', stream: true, body: { input } } as const
    const events = eventsIn(await send(url, sending))
    const items = events.filter(({ type }) => type === 'response.output_item.done')
    expect(items).toMatchObject([{ item: { type: 'compaction' } }])
    expect(events.at(-1)).toMatchObject({ response: { output: [{ type: 'compaction' }] } })
  })

  it('says at the start of a stream of Anthropic what went in', async () => {
    const { url } = await start()
    const seen = await send(url, { protocol: 'anthropic', stream: true, text: 'say a' })
    const usage = at(eventsIn(seen)[0], 'message', 'usage')
    expect(usage).toMatchObject({ input_tokens: 3, output_tokens: 1 })
  })

  it('reports usage in a stream of chat if requested', async () => {
    const { url } = await start()
    const sending = { protocol: 'openai-chat', stream: true, text: 'say four' } as const
    expect(eventsIn(await send(url, sending)).some((event) => 'usage' in event)).toBe(false)
    const body = { stream_options: { include_usage: true } }
    const events = eventsIn(await send(url, { ...sending, body }))
    expect(events.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
    })
  })
})

/**
 * What keeps the process alive just now. Timers of the test runner come and go: the fewest of a few
 * looks count, and none of the faults' own would end within them.
 */
async function countResources(): Promise<readonly number[]> {
  const looks: number[][] = []
  for (let look = 0; look < 10; look++) {
    await sleep(20)
    const active = process.getActiveResourcesInfo()
    const kinds = ['TCPSocketWrap', 'TCPServerWrap', 'Timeout']
    looks.push(kinds.map((kind) => active.filter((name) => name === kind).length))
  }
  return (looks[0] ?? []).map((_, index) => Math.min(...looks.map((look) => look[index] ?? 0)))
}

describe('a private stand-in', () => {
  it('answers under its own address, and cuts off everyone else before reading a body', async () => {
    const model = standIn()
    const { url, close } = await model.start({ isPrivate: true })
    closers.push(close)
    expect((await fetch(`${url}/v1/models`)).status).toBe(200)
    const { origin } = new URL(url)
    const body = JSON.stringify({ model: 'x', messages: [] })
    const others = [`${origin}/v1/models`, `${origin}/`, `${origin}/${'0'.repeat(32)}/v1/models`]
    for (const other of others) await expect(fetch(other)).rejects.toThrow('fetch failed')
    const post = { method: 'POST', body }
    await expect(fetch(`${origin}/v1/chat/completions`, post)).rejects.toThrow('fetch failed')
    expect(model.journal.entries).toHaveLength(1)
  })
})
