import { describe, expect, it } from 'vitest'
import { FakeClock } from '../../../../../test/model/fake-clock.ts'
import type { CallOptions, EndPiece, Model, StreamPiece } from '../model.ts'
import type { Outcome } from '../outcomes/outcome.ts'
import { callModel } from './call.ts'

const finished: Outcome = { kind: 'finished', finish: 'stop' }
const overloaded: Outcome = { kind: 'refused', refusal: 'overloaded', status: 529 }
const reset: Outcome = { kind: 'connection', fault: 'reset', freshLoanHelps: true }
const badKey: Outcome = { kind: 'refused', refusal: 'bad-key', status: 401 }
const noCredit: Outcome = { kind: 'refused', refusal: 'no-credit', status: 402 }

interface Scripted {
  readonly says?: string
  readonly takesMs?: number
  readonly outcome: Outcome
}

/** A model that plays a list of scripted attempts and records its requests. */
function scripted(clock: FakeClock, name: string, tries: readonly Scripted[]) {
  const asked: (CallOptions & { readonly atMs: number })[] = []
  let renewals = 0
  const model: Model = {
    route: {
      name,
      provider: 'openai-chat',
      baseUrl: 'http://127.0.0.1:1',
      credential: { kind: 'none' },
      model: name,
    },
    async *stream(_, options) {
      const turn = tries[asked.length] ?? { outcome: finished }
      asked.push({ ...options, atMs: clock.monotonic() })
      if (options.signal.aborted) {
        yield { kind: 'end', outcome: { kind: 'interrupted' }, reply: null }
        return
      }
      const { says, takesMs = 0, outcome } = turn
      const { promise, resolve } = Promise.withResolvers<void>()
      clock.after(Math.min(takesMs, options.deadlines.totalMs), resolve)
      await promise
      if (says !== undefined) yield { kind: 'text', text: says }
      const reply = says === undefined ? null : said(says)
      yield { kind: 'end', outcome, reply, usage: { inputTokens: 10, outputTokens: 1 } }
    },
    renew: async () => {
      renewals++
      return renewals === 1
    },
  }
  return { model, asked }
}

function said(text: string) {
  return { role: 'assistant', parts: [{ type: 'text', text }] } as const
}

const deadlines = { connectMs: 1_000, firstByteMs: 5_000, idleMs: 5_000, totalMs: 20_000 }

async function run(
  clock: FakeClock,
  models: readonly [Model, ...Model[]],
  { signal = new AbortController().signal, totalMs = 20_000 } = {},
) {
  const pieces: StreamPiece[] = []
  const options = { purpose: 'turn', signal, clock, random: () => 0 }
  const call = callModel(
    models,
    { messages: [] },
    { ...options, deadlines: { ...deadlines, totalMs } },
  )
  let isDone = false
  const reading = (async () => {
    for await (const piece of call) pieces.push(piece)
    isDone = true
  })()
  for (let step = 0; step < 2_000 && !isDone; step++) await clock.pass(50)
  await reading
  const end = pieces.at(-1) as EndPiece
  return { pieces, end, tookMs: clock.monotonic() }
}

describe('a call', () => {
  it('that is answered passes on every piece', async () => {
    const clock = new FakeClock()
    const main = scripted(clock, 'main', [{ says: 'hello', outcome: finished }])
    const { pieces } = await run(clock, [main.model])
    expect(pieces.map(({ kind }) => kind)).toEqual(['text', 'end'])
  })

  it('retries a bad connection at once, and voids the text before it', async () => {
    const clock = new FakeClock()
    const main = scripted(clock, 'main', [
      { says: 'hel', outcome: reset },
      { says: 'hello', outcome: finished },
    ])
    const { pieces, end } = await run(clock, [main.model])
    expect(pieces.map(({ kind }) => kind)).toEqual(['text', 'retry', 'text', 'end'])
    expect(end.reply).toEqual(said('hello'))
    expect(end.usage).toMatchObject({ inputTokens: 20, outputTokens: 2 })
    expect(main.asked.map(({ atMs }) => atMs)).toEqual([0, 0])
  })

  it('uses the fallbacks in order and ends with the last outcome', async () => {
    const clock = new FakeClock()
    const failing = Array.from({ length: 9 }, () => ({ outcome: overloaded }))
    const [main, second, third] = ['main', 'second', 'third'].map((name) =>
      scripted(clock, name, failing),
    )
    if (!main || !second || !third) throw new Error('three were made')
    const { end, pieces } = await run(clock, [main.model, second.model, third.model])
    expect(end.outcome).toEqual(overloaded)
    expect([main, second, third].map(({ asked }) => asked.length)).toEqual([4, 4, 4])
    const positions = pieces.flatMap((piece) => (piece.kind === 'retry' ? [piece.route] : []))
    expect([...new Set(positions)]).toEqual(['main', 'second', 'third'])
  })

  it('keeps partial text if no later attempt produced any', async () => {
    const clock = new FakeClock()
    const main = scripted(clock, 'main', [{ says: 'half', outcome: reset }, { outcome: reset }])
    const { end } = await run(clock, [main.model])
    expect(end).toMatchObject({ outcome: reset, reply: said('half') })
  })

  it('has one deadline for all attempts, however long a delay the provider requests', async () => {
    const clock = new FakeClock()
    const busy = { outcome: { ...overloaded, retryAfterMs: 1_500 } as Outcome, takesMs: 500 }
    const main = scripted(clock, 'main', Array(20).fill(busy))
    const { tookMs } = await run(clock, [main.model], { totalMs: 5_000 })
    expect(tookMs).toBeLessThanOrEqual(5_050)
    for (const { atMs, deadlines: given } of main.asked) {
      expect(atMs + given.totalMs).toBeLessThanOrEqual(5_000)
    }
  })

  it('gives a silent attempt only its share of the time', async () => {
    const clock = new FakeClock()
    const main = scripted(clock, 'main', [])
    await run(clock, [main.model, scripted(clock, 'second', []).model], { totalMs: 6_000 })
    expect(main.asked[0]?.deadlines).toEqual({
      connectMs: 1_000,
      firstByteMs: 1_500,
      idleMs: 1_500,
      totalMs: 6_000,
    })
  })

  it('reads the credential again once, and stops if it is still refused', async () => {
    const clock = new FakeClock()
    const main = scripted(clock, 'main', [{ outcome: badKey }, { outcome: badKey }])
    const spare = scripted(clock, 'spare', [])
    const { end } = await run(clock, [main.model, spare.model])
    expect(end.outcome).toEqual(badKey)
    expect(main.asked).toHaveLength(2)
    expect(spare.asked).toHaveLength(0)
  })

  it('reads the credential of each fallback again, as it did that of the first', async () => {
    const clock = new FakeClock()
    const main = scripted(clock, 'main', [{ outcome: badKey }, { outcome: noCredit }])
    const second = scripted(clock, 'second', [
      { outcome: badKey },
      { says: 'hello', outcome: finished },
    ])
    const { end } = await run(clock, [main.model, second.model])
    expect([main.asked.length, second.asked.length]).toEqual([2, 2])
    expect(end).toMatchObject({ outcome: finished, reply: said('hello') })
  })

  it('whose credential is slow to reload keeps its deadline, and stops on abort', async () => {
    const hanging = (clock: FakeClock) => ({
      ...scripted(clock, 'main', [{ outcome: badKey }, { outcome: finished, takesMs: 60_000 }])
        .model,
      renew: () => new Promise<boolean>(() => {}),
    })
    const late = new FakeClock()
    const { tookMs } = await run(late, [hanging(late)], { totalMs: 5_000 })
    expect(tookMs).toBeLessThanOrEqual(5_100)
    expect(late.timers).toBe(0)

    const stopped = new FakeClock()
    const controller = new AbortController()
    stopped.after(1_000, () => controller.abort())
    const { end, tookMs: untilStop } = await run(stopped, [hanging(stopped)], {
      signal: controller.signal,
    })
    expect(end.outcome).toEqual({ kind: 'interrupted' })
    expect(untilStop).toBeLessThanOrEqual(1_100)
    expect(stopped.timers).toBe(0)
  })

  it('that is interrupted while it waits ends at once as interrupted, and leaves no timer', async () => {
    const clock = new FakeClock()
    const controller = new AbortController()
    const main = scripted(clock, 'main', [
      { outcome: { ...overloaded, retryAfterMs: 9_000 } as Outcome },
    ])
    clock.after(1_000, () => controller.abort())
    const { end, tookMs } = await run(clock, [main.model], { signal: controller.signal })
    expect(end.outcome).toEqual({ kind: 'interrupted' })
    expect(tookMs).toBeLessThanOrEqual(1_100)
    expect(clock.timers).toBe(0)
  })
})
