import { createServer as createSecure } from 'node:https'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../packages/core/src/base/clock.ts'
import { callModel } from '../../packages/server/src/model/calls/call.ts'
import { explainOutcome } from '../../packages/server/src/model/outcomes/outcome.ts'
import type { ProviderName } from '../../packages/server/src/model/providers/names.ts'
import { asking, event, hear, listen, openBench, WIRES, within } from './bench.ts'
import { selfSigned } from './self-signed.ts'

/** Servers that do what no model server should, byte by byte. */
let bench: Awaited<ReturnType<typeof openBench>>
const opened: { close: () => Promise<void> }[] = []
beforeAll(async () => {
  bench = await openBench()
})
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
  await bench.settle()
})
afterAll(() => bench.close())

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n'
const chunk = (delta: object) => event({ id: 'c', choices: [{ index: 0, delta }] })
const WORDS = `${chunk({ content: 'Hello.' })}${event({
  id: 'c',
  choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
})}data: [DONE]\n\n`
const FINISHED = { kind: 'finished', finish: 'stop' }

/** Answers each request with what `answer` does to its socket; keeps what was asked. */
async function openRaw(answer: (socket: Socket, request: string) => void, host = '127.0.0.1') {
  const requests: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    socket.on('close', () => sockets.delete(socket))
    let asked = ''
    socket.on('data', (bytes) => {
      asked += bytes.toString('latin1')
      const [head, body] = asked.split('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(head ?? '')?.[1])
      if (body === undefined || body.length < length) return
      requests.push(asked)
      const whole = asked
      asked = ''
      answer(socket, whole)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, host, resolve)
  })
  const { port } = server.address() as AddressInfo
  const raw = {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    requests,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  opened.push(raw)
  return raw
}

const ask = async (baseUrl: string, deadlines = {}) =>
  await hear(bench.modelOf('openai-chat', { baseUrl }).stream(asking('hi'), within(deadlines)))

describe('an answer', () => {
  it('with a line of a hundred megabytes ends as soon as that is plain, in little memory', async () => {
    const piece = Buffer.alloc(1024 * 1024, 'x')
    let sent = 0
    const { url } = await openRaw((socket) => {
      socket.write(`${HEAD}\r\ndata: {"choices":[{"delta":{"content":"`)
      const pour = () => {
        while (sent < 100 && socket.writable && socket.write(piece)) sent++
      }
      socket.on('drain', pour)
      pour()
    })
    const { end } = await ask(url)
    expect(end.outcome).toEqual({ kind: 'malformed', what: 'too-large' })
    expect(sent).toBeLessThan(60)
  })

  it.each([
    ['text', { content: 'word '.repeat(8_000) }],
    ['thoughts', { reasoning_content: 'word '.repeat(8_000) }],
    [
      'the input of a call',
      {
        tool_calls: [
          { index: 0, id: 'a', function: { name: 'f', arguments: 'word '.repeat(8_000) } },
        ],
      },
    ],
  ])('with far more %s than was asked for is given up', async (_, delta) => {
    const { url } = await openRaw((socket) =>
      socket.end(`${HEAD}\r\n${chunk(delta).repeat(10)}${WORDS}`),
    )
    const model = bench.modelOf('openai-compatible', { baseUrl: url })
    const askFor = async (outputTokensMax: number) => {
      const request = asking('hi', { outputTokensMax })
      return (await hear(model.stream(request, within()))).end.outcome
    }
    expect(await askFor(1_000)).toEqual({ kind: 'malformed', what: 'too-large' })
    expect(await askFor(16_000)).toMatchObject({ kind: 'finished' })
  })

  const block = (index: number, start: object, ...deltas: object[]) =>
    [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ].map((each) => event(each, each.type))
  const times = <Made>(count: number, make: (at: number) => Made) =>
    Array.from({ length: count }, (_, at) => make(at))
  const MEGABYTE = 'x'.repeat(1024 * 1024)
  const done = (item: object) => event({ type: 'response.output_item.done', output_index: 0, item })
  const call = (at: number) => ({ type: 'tool_use', id: `c${at}`, name: 'f', input: {} })

  it.each<[string, ProviderName, readonly string[]]>([
    [
      'signatures',
      'anthropic',
      block(
        0,
        { type: 'thinking', thinking: '', signature: '' },
        ...times(18, () => ({ type: 'signature_delta', signature: MEGABYTE })),
      ),
    ],
    [
      'texts at the start of a block',
      'anthropic',
      times(18, (at) => block(at, { type: 'text', text: MEGABYTE })).flat(),
    ],
    ['unknown blocks', 'anthropic', times(9_000, (at) => block(at, { type: 'odd' })).flat()],
    ['calls', 'anthropic', times(1_001, (at) => block(at, call(at))).flat()],
    ['items', 'openai-responses', times(18, () => done({ type: 'odd', data: MEGABYTE }))],
    [
      'calls',
      'openai-responses',
      times(1_001, (at) =>
        done({ type: 'function_call', call_id: `c${at}`, name: 'f', arguments: '{}' }),
      ),
    ],
    ['unknown fields', 'openai-compatible', times(18, () => chunk({ odd: MEGABYTE }))],
    [
      'calls',
      'openai-compatible',
      times(1_001, (index) =>
        chunk({
          tool_calls: [{ index, id: `c${index}`, function: { name: 'f', arguments: '{}' } }],
        }),
      ),
    ],
    [
      'images',
      'google',
      times(18, () =>
        event({
          candidates: [
            { content: { parts: [{ inlineData: { mimeType: 'image/png', data: MEGABYTE } }] } },
          ],
        }),
      ),
    ],
  ])(
    'with far more %s than any model makes is given up, also by %s',
    async (_, provider, events) => {
      const ends: Partial<Record<ProviderName, string>> = {
        anthropic:
          event(
            {
              type: 'message_delta',
              delta: { stop_reason: 'end_turn' },
              usage: { output_tokens: 9 },
            },
            'message_delta',
          ) + event({ type: 'message_stop' }, 'message_stop'),
        'openai-responses': event({
          type: 'response.completed',
          response: { id: 'r', usage: { input_tokens: 1, output_tokens: 1 } },
        }),
        google: event({ candidates: [{ finishReason: 'STOP' }] }),
      }
      const start =
        provider === 'anthropic'
          ? event(
              {
                type: 'message_start',
                message: {
                  id: 'm',
                  role: 'assistant',
                  content: [],
                  model: 'm',
                  usage: { input_tokens: 1, output_tokens: 1 },
                },
              },
              'message_start',
            )
          : ''
      const { url } = await openRaw((socket) => {
        socket.write(`${HEAD}\r\n${start}`)
        for (const each of events) socket.write(each)
        socket.end(ends[provider] ?? WORDS)
      })
      const model = bench.modelOf(provider, { baseUrl: url })
      const { end, pieces } = await hear(
        model.stream(asking('hi', { outputTokensMax: 1_000 }), within()),
      )
      expect(end.outcome).toEqual({ kind: 'malformed', what: 'too-large' })
      expect(pieces.filter(({ kind }) => kind === 'call')).toEqual([])
    },
  )

  it('nested too deeply to be stored is malformed, not a crash', async () => {
    const deep = `{"type":"odd","x":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    const { url } = await openRaw((socket) =>
      socket.end(`${HEAD}\r\n${chunk({ content: 'Hello.' })}data: ${deep}\n\n${WORDS}`),
    )
    const { end } = await ask(url)
    expect(end.outcome).toEqual({ kind: 'malformed', what: 'too-large' })
    expect(() => JSON.stringify(end.reply)).not.toThrow()
  })

  it('of thoughts without end is ended by the total', async () => {
    const { url } = await openRaw((socket) => {
      const thought = chunk({ reasoning_content: 'Hm. '.repeat(500) })
      socket.write(`${HEAD}\r\n${thought}`)
      const timer = setInterval(() => socket.write(thought), 5)
      socket.on('close', () => clearInterval(timer))
    })
    const { end } = await ask(url, { totalMs: 2_500 })
    expect(end.outcome).toEqual({ kind: 'deadline', deadline: 'total' })
    expect(JSON.stringify(end.reply)).toContain('Hm. Hm.')
  })

  it.each([
    ['comments', ': keep-alive\n\n'],
    ['pings', 'event: ping\ndata: {"type":"ping"}\n\n'],
  ])('of mere %s has half the time; the other half is the next route’s', async (_, sign) => {
    const { url } = await openRaw((socket) => {
      socket.write(`${HEAD}\r\n${sign}`)
      const timer = setInterval(() => socket.write(sign), 10)
      socket.on('close', () => clearInterval(timer))
    })
    const good = await openRaw((socket) => socket.end(`${HEAD}\r\n${WORDS}`))
    const { pieces, end } = await hear(
      callModel(
        [
          bench.modelOf('openai-chat', { name: 'lingering', baseUrl: url }),
          bench.modelOf('openai-chat', { baseUrl: good.url }),
        ],
        asking('hi'),
        { ...within({ totalMs: 12_000, idleMs: 100 }), clock: systemClock, random: () => 0 },
      ),
    )
    expect(end.outcome).toEqual(FINISHED)
    const retries = pieces.filter((piece) => piece.kind === 'retry')
    expect(retries.map(({ after }) => after)).toEqual(
      retries.map(() => ({ kind: 'deadline', deadline: 'idle' })),
    )
    expect(retries.at(-1)?.route).toBe('openai-chat')
  })

  it('that is compressed is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(16 * 1024 * 1024, `${chunk({ content: 'word' })}`))
    const { url } = await openRaw((socket) => {
      socket.write(`${HEAD}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`)
      socket.end(bomb)
    })
    const { end } = await ask(url)
    expect(end.outcome).toEqual({ kind: 'malformed', what: 'compressed' })
  })
})

describe('a server', () => {
  it.each([301, 302, 303, 307, 308])(
    'that redirects (%i) gets nobody to follow, neither with the credential nor without',
    async (status) => {
      const other = await openRaw((socket) => socket.end(`${HEAD}\r\n${WORDS}`))
      const { url } = await openRaw((socket) =>
        socket.end(
          `HTTP/1.1 ${status} Go\r\nlocation: ${other.url}/v1\r\ncontent-length: 0\r\n\r\n`,
        ),
      )
      for (const wire of WIRES) {
        const model = bench.modelOf(wire, { baseUrl: url })
        const { end } = await hear(model.stream(asking('hi'), within()))
        expect(end.outcome).toEqual({ kind: 'malformed', what: 'redirect' })
        expect(explainOutcome(end.outcome)).toContain('base URL')
      }
      expect(other.requests).toEqual([])
    },
  )

  it('that sets a cookie gets none back', async () => {
    const { url, requests } = await openRaw((socket) =>
      socket.write(
        `${HEAD}set-cookie: id=7; Path=/\r\ncontent-length: ${WORDS.length}\r\n\r\n${WORDS}`,
      ),
    )
    await ask(url)
    expect((await ask(url)).end.outcome).toEqual(FINISHED)
    expect(requests).toHaveLength(2)
    expect(requests.join()).not.toMatch(/cookie/i)
  })

  it('of HTTP/1.0, which ends an answer by closing, is understood', async () => {
    const { url } = await openRaw((socket) =>
      socket.end(`HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${WORDS}`),
    )
    for (let time = 0; time < 2; time++) {
      const { end, text } = await ask(url)
      expect([end.outcome, text]).toEqual([FINISHED, 'Hello.'])
    }
  })

  it('that says of a plain answer that it is packed in no way is understood', async () => {
    for (const encoding of ['identity', 'none', '', 'utf-8']) {
      const { url } = await openRaw((socket) =>
        socket.end(`${HEAD}content-encoding: ${encoding}\r\nconnection: close\r\n\r\n${WORDS}`),
      )
      expect((await ask(url)).end.outcome).toEqual(FINISHED)
    }
  })

  it('that sends trailers after the last chunk is understood', async () => {
    const body = `${WORDS.length.toString(16)}\r\n${WORDS}\r\n0\r\nx-cost: 3\r\nset-cookie: a=b\r\n\r\n`
    const { url } = await openRaw((socket) =>
      socket.write(`${HEAD}transfer-encoding: chunked\r\ntrailer: x-cost\r\n\r\n${body}`),
    )
    for (let time = 0; time < 2; time++) expect((await ask(url)).end.outcome).toEqual(FINISHED)
  })

  it('that closes a kept connection as the next request comes costs one retry and no wait', async () => {
    let answered = 0
    const seen = new WeakSet<Socket>()
    const { url } = await openRaw((socket) => {
      if (seen.has(socket)) return socket.destroy()
      seen.add(socket)
      answered++
      return socket.write(`${HEAD}content-length: ${WORDS.length}\r\n\r\n${WORDS}`)
    })
    for (let time = 0; time < 2; time++) {
      const { end, pieces } = await hear(
        callModel([bench.modelOf('openai-chat', { baseUrl: url })], asking('hi'), {
          ...within(),
          ...{ clock: systemClock, random: () => 0 },
        }),
      )
      expect(end.outcome).toEqual(FINISHED)
      const delays = pieces.flatMap((piece) => (piece.kind === 'retry' ? [piece.delayMs] : []))
      expect(delays).toEqual(time === 1 ? [0] : [])
    }
    expect(answered).toBe(2)
  })

  it('that answers with nothing but interim answers is waited for no longer than any other', async () => {
    const { url } = await openRaw((socket) => {
      const timer = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 10)
      socket.on('close', () => clearInterval(timer))
    })
    const { end } = await ask(url, { firstByteMs: 200 })
    expect(end.outcome).toEqual({ kind: 'deadline', deadline: 'first-byte' })
  })

  it('with headers without end is given up', async () => {
    const { url } = await openRaw((socket) => {
      socket.write(HEAD)
      const timer = setInterval(() => socket.write(`x-more: ${'y'.repeat(4_000)}\r\n`), 1)
      socket.on('close', () => clearInterval(timer))
    })
    expect((await ask(url)).end.outcome).toMatchObject({ kind: 'connection' })
  })

  it('that has only an IPv6 address is reached', async (context) => {
    const raw = await openRaw((socket) => socket.end(`${HEAD}\r\n${WORDS}`), '::1').catch(
      () => null,
    )
    if (raw === null) return context.skip('not run: no IPv6 on this host')
    expect((await ask(raw.url)).end.outcome).toEqual(FINISHED)
  })

  it.each([
    ['nobody vouches for', { names: ['localhost'] }],
    ['is another’s', { names: ['other.example'] }],
    ['has run out', { names: ['localhost'], isExpired: true }],
  ])('whose certificate %s gets no request, and a notice says so', async (_, kind) => {
    const asked: string[] = []
    const server = await listen(
      createSecure(selfSigned(kind), ({ url = '' }, answer) => {
        asked.push(url)
        answer.end()
      }),
    )
    opened.push(server)
    const { end } = await ask(`https://localhost:${new URL(server.url).port}`)
    expect(end.outcome).toEqual({ kind: 'connection', fault: 'tls', freshLoanHelps: false })
    expect(explainOutcome(end.outcome)).toContain('NODE_EXTRA_CA_CERTS')
    expect(asked).toEqual([])
  })
})

describe('a name from the configuration', () => {
  const evil = 'm\r\nx-evil: 1\r\n\r\nGET /evil HTTP/1.1'

  it.each([...WIRES, 'google'] as const)(
    'of a model on %s adds no header, no request and no place',
    async (wire) => {
      const { url, requests } = await openRaw((socket) => socket.end(`${HEAD}\r\n`))
      for (const model of [evil, '../../evil?x=1#y', 'm\u0000\u2028']) {
        await hear(
          bench.modelOf(wire, { baseUrl: `${url}/v1`, model }).stream(asking('hi'), within()),
        )
      }
      for (const request of requests) {
        const [head = ''] = request.split('\r\n\r\n')
        expect(head).not.toMatch(/^x-evil|^GET /m)
        expect(head).toMatch(/^POST \/v1\//)
        expect(head.match(/^[A-Z]+ \//gm)).toHaveLength(1)
      }
    },
  )

  it('of a header that no header can be ends the call before it is sent', async () => {
    const { url, requests } = await openRaw((socket) => socket.end(`${HEAD}\r\n${WORDS}`))
    for (const headers of [{ 'x-a': evil }, { [evil]: 'x' }, { 'x-ü': 'a' }]) {
      const model = bench.modelOf('openai-chat', { baseUrl: url, headers })
      const { end } = await hear(model.stream(asking('hi'), within()))
      expect(end.outcome).toEqual({ kind: 'malformed', what: 'not-sent' })
    }
    expect(requests).toEqual([])
  })
})
