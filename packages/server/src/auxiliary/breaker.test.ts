import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  ANSWERED,
  BREAKER_ATTEMPTS_MAX,
  BREAKER_WINDOW_MS,
  breakerStateOf,
  failureIn,
  failuresOf,
  isOfTheRoute,
  wordOf,
} from './breaker.ts'

const NOW = 10_000_000
/** Newest first, a second apart, the newest `agoMs` ago. */
const attempts = (outcomes: readonly string[], agoMs = 0) =>
  outcomes.map((outcome, index) => ({ outcome, at: NOW - agoMs - index * 1_000 }))

const reset = wordOf({ kind: 'connection', fault: 'reset', freshLoanHelps: true })
const badKey = wordOf({ kind: 'refused', refusal: 'bad-key' })

describe('standingOf', () => {
  it('stays closed below three failures in a row', () => {
    expect(breakerStateOf([], NOW)).toEqual({ kind: 'closed' })
    expect(breakerStateOf(attempts([reset, reset]), NOW)).toEqual({ kind: 'closed' })
    expect(breakerStateOf(attempts([reset, reset, 'answered', reset]), NOW)).toEqual({
      kind: 'closed',
    })
  })

  it('opens at the third failure for half a minute, doubling up to ten minutes', () => {
    const untilAfter = (count: number) => {
      const state = breakerStateOf(attempts(Array(count).fill(reset)), NOW)
      return state.kind === 'open' ? state.until - NOW : state.kind
    }
    expect([3, 4, 5, 9, 200].map(untilAfter)).toEqual([30_000, 60_000, 120_000, 600_000, 600_000])
  })

  it('is half-open after its pause, and closed by one answer', () => {
    const failures = Array(3).fill(reset)
    expect(breakerStateOf(attempts(failures, 30_000), NOW)).toEqual({
      kind: 'half-open',
      since: NOW,
    })
    expect(breakerStateOf(attempts(['answered', ...failures]), NOW)).toEqual({ kind: 'closed' })
  })

  it('opens at once for a failure that a retry cannot change', () => {
    expect(breakerStateOf(attempts([badKey]), NOW)).toEqual({ kind: 'open', until: NOW + 30_000 })
  })

  it("ignores failures that are not the route's fault", () => {
    const others = [
      'interrupted',
      'probing',
      'overflow',
      'refused:content',
      'refused:bad-request',
      'unusable:refusal',
    ]
    expect(breakerStateOf(attempts([...others, ...others]), NOW)).toEqual({ kind: 'closed' })
  })

  it('ignores an attempt in the future, because a clock jumped', () => {
    expect(breakerStateOf(attempts([reset, reset, reset], -60_000), NOW)).toEqual({
      kind: 'closed',
    })
  })

  it('never pauses longer than ten minutes, for any record', () => {
    const outcome = fc.constantFrom(reset, badKey, 'answered', 'interrupted', 'anything')
    const rows = fc.array(fc.record({ outcome, at: fc.integer({ min: 0, max: 2 * NOW }) }))
    fc.assert(
      fc.property(rows, (list) => {
        const state = breakerStateOf(list, NOW)
        return state.kind !== 'open' || state.until <= NOW + 600_000
      }),
    )
  })
})

it('restores the outcome of a recorded failure, with its status', () => {
  const limited = { kind: 'refused', refusal: 'rate-limit', status: 429 } as const
  const word = wordOf(limited)
  expect(word).toBe('refused:rate-limit:429')
  expect(failureIn(word)).toEqual(limited)
  expect(isOfTheRoute(word)).toBe(true)
  expect(failureIn(ANSWERED)).toBeNull()
})

describe('the word of an outcome', () => {
  it.each<[string, Parameters<typeof wordOf>[0]]>([
    ['deadline:idle', { kind: 'deadline', deadline: 'idle' }],
    ['connection:tls', { kind: 'connection', fault: 'tls', freshLoanHelps: false }],
    ['malformed:no-end', { kind: 'malformed', what: 'no-end' }],
    ['refused:bad-key:401', { kind: 'refused', refusal: 'bad-key', status: 401 }],
    ['refused:content', { kind: 'refused', refusal: 'content' }],
  ])('%s is read back as it was', (word, outcome) => {
    expect(wordOf(outcome)).toBe(word)
    expect(failureIn(word)).toEqual(outcome)
  })

  it.each<[string, Parameters<typeof wordOf>[0]]>([
    ['answered', { kind: 'finished', finish: 'stop' }],
    ['unusable:length', { kind: 'finished', finish: 'length' }],
    ['interrupted', { kind: 'interrupted' }],
    ['overflow', { kind: 'overflow' }],
  ])('%s is no failure of a route', (word, outcome) => {
    expect([wordOf(outcome), failureIn(word), isOfTheRoute(word)]).toEqual([word, null, false])
  })
})

// What one such failure does to its route: nothing, a pause after the third, a pause at once.
it.each([
  ['interrupted', 'closed', false],
  ['probing', 'closed', false],
  ['overflow', 'closed', false],
  ['unusable:length', 'closed', false],
  ['refused:content', 'closed', false],
  ['refused:bad-request:400', 'closed', false],
  ['deadline:idle', 'closed', true],
  ['connection:reset', 'closed', true],
  ['malformed:no-end', 'closed', true],
  ['refused:rate-limit:429', 'closed', true],
  ['refused:overloaded:529', 'closed', true],
  ['refused:server-error:500', 'closed', true],
  ['refused:no-credit:402', 'open', true],
  ['refused:bad-key:401', 'open', true],
  ['refused:no-credential', 'open', true],
  ['refused:not-found:404', 'open', true],
  ['connection:tls', 'open', true],
  ['malformed:not-sent', 'open', true],
  ['malformed:redirect', 'open', true],
])('one %s leaves its route %s', (word, kind, isOfItsRoute) => {
  expect(breakerStateOf(attempts([word]), NOW).kind).toBe(kind)
  expect(isOfTheRoute(word)).toBe(isOfItsRoute)
  expect(breakerStateOf(attempts(Array(3).fill(word)), NOW).kind).toBe(
    isOfItsRoute ? 'open' : 'closed',
  )
})

it('counts failures since the last answer, without what is no failure of the route', () => {
  const words = ['overflow', 'deadline:idle', 'interrupted', 'connection:reset', 'answered', reset]
  expect(failuresOf(attempts(words), NOW)).toEqual({
    ...{ failures: 2, failedAt: NOW - 1_000, isHopeless: false },
  })
  expect(failuresOf(attempts([badKey, reset]), NOW)).toEqual({
    ...{ failures: 2, failedAt: NOW, isHopeless: true },
  })
  expect(failuresOf(attempts([reset, badKey]), NOW).isHopeless).toBe(false)
  expect(failuresOf([{ outcome: reset, at: NOW + 1 }], NOW)).toEqual({
    ...{ failures: 0, failedAt: undefined, isHopeless: false },
  })
})

it('reads the attempts of an hour, 200 at most', () => {
  expect([BREAKER_WINDOW_MS, BREAKER_ATTEMPTS_MAX]).toEqual([3_600_000, 200])
})
