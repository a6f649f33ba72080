import { describe, expect, it } from 'vitest'
import type { Clock } from '#core/base/clock'
import { RateLimit, SlotPool } from './limits.ts'

function clockAt(times: { now: number }): Clock {
  return { now: () => times.now, monotonic: () => times.now, after: () => () => {} }
}

describe('RateLimit', () => {
  it('allows a burst, then one request at a time as the bucket refills', () => {
    const times = { now: 0 }
    const limit = new RateLimit(clockAt(times), { perSecond: 2, size: 3 })
    expect([1, 2, 3].map(() => limit.take('a'))).toEqual([0, 0, 0])
    expect(limit.take('a')).toBe(0.5)
    times.now = 500
    expect([limit.take('a'), limit.take('a')]).toEqual([0, 0.5])
  })

  it('counts each name separately', () => {
    const limit = new RateLimit(clockAt({ now: 0 }), { perSecond: 1, size: 1 })
    expect([limit.take('a'), limit.take('b')]).toEqual([0, 0])
    expect(limit.take('a')).toBe(1)
  })

  it('remembers a name that used up its limit, however many new names come', () => {
    const times = { now: 0 }
    const limit = new RateLimit(clockAt(times), { perSecond: 0.001, size: 2 })
    limit.take('greedy')
    limit.take('greedy')
    for (let index = 0; index < 9_999; index++) limit.take(`new ${index}`)
    expect(limit.take('greedy')).toBeGreaterThan(0)
  })
})

describe('Tally', () => {
  it('distinguishes a full name from a full total; a null name counts for the total only', () => {
    const tally = new SlotPool({ total: 3, perName: 1 })
    tally.enter('a')
    expect([tally.hasShare('a'), tally.hasShare('b')]).toEqual([false, true])
    const slots = [tally.enter(null), tally.enter(null), tally.enter('b')]
    expect(slots.map((leave) => leave !== undefined)).toEqual([true, true, false])
    expect(tally.hasShare('b')).toBe(true)
  })

  it('limits the total and each name, and frees a slot only once', () => {
    const tally = new SlotPool({ total: 3, perName: 2 })
    const leave = tally.enter('a')
    tally.enter('a')
    expect(tally.enter('a')).toBeUndefined()
    tally.enter('b')
    expect(tally.enter('c')).toBeUndefined()
    leave?.()
    leave?.()
    expect(tally.total).toBe(2)
    expect(tally.enter('a')).toBeDefined()
    expect(tally.enter('a')).toBeUndefined()
  })
})
