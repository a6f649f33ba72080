import { type AddressInfo, createServer } from 'node:net'
import { Pool as UndiciPool } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Deadlines } from '../../packages/server/src/model/connections/deadlines.ts'
import type { Outcome } from '../../packages/server/src/model/outcomes/outcome.ts'
import { timerMs } from '../support/timing.ts'
import {
  asking,
  hear,
  openBench,
  openFlood,
  textOfReply,
  user,
  WIRES,
  within,
  words,
} from './bench.ts'

/**
 * Every fault of a provider, over real sockets, through the real packages of all protocols: it ends
 * in its outcome, in its time, and leaves nothing behind.
 */
let bench: Awaited<ReturnType<typeof openBench>>
beforeAll(async () => {
  bench = await openBench()
})
afterEach(() => bench.settle())
afterAll(() => bench.close())

const closed: Outcome = { kind: 'connection', fault: 'closed', freshLoanHelps: true }
const reset: Outcome = { kind: 'connection', fault: 'reset', freshLoanHelps: true }
const noEnd: Outcome = { kind: 'malformed', what: 'no-end' }
const question = 'What is the code word?'

describe.each(WIRES)('%s', (wire) => {
  const call = async (fault: string, deadlines: Partial<Deadlines> = {}) => {
    bench.server.faults.next(fault)
    return await hear(bench.modelOf(wire).stream(asking(question), within(deadlines)))
  }

  it.each([
    ['status; code=429', { kind: 'refused', refusal: 'rate-limit', status: 429 }],
    ['status; code=429; retry-after=3', { refusal: 'rate-limit', retryAfterMs: 3_000 }],
    ['status; code=429; retry-after=1e12', { refusal: 'rate-limit', retryAfterMs: 604_800_000 }],
    ['status; code=500', { refusal: 'server-error', status: 500 }],
    ['status; code=502', { refusal: 'server-error', status: 502 }],
    ['status; code=503', { refusal: 'overloaded', status: 503 }],
    ['status; code=529', { refusal: 'overloaded', status: 529 }],
    ['status; code=401', { refusal: 'bad-key', status: 401 }],
    ['status; code=400', { refusal: 'bad-request', status: 400 }],
    ['context-overflow', { kind: 'overflow' }],
    ['stream-error; what=overflow; after=0', { kind: 'overflow' }],
    ['stream-error; what=overflow', { kind: 'overflow' }],
    ['stream-error; after=0', { kind: 'refused' }],
    ['stream-error', { kind: 'refused' }],
    ['reset-before-headers', reset],
    ['cut-stream', closed],
    ['cut-stream; how=reset', reset],
    ['cut-stream; how=clean', noEnd],
    ['cut-json', closed],
    ['cut-json; how=clean', {}],
    ['cut-utf8', closed],
    ['cut-utf8; how=clean', {}],
    ['unparsable-line', { kind: 'malformed', what: 'unparsable' }],
    ['html', { kind: 'malformed', what: 'no-stream' }],
    ['other-request', { kind: 'malformed', what: 'other-request' }],
    ['finish; reason=length', { kind: 'finished', finish: 'length' }],
    ['finish; reason=content-filter', { kind: 'finished', finish: 'content-filter' }],
    ['empty', { kind: 'finished', finish: 'stop' }],
    ['blank', { kind: 'finished', finish: 'stop' }],
    ['only-reasoning', { kind: 'finished', finish: 'stop' }],
    ['latency; ms=150', { kind: 'finished', finish: 'stop' }],
  ])('%s ends in its outcome [faults 41, 42, 45-48, 57]', async (fault, outcome) => {
    const { end } = await call(fault)
    expect(end.outcome).toMatchObject(outcome)
    // Those that may look like damage or like an early end, but never like an answer.
    if (Object.keys(outcome).length === 0) expect(end.outcome.kind).toBe('malformed')
  })

  it('a healthy answer follows each fault, on the same route', async () => {
    for (const fault of ['cut-stream', 'reset-before-headers', 'unparsable-line', 'html']) {
      await call(fault)
      const { end } = await hear(bench.modelOf(wire).stream(asking(question), within()))
      expect(end.outcome).toEqual({ kind: 'finished', finish: 'stop' })
    }
  })

  it('the words that came before a cut are kept, by a reader that lags as well [fault 45]', async () => {
    const request = asking(words(400))
    const replies = []
    for (const [how, pauseMs] of [
      ['fin', 0],
      ['fin', 1],
      ['reset', 0],
      ['reset', 1],
    ] as const) {
      bench.server.faults.next(`cut-stream; how=${how}`)
      const { end, text } = await hear(bench.modelOf(wire).stream(request, within()), pauseMs)
      expect(end.outcome.kind).toBe('connection')
      expect(textOfReply(end)).toBe(text)
      replies.push(text.length)
    }
    expect(Math.min(...replies)).toBeGreaterThan(600)
    expect(new Set(replies).size).toBe(1)
  })

  it('an interrupt keeps the received text, closes the connection and is reported as such', async () => {
    const controller = new AbortController()
    bench.server.faults.next('stall-mid-stream')
    const stream = bench.modelOf(wire).stream(asking(words(400)), within({}, controller.signal))
    const { end, text } = await hear(stream, 0, ({ length }) => {
      if (length > 600) controller.abort()
    })
    expect(end.outcome).toEqual({ kind: 'interrupted' })
    expect(text.length).toBeGreaterThan(600)
    expect(textOfReply(end)).toBe(text)
  })

  it('an interrupt before any answer ends the call at once', async () => {
    bench.server.faults.always('half-open')
    for (const abortMs of [0, 30]) {
      const controller = new AbortController()
      const stream = bench.modelOf(wire).stream(asking(question), within({}, controller.signal))
      setTimeout(() => controller.abort(), abortMs)
      expect((await hear(stream)).end.outcome).toEqual({ kind: 'interrupted' })
    }
    const aborted = within({}, AbortSignal.abort())
    const { end } = await hear(bench.modelOf(wire).stream(asking(question), aborted))
    expect(end.outcome).toEqual({ kind: 'interrupted' })
  })

  it('leaving the loop closes the connection', async () => {
    bench.server.faults.next('stall-mid-stream')
    for await (const piece of bench.modelOf(wire).stream(asking(words(4_000)), within())) {
      if (piece.kind === 'text') break
    }
    await bench.settle()
    expect(bench.server.journal.last?.outcome).toBe('left')
  })

  it('a stream that is never read sends nothing', () => {
    const before = bench.server.journal.requests
    bench.modelOf(wire).stream(asking(question), within())
    expect(bench.server.journal.requests).toBe(before)
  })

  it('no error, warning or secret of the package is printed or reported', async () => {
    const secret = 'sk-canary-0123456789'
    const printed: unknown[] = []
    const write = process.stderr.write
    process.stderr.write = ((chunk: unknown) => printed.push(chunk) > 0) as typeof write
    try {
      for (const fault of ['status; code=400', 'unparsable-line', 'cut-stream', 'stream-error']) {
        bench.server.faults.next(fault)
        const request = { messages: [user(secret)] }
        const { pieces } = await hear(bench.modelOf(wire).stream(request, within()))
        const [end] = pieces.slice(-1)
        expect(JSON.stringify(end?.kind === 'end' ? end.outcome : end)).not.toContain('canary')
        const notes = pieces.filter(({ kind }) => kind === 'note')
        expect(JSON.stringify(notes)).not.toContain('canary')
      }
    } finally {
      process.stderr.write = write
    }
    expect(printed).toEqual([])
  })
})

describe('deadlines', () => {
  /** Within ten per cent of a plain timer beside it, the best of several: the machine may be busy with others. */
  const kept = async (limitMs: number, run: () => Promise<{ tookMs: number }>) => {
    const times: number[] = []
    for (let attempt = 0; attempt < 20; attempt++) {
      const [{ tookMs }, plainMs] = await Promise.all([run(), timerMs(limitMs)])
      times.push(tookMs)
      expect(tookMs).toBeGreaterThan(limitMs * 0.9)
      if (tookMs < plainMs + limitMs * 0.1) return
    }
    throw new Error(`${limitMs} ms were asked for, the best was ${Math.min(...times)} ms`)
  }

  const cases: readonly (readonly [string, Partial<Deadlines>, string])[] = [
    ['half-open', { firstByteMs: 500 }, 'first-byte'],
    ['latency; ms=5000', { firstByteMs: 500 }, 'first-byte'],
    ['stall-after-headers', { firstByteMs: 500 }, 'first-byte'],
    ['stall-mid-stream', { idleMs: 500 }, 'idle'],
    ['drip; ms=3000', { idleMs: 500, firstByteMs: 60_000, totalMs: 500 }, 'total'],
    // A stall of the machine is silence, too: it must not come first.
    ['drip; ms=20', { idleMs: 5_000, totalMs: 500 }, 'total'],
  ]
  it.each(cases)(
    '%s ends in time on every protocol [faults 43, 44]',
    async (fault, deadlines, deadline) => {
      await Promise.all(
        WIRES.map((wire) =>
          kept(500, async () => {
            bench.server.faults.next(fault, {
              when: ({ bodyText }) => bodyText.includes(`to ${wire}.`),
            })
            const request = asking(`This goes to ${wire}. ${question}`)
            const heard = await hear(bench.modelOf(wire).stream(request, within(deadlines)))
            expect(heard.end.outcome).toEqual({ kind: 'deadline', deadline })
            return heard
          }),
        ),
      )
    },
  )

  it('one byte every so often is silence if it is too slow [fault 44]', async () => {
    bench.server.faults.next('drip; ms=700')
    const { end } = await hear(
      bench.modelOf('anthropic').stream(asking(question), within({ idleMs: 300 })),
    )
    expect(end.outcome).toEqual({ kind: 'deadline', deadline: 'idle' })
  })

  it('a connection that never comes about ends by the connect deadline', async () => {
    const deaf = await openBench({
      open: (origin) => new UndiciPool(origin, { connect: () => {} }),
    })
    await kept(300, async () => {
      const heard = await hear(
        deaf.modelOf('anthropic').stream(asking(question), within({ connectMs: 300 })),
      )
      expect(heard.end.outcome).toEqual({ kind: 'deadline', deadline: 'connect' })
      return heard
    })
    await deaf.close()
  })

  it('of connecting and of the first byte do not end a healthy long stream [fault 61]', async () => {
    const slow = await openBench({ speed: { outputTokensPerSecond: 16 } })
    const { end, text } = await hear(
      slow
        .modelOf('openai-chat')
        .stream(asking(words(60)), within({ connectMs: 3_000, firstByteMs: 3_000 })),
    )
    expect(end.outcome).toEqual({ kind: 'finished', finish: 'stop' })
    expect(text).toBe('word'.repeat(60))
    await slow.close()
  })

  it('count at the socket: a reader that sleeps does not hide a dead peer [fault 60]', async () => {
    const before = bench.server.journal.requests
    bench.server.faults.next('stall-mid-stream')
    const stream = bench.modelOf('anthropic').stream(asking(words(400)), within({ idleMs: 200 }))
    const reader = stream[Symbol.asyncIterator]()
    await reader.next()
    const entry = () => bench.server.journal.entries.find(({ number }) => number === before + 1)
    await expect.poll(() => entry()?.outcome).toBe('left')
    let last = await reader.next()
    for (let next = last; next.done !== true; next = await reader.next()) last = next
    expect(last.value).toMatchObject({ outcome: { kind: 'deadline', deadline: 'idle' } })
  })

  it('of the whole call end a flood that is not read; it is bounded, and what arrived can be read', async () => {
    const flood = await openFlood()
    const stream = bench
      .modelOf('openai-chat', { baseUrl: flood.url })
      .stream(asking(question), within({ totalMs: 3_500, idleMs: 2_500 }))
    const reader = stream[Symbol.asyncIterator]()
    const first = await reader.next()
    expect(first.value).toMatchObject({ kind: 'text' })
    await expect.poll(() => flood.open()).toBe(0)
    expect(flood.bytes()).toBeLessThan(64_000_000)
    let last = await reader.next()
    let length = 0
    for (let next = last; next.done !== true; next = await reader.next()) {
      last = next
      if (next.value.kind === 'text') length += next.value.text.length
    }
    expect(last.value).toMatchObject({ outcome: { kind: 'deadline', deadline: 'total' } })
    expect(length).toBeGreaterThan(100_000)
    await flood.close()
  })
})

describe('a server that cannot be reached', () => {
  it.each([
    ['server-down', 'http://127.0.0.1:9', undefined],
    ['dns', 'http://nowhere.invalid', 'ENOTFOUND'],
  ] as const)('is reported as %s [fault 56]', async (fault, baseUrl, code) => {
    const other = await openBench(
      code === undefined
        ? {}
        : {
            open: (origin) =>
              new UndiciPool(origin, {
                connect: {
                  lookup: (_host, _options, found) =>
                    found(Object.assign(new Error(), { code }), ''),
                },
              }),
          },
    )
    const { end } = await hear(
      other
        .modelOf('anthropic', { baseUrl })
        .stream(asking(question), within({ connectMs: 5_000 })),
    )
    expect(end.outcome).toEqual({ kind: 'connection', fault, freshLoanHelps: false })
    await other.close()
  })

  it('because it speaks no TLS is reported as tls [fault 56]', async () => {
    const plain = createServer((socket) =>
      socket.on('error', () => {}).end('HTTP/1.1 400 No\r\n\r\n'),
    )
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    const baseUrl = `https://127.0.0.1:${(plain.address() as AddressInfo).port}`
    const { end } = await hear(
      bench.modelOf('anthropic', { baseUrl }).stream(asking(question), within()),
    )
    expect(end.outcome).toEqual({ kind: 'connection', fault: 'tls', freshLoanHelps: false })
    plain.close()
  })

  it('for want of a credential is not asked', async () => {
    const credential = { kind: 'variable', name: 'NO_SUCH_KEY' } as const
    const before = bench.server.journal.requests
    const { end } = await hear(
      bench.modelOf('anthropic', { credential }).stream(asking(question), within()),
    )
    expect(end.outcome).toEqual({ kind: 'refused', refusal: 'no-credential' })
    expect(bench.server.journal.requests).toBe(before)
  })
})
