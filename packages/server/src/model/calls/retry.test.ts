import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEADLINES } from '../connections/deadlines.ts'
import type { Outcome } from '../outcomes/outcome.ts'
import { decideRetry, probeDelayMs, type Situation, splitDeadlines, TRIES_MAX } from './retry.ts'

function situation(outcome: Outcome, rest: Partial<Situation> = {}): Situation {
  return {
    outcome,
    tries: 1,
    freshTries: 0,
    hasRenewed: false,
    routesLeft: 0,
    remainingMs: 60_000,
    chance: 0.5,
    ...rest,
  }
}

const reset: Outcome = { kind: 'connection', fault: 'reset', freshLoanHelps: true }
const down: Outcome = { kind: 'connection', fault: 'server-down', freshLoanHelps: false }
const idle: Outcome = { kind: 'deadline', deadline: 'idle' }
const limited: Outcome = { kind: 'refused', refusal: 'rate-limit', status: 429 }

describe('decideRetry', () => {
  it('stops at once if the call succeeded, the context is too large, or retrying cannot help', () => {
    const outcomes: readonly Outcome[] = [
      { kind: 'finished', finish: 'length' },
      { kind: 'interrupted' },
      { kind: 'overflow' },
      { kind: 'refused', refusal: 'bad-request', status: 400 },
      { kind: 'refused', refusal: 'not-found', status: 404 },
      { kind: 'refused', refusal: 'no-credential' },
      { kind: 'connection', fault: 'tls', freshLoanHelps: false },
    ]
    for (const outcome of outcomes) {
      expect(decideRetry(situation(outcome, { routesLeft: 2 }))).toEqual({ kind: 'stop' })
    }
  })

  it('retries a bad connection, silence or a damaged answer once on a fresh connection, then on another route', () => {
    for (const outcome of [reset, idle, { kind: 'malformed', what: 'no-end' } as const]) {
      const fresh = { kind: 'again', delayMs: 0, isFresh: true }
      expect(decideRetry(situation(outcome, { routesLeft: 1 }))).toEqual(fresh)
      const second = { tries: 2, freshTries: 1 }
      expect(decideRetry(situation(outcome, { ...second, routesLeft: 1 }))).toEqual({
        kind: 'next-route',
      })
      expect(decideRetry(situation(outcome, second))).toEqual({ kind: 'stop' })
    }
  })

  it('waits longer each time for a server that is down or busy, for a few attempts', () => {
    for (const outcome of [down, limited]) {
      const delays = [1, 2, 3].map((tries) => decideRetry(situation(outcome, { tries })))
      expect(delays).toEqual([
        { kind: 'again', delayMs: 375 },
        { kind: 'again', delayMs: 750 },
        { kind: 'again', delayMs: 1_500 },
      ])
      expect(decideRetry(situation(outcome, { tries: TRIES_MAX }))).toEqual({ kind: 'stop' })
    }
  })

  it("honours the provider's delay if it leaves time for the attempt and the other routes", () => {
    const asked = (retryAfterMs: number, rest: Partial<Situation> = {}) =>
      decideRetry(situation({ ...limited, retryAfterMs } as Outcome, rest))
    expect(asked(20_000, { chance: 0 })).toEqual({ kind: 'again', delayMs: 20_000 })
    // The provider gives the same delay to all clients that it refused together.
    expect(asked(20_000, { chance: 1 })).toEqual({ kind: 'again', delayMs: 25_000 })
    expect(asked(20_000, { routesLeft: 3 })).toEqual({ kind: 'next-route' })
    expect(asked(86_400_000)).toEqual({ kind: 'stop' })
    expect(asked(0)).toEqual({ kind: 'again', delayMs: 0 })
  })

  it('reloads a refused credential once', () => {
    const refused: Outcome = { kind: 'refused', refusal: 'bad-key', status: 401 }
    expect(decideRetry(situation(refused))).toEqual({ kind: 'renew' })
    expect(decideRetry(situation(refused, { hasRenewed: true, routesLeft: 1 }))).toEqual({
      kind: 'stop',
    })
  })

  it('switches to another route when the account has no credit', () => {
    const empty: Outcome = { kind: 'refused', refusal: 'no-credit', status: 402 }
    expect(decideRetry(situation(empty, { routesLeft: 1 }))).toEqual({ kind: 'next-route' })
    expect(decideRetry(situation(empty))).toEqual({ kind: 'stop' })
  })

  it('stops when the time is up', () => {
    expect(decideRetry(situation(reset, { remainingMs: 0, routesLeft: 1 }))).toEqual({
      kind: 'stop',
    })
  })
})

describe('splitDeadlines', () => {
  it('never adds up to more than the deadline: the silences of all attempts fit into the remaining time', () => {
    const property = fc.property(
      fc.integer({ min: 1, max: 1_000_000 }),
      fc.integer({ min: 0, max: 4 }),
      (totalMs, routes) => {
        let remainingMs = totalMs
        for (let routesLeft = routes; routesLeft >= 0; routesLeft--) {
          for (const freshTries of [0, 1]) {
            const split = splitDeadlines(DEADLINES, { remainingMs, freshTries, routesLeft })
            expect(split.totalMs).toBe(remainingMs)
            // The last attempt has as much time as the first.
            const fairMs = Math.min(DEADLINES.firstByteMs, totalMs / (2 * (routes + 1)))
            expect(split.firstByteMs).toBeGreaterThanOrEqual(fairMs * 0.999)
            remainingMs -= Math.max(split.connectMs, split.firstByteMs, split.idleMs)
          }
        }
        expect(remainingMs).toBeGreaterThanOrEqual(-0.001)
      },
    )
    fc.assert(property)
  })

  it('gives an attempt that is being answered all the remaining time', () => {
    const split = splitDeadlines(DEADLINES, { remainingMs: 600_000, freshTries: 0, routesLeft: 0 })
    expect(split).toEqual(DEADLINES)
  })
})

describe('probeDelayMs', () => {
  it('grows from half a minute to ten and never leaves these bounds', () => {
    const delays = [1, 2, 3, 4, 5, 6, 60, 2_000].map((failures) => probeDelayMs(failures, 0))
    expect(delays).toEqual([30_000, 60_000, 120_000, 240_000, 480_000, 600_000, 600_000, 600_000])
    expect(probeDelayMs(1, 1)).toBe(37_500)
    expect(probeDelayMs(9, 1)).toBe(600_000)
  })
})

const noCredit: Outcome = { kind: 'refused', refusal: 'no-credit', status: 402 }
const badKey: Outcome = { kind: 'refused', refusal: 'bad-key', status: 401 }
const asked = (retryAfterMs: number): Outcome => ({ ...limited, retryAfterMs }) as Outcome
const again = (delayMs: number) => ({ kind: 'again', delayMs })
const next = { kind: 'next-route' }
const stop = { kind: 'stop' }

describe('each decision', () => {
  it.each<[string, Outcome, Partial<Situation>, object]>([
    // Half of 500 ms is random; each try doubles it, to eight seconds.
    ['the first pause, at least', limited, { chance: 0 }, again(250)],
    ['the first pause, at most', limited, { chance: 1 }, again(500)],
    ['the second pause', limited, { tries: 2, chance: 1 }, again(1_000)],
    ['the third pause', down, { tries: 3, chance: 1 }, again(2_000)],
    ['no fourth pause', limited, { tries: 4 }, stop],
    ['another route instead of a fourth', limited, { tries: 4, routesLeft: 1 }, next],
    ['a pause that the provider asks for', asked(1_000), { chance: 0 }, again(1_000)],
    ['up to a quarter more', asked(1_000), { chance: 1 }, again(1_250)],
    ['a pause that leaves time', asked(1_000), { chance: 0, remainingMs: 1_001 }, again(1_000)],
    ['none that leaves no time', asked(1_000), { chance: 0, remainingMs: 1_000 }, stop],
    [
      'a pause that leaves time for two other routes',
      asked(1_000),
      { chance: 0, remainingMs: 3_003, routesLeft: 2 },
      again(1_000),
    ],
    [
      'another route where it leaves none',
      asked(1_000),
      { chance: 0, remainingMs: 3_000, routesLeft: 2 },
      next,
    ],
    ['no time at all', limited, { remainingMs: 0, routesLeft: 1 }, stop],
    ['a fresh connection', reset, {}, { kind: 'again', delayMs: 0, isFresh: true }],
    ['a fresh connection after silence', idle, {}, { kind: 'again', delayMs: 0, isFresh: true }],
    ['no second fresh connection', reset, { freshTries: 1 }, stop],
    ['another route after it', reset, { freshTries: 1, routesLeft: 1 }, next],
    ['no money', noCredit, {}, stop],
    ['no money here', noCredit, { routesLeft: 1 }, next],
    ['a key that was refused', badKey, { remainingMs: 0 }, { kind: 'renew' }],
    ['a key that was refused again', badKey, { hasRenewed: true, routesLeft: 1 }, stop],
  ])('is exact: %s', (_, outcome, rest, decision) => {
    expect(decideRetry(situation(outcome, rest))).toEqual(decision)
  })

  it.each<[object, number]>([
    [{ remainingMs: 6_000, freshTries: 0, routesLeft: 0 }, 3_000],
    [{ remainingMs: 6_000, freshTries: 1, routesLeft: 0 }, 6_000],
    [{ remainingMs: 6_000, freshTries: 2, routesLeft: 0 }, 6_000],
    [{ remainingMs: 6_000, freshTries: 0, routesLeft: 2 }, 1_000],
    [{ remainingMs: 6_000, freshTries: 1, routesLeft: 2 }, 1_200],
  ])('shares the time that is left: %j', (rest, shareMs) => {
    const own = { connectMs: 2_000, firstByteMs: 9_000, idleMs: 1_100, totalMs: 99_000 }
    expect(splitDeadlines(own, rest as never)).toEqual({
      ...{ connectMs: Math.min(2_000, shareMs), firstByteMs: Math.min(9_000, shareMs) },
      ...{ idleMs: Math.min(1_100, shareMs), totalMs: 6_000 },
    })
  })

  it.each([
    [0, 0, 30_000],
    [1, 0, 30_000],
    [1, 1, 37_500],
    [2, 0, 60_000],
    [5, 0, 480_000],
    [5, 1, 600_000],
    [6, 0, 600_000],
    [60, 1, 600_000],
  ])('waits after %i failures, by chance %i, for %i ms', (failures, chance, delayMs) => {
    expect(probeDelayMs(failures, chance)).toBe(delayMs)
  })
})
