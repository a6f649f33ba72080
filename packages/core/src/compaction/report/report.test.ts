import { describe, expect, it } from 'vitest'
import { assistant, user } from '../../../../../test/support/builders.ts'
import { cacheEffect } from './break-even.ts'
import { breakDownAfter, breakDownBefore } from './breakdown.ts'
import { stopwatch } from './stats.ts'

const NOTHING = { inputTokens: 0, cachedTokens: 0, outputTokens: 0 }

describe('cacheEffect', () => {
  const effect = (changed: Partial<Parameters<typeof cacheEffect>[0]>) =>
    cacheEffect({
      ...{ tokensBefore: 1_000, tokensAfter: 400, sharedTokens: 100, spent: NOTHING },
      callsPerTurn: 1,
      ...changed,
    })

  it('counts the lost cached prefix and the rewritten context, without the part that both share', () => {
    // Writing costs 300 times 1.15, each call then saves 600 tenths.
    expect(effect({})).toEqual({
      ...{ lostTokens: 900, rewrittenTokens: 300, breakEvenCalls: 6, breakEvenTurns: 6 },
    })
    const shared = effect({ sharedTokens: 2_000 })
    expect(shared).toMatchObject({ lostTokens: 0, rewrittenTokens: 0, breakEvenCalls: 0 })
  })

  it('counts the cost of the handoff: a tenth for cached input, five times for output', () => {
    const calls = (spent: Partial<typeof NOTHING>) =>
      effect({ sharedTokens: 400, spent: { ...NOTHING, ...spent } }).breakEvenCalls
    expect(calls({})).toBe(0)
    expect(calls({ inputTokens: 600 })).toBe(10)
    expect(calls({ inputTokens: 600, cachedTokens: 600 })).toBe(1)
    expect(calls({ inputTokens: 600, cachedTokens: 300 })).toBe(6)
    expect(calls({ inputTokens: 0, cachedTokens: 600 })).toBe(1)
    expect(calls({ outputTokens: 120 })).toBe(10)
    expect(calls({ outputTokens: 121 })).toBe(11)
  })

  it('never pays off when the context did not shrink', () => {
    expect(effect({ tokensAfter: 1_000 })).toMatchObject({
      ...{ breakEvenCalls: null, breakEvenTurns: null },
    })
    expect(effect({ tokensAfter: 999, sharedTokens: 999 }).breakEvenCalls).toBe(0)
  })

  it('counts whole turns, of at least one call each', () => {
    const turns = (callsPerTurn: number) => effect({ callsPerTurn }).breakEvenTurns
    expect([turns(0), turns(0.5), turns(2), turns(4), turns(6), turns(7)]).toEqual([
      6, 6, 3, 2, 1, 1,
    ])
  })
})

describe('stopwatch', () => {
  it('adds up the time of each stage since the one before', () => {
    let now = 10
    const { laps, lap } = stopwatch(() => now)
    now = 15
    lap('plan')
    now = 22
    lap('write')
    now = 23
    lap('plan')
    expect(laps).toEqual({ plan: 6, write: 7 })
  })

  it('measures nothing without a clock', () => {
    const { laps, lap } = stopwatch(undefined)
    lap('plan')
    expect(laps).toEqual({})
  })
})

describe('the tokens of a context by kind', () => {
  const counters = { countTokens: (text: string) => text.length, countMessage: () => 10 } as never
  const system = { role: 'system', parts: [{ type: 'text', text: 's' }] } as never
  const plan = { cut: 4, incoming: 6, layout: { headFrom: 2 } } as never

  it('separates protected messages, head, tail and the incoming request', () => {
    const messages = [
      system,
      user('a'),
      user('b'),
      assistant('c'),
      user('d'),
      assistant('e'),
      user('f'),
    ]
    expect(breakDownBefore(messages, plan, counters)).toEqual({
      ...{ system: 10, protected: 10, head: 20, tail: 20, incoming: 10 },
    })
  })

  it('counts from the end if the head was replaced', () => {
    const after = { cut: 4, incoming: 6, messagesBefore: 7, layout: { headFrom: 2 } } as never
    const messages = [system, user('a'), user('d'), assistant('e'), user('f')]
    expect(breakDownAfter(messages, after, counters)).toEqual({
      ...{ system: 10, protected: 10, tail: 20, incoming: 10 },
    })
  })

  it('divides the tokens of a handoff among its parts without a remainder', () => {
    const handoff = {
      ...{ summary: 'x'.repeat(20), ledger: [], rules: [{ text: 'r' }] },
      preserved: [{ message: user('p'.repeat(8)) }],
      tasks: [{ text: 't'.repeat(6) }],
      files: [{ path: 'f'.repeat(4) }],
    }
    const counted = { countTokens: (text: string) => text.length, countMessage: () => 80 } as never
    const found = breakDownBefore([{ role: 'handoff', handoff } as never], plan, counted)
    expect(found).toEqual({ preserved: 20, tasks: 12, files: 8, summary: 40 })
  })
})
