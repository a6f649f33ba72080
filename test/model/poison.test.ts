import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { callModel } from '../../packages/server/src/model/calls/call.ts'
import type { Deadlines } from '../../packages/server/src/model/connections/deadlines.ts'
import type { CallOptions } from '../../packages/server/src/model/model.ts'
import { timerMs } from '../support/timing.ts'
import { asking, hear, openBench, within, words } from './bench.ts'

/**
 * The trouble that the pool exists for: one task's call dies in some way, and from then on every
 * task on that route fails with "Connection error". Here the next call gets a connection that the
 * server has never seen, at once, and a stream that was under way meanwhile arrives whole.
 */
type Bench = Awaited<ReturnType<typeof openBench>>

async function onBench(run: (bench: Bench) => Promise<void>): Promise<void> {
  const bench = await openBench({ speed: { outputTokensPerSecond: 150 } })
  await run(bench)
  await bench.close()
}

const WIRES = ['openai-chat', 'openai-responses', 'codex', 'anthropic'] as const

function options(purpose: string, deadlines: Partial<Deadlines> = {}, signal?: AbortSignal) {
  return { ...within(deadlines, signal), purpose }
}

/** As many as there are connections, so that one that is kept would be used. */
const NEXT = ['compaction', 'compaction', 'compaction', 'memory']

interface Death {
  readonly how: string
  readonly fault?: string
  readonly deadlines?: Partial<Deadlines>
  readonly abortMs?: number
  readonly destroys?: true
  readonly outcome: object
}

const DEATHS: readonly Death[] = [
  {
    how: 'times out in silence',
    fault: 'half-open',
    deadlines: { firstByteMs: 150 },
    outcome: { kind: 'deadline', deadline: 'first-byte' },
  },
  {
    how: 'exceeds its total time mid-stream',
    deadlines: { totalMs: 250 },
    outcome: { kind: 'deadline', deadline: 'total' },
  },
  {
    how: 'stalls mid-stream',
    fault: 'stall-mid-stream',
    deadlines: { idleMs: 150 },
    outcome: { kind: 'deadline', deadline: 'idle' },
  },
  {
    how: 'is half open behind its headers',
    fault: 'stall-after-headers',
    deadlines: { firstByteMs: 150 },
    outcome: { kind: 'deadline', deadline: 'first-byte' },
  },
  {
    how: 'is reset',
    fault: 'reset-before-headers',
    outcome: { kind: 'connection', fault: 'reset' },
  },
  {
    how: 'is reset mid-stream',
    fault: 'cut-stream; how=reset; after=0.1',
    outcome: { kind: 'connection', fault: 'reset' },
  },
  {
    how: 'is aborted in silence',
    fault: 'half-open',
    abortMs: 150,
    outcome: { kind: 'interrupted' },
  },
  {
    how: 'loses its dispatcher',
    destroys: true,
    outcome: { kind: 'connection', fault: 'dispatcher-closed' },
  },
]

describe.each(DEATHS)('a compaction that $how', (death) => {
  it('harms no other call on its route, on any protocol [S4, I22, fault 54]', async () => {
    await Promise.all(WIRES.map((wire) => onBench((bench) => showHarmless(death, wire, bench))))
  })
})

describe('an answer that is stopped while it arrives', () => {
  it('takes its own connection with it, and leaves the others to the next calls [I22]', async () => {
    await Promise.all(WIRES.map((wire) => onBench((bench) => showKept(wire, bench))))
  })
})

async function showKept(wire: (typeof WIRES)[number], { modelOf, pool, server }: Bench) {
  const model = modelOf(wire)
  const sockets = () => server.journal.entries.map(({ socket }) => socket.id)
  const warm = [1, 2, 3].map((n) => model.stream(asking(`say warm ${n}`), options('compaction')))
  await Promise.all(warm.map((stream) => hear(stream)))
  await pass()

  const controller = new AbortController()
  const asked = model.stream(asking(words(6_000)), options('compaction', {}, controller.signal))
  for await (const piece of asked) {
    if (piece.kind === 'text') controller.abort()
    if (piece.kind === 'end') expect(piece.outcome).toEqual({ kind: 'interrupted' })
  }
  await expect.poll(() => server.journal.openRequests).toBe(0)

  const next = [1, 2, 3].map((n) => model.stream(asking(`say next ${n}`), options('compaction')))
  for (const { end } of await Promise.all(next.map((stream) => hear(stream)))) {
    expect(end.outcome).toEqual({ kind: 'finished', finish: 'stop' })
  }
  const [kept, stopped] = [sockets().slice(0, 3), sockets()[3]]
  expect(kept).toContain(stopped)
  const used = sockets().slice(4)
  expect(used).not.toContain(stopped)
  expect(used).toEqual(expect.arrayContaining(kept.filter((id) => id !== stopped)))
  expect([pool.opened, pool.evicted]).toEqual([1, 0])
}

/** A connection is free again a moment after its answer is: some turns of the loop, however late. */
async function pass(): Promise<void> {
  for (let turn = 0; turn < 15; turn++) await sleep(3)
}

async function showHarmless(death: Death, wire: (typeof WIRES)[number], bench: Bench) {
  const model = bench.modelOf(wire)
  const { journal, faults } = bench.server
  const socketOf = (mark: string) =>
    journal.entries.find(({ bodyText }) => bodyText.includes(mark))?.socket.id

  // Three connections are kept from before. None of them may serve what comes after the death: what
  // killed one connection of a line may have killed them all.
  const warm = [1, 2, 3].map((n) => model.stream(asking(`say warm ${n}`), options('compaction')))
  await Promise.all(warm.map((stream) => hear(stream)))
  await pass()
  const kept = journal.entries.map(({ socket }) => socket.id)
  expect(new Set(kept).size).toBe(3)

  // A third task streams all the while, on the very line that will be given up.
  // Where both end by the same death, neither may have ended before.
  const length = death.destroys ? 3_000 : 90
  const bystander = hear(model.stream(asking(words(length)), options('compaction')))
  await expect.poll(() => journal.requests).toBe(4)

  const controller = new AbortController()
  if (death.fault) faults.next(death.fault, { when: ({ bodyText }) => bodyText.includes('dies') })
  if (death.abortMs) setTimeout(() => controller.abort(), death.abortMs)
  const dying = hear(
    model.stream(
      asking(`say ${'dies'.repeat(length)}`),
      options('compaction', death.deadlines, controller.signal),
    ),
  )
  if (death.destroys) {
    // Somebody closes what is not theirs to close: the bystander shares it and is not spared.
    await expect.poll(() => journal.requests).toBe(5)
    await bench.destroyLines()
  }
  expect((await dying).end.outcome).toMatchObject(death.outcome)

  const next = await Promise.all(
    NEXT.map((purpose, at) =>
      hear(model.stream(asking(`say next ${purpose} ${at}`), options(purpose))),
    ),
  )
  for (const { end } of next) expect(end.outcome).toEqual({ kind: 'finished', finish: 'stop' })

  const used = [...kept, socketOf('dies'), socketOf('wordword')]
  for (const [at, purpose] of NEXT.entries()) {
    expect(used).not.toContain(socketOf(`next ${purpose} ${at}`))
  }
  if (!death.destroys) {
    const { end, text } = await bystander
    expect(end.outcome).toEqual({ kind: 'finished', finish: 'stop' })
    expect(text).toBe('word'.repeat(90))
  } else expect((await bystander).end.outcome).toMatchObject(death.outcome)
}

describe('a call with retries', () => {
  let bench: Bench
  beforeEach(async () => {
    bench = await openBench({ speed: { outputTokensPerSecond: 150 } })
  })
  afterEach(() => bench.close())

  const calling = (given: CallOptions) => ({ ...given, clock: bench.clock, random: Math.random })

  it.each(WIRES)(
    'on a kept connection that was reset is answered on a fresh one (%s) [fault 55]',
    async (wire) => {
      const model = bench.modelOf(wire)
      await hear(model.stream(asking('say one'), options('memory')))
      await pass()
      bench.server.faults.next('reset-reused-socket')
      const { end, pieces } = await hear(
        callModel([model], asking('say two'), calling(options('memory'))),
      )
      expect(end.outcome).toEqual({ kind: 'finished', finish: 'stop' })
      expect(pieces.filter(({ kind }) => kind === 'retry')).toMatchObject([
        { after: { kind: 'connection', fault: 'reset' }, delayMs: 0 },
      ])
      const [first, second, third] = bench.server.journal.entries
      expect(second?.socket.id).toBe(first?.socket.id)
      expect(third?.socket.id).not.toBe(second?.socket.id)
    },
  )

  it('on a dead dispatcher is not even a retry: the pool looks before it lends [S4, I22, fault 54]', async () => {
    const model = bench.modelOf('openai-responses')
    await hear(model.stream(asking('say one'), options('memory')))
    await bench.destroyLines()
    const { end } = await hear(model.stream(asking('say two'), options('memory')))
    expect(end.outcome).toEqual({ kind: 'finished', finish: 'stop' })
  })

  it('ends by its one deadline, however many tries hang [S2]', async () => {
    bench.server.faults.always('half-open')
    const tries: number[] = []
    for (let attempt = 0; attempt < 20; attempt++) {
      const plain = timerMs(800)
      const { end, tookMs } = await hear(
        callModel(
          [bench.modelOf('anthropic'), bench.modelOf('openai-chat')],
          asking('say it'),
          calling(options('memory', { totalMs: 800, firstByteMs: 700 })),
        ),
      )
      expect(end.outcome.kind).toBe('deadline')
      expect(tookMs).toBeGreaterThan(720)
      tries.push(tookMs - (await plain))
      if (tries.some((later) => later < 80)) break
    }
    expect(Math.min(...tries)).toBeLessThan(80)
  })

  it('honours Retry-After, and an absurd one only by going elsewhere [fault 41]', async () => {
    const busy = bench.modelOf('openai-chat')
    const spare = bench.modelOf('anthropic')
    bench.server.faults.next('status; code=429; retry-after=0.4')
    const first = await hear(callModel([busy], asking('say it'), calling(options('a'))))
    expect(first.end.outcome.kind).toBe('finished')
    expect(first.tookMs).toBeGreaterThan(390)
    bench.server.faults.next('status; code=429; retry-after=99999')
    const second = await hear(callModel([busy, spare], asking('say it'), calling(options('a'))))
    expect(second.end.outcome.kind).toBe('finished')
    expect(bench.server.journal.last?.path).toBe('/v1/messages')
  })

  it('reads a refused key again and continues with the new one', async () => {
    let isOld = true
    const model = bench.modelOf('anthropic', {
      credential: { kind: 'file', path: bench.keyFile },
    })
    bench.writeKey('old-key')
    bench.server.faults.always('status; code=401', {
      when: ({ headers }) => {
        isOld = headers['x-api-key'] === 'old-key'
        if (isOld) bench.writeKey('new-key')
        return isOld
      },
    })
    const { end } = await hear(callModel([model], asking('say it'), calling(options('a'))))
    expect(end.outcome.kind).toBe('finished')
    expect(bench.server.journal.last?.headers['x-api-key']).toBe('new-key')
  })

  it('continues with the new key even if another call has read it first', async () => {
    bench.writeKey('old-key')
    const isOld = (headers: { readonly [name: string]: unknown }) =>
      headers['x-api-key'] === 'old-key'
    bench.server.faults.always('status; code=401', { when: ({ headers }) => isOld(headers) })
    const ask = async (purpose: string) => {
      const credential = { kind: 'file', path: bench.keyFile } as const
      const model = bench.modelOf('anthropic', { credential })
      return await hear(callModel([gated(model)], asking('say it'), calling(options(purpose))))
    }
    // Both are refused with the old key; the second hears of it after the first has renewed.
    const first = Promise.withResolvers<void>()
    const gates = [Promise.resolve(), first.promise]
    const gated = (model: ReturnType<typeof bench.modelOf>) => {
      const gate = gates.shift()
      return {
        ...model,
        renew: async () => {
          bench.writeKey('new-key')
          await gate
          return await model.renew()
        },
      }
    }
    const [one, two] = [ask('a'), ask('b')]
    expect((await one).end.outcome.kind).toBe('finished')
    first.resolve()
    expect((await two).end.outcome.kind).toBe('finished')
  })

  it('interrupts one task and no other', async () => {
    const controller = new AbortController()
    const model = bench.modelOf('openai-responses')
    const shielded = hear(model.stream(asking(words(60)), options('compaction')))
    const vision = hear(
      callModel([model], asking(words(6_000)), calling(options('vision', {}, controller.signal))),
    )
    await expect.poll(() => bench.server.journal.requests).toBe(2)
    controller.abort()
    expect((await vision).end.outcome).toEqual({ kind: 'interrupted' })
    expect((await shielded).text).toBe('word'.repeat(60))
  })
})
