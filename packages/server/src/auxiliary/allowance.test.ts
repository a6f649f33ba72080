import { describe, expect, it } from 'vitest'
import { operationId, sessionId } from '#core/base/ids'
import { MemoryAttempts } from '../../../../test/model/memory-attempts.ts'
import { Allowance } from './allowance.ts'
import type { Attempt } from './attempts.ts'

const A = sessionId('a')
const B = sessionId('b')
let attempts = 0
const spent = (tokens: number, more: Partial<Attempt> = {}): Attempt => ({
  id: operationId(`o${++attempts}`),
  sessionId: A,
  task: 'compaction',
  modelRoute: 'r',
  outcome: 'answered',
  inputTokens: tokens,
  outputTokens: 0,
  cachedTokens: 0,
  cost: null,
  at: 1_000,
  ...more,
})
const asked = (tokens: number, id = A) => ({ sessionId: id, tokens, cost: 0 })

describe('an allowance', () => {
  it('counts spent, running and requested amounts; the limit itself is allowed', async () => {
    const attempts = new MemoryAttempts()
    const limits = { windowMs: 10_000, session: { tokens: 100 } }
    const allowance = new Allowance(attempts, limits)
    await attempts.record(spent(60))
    expect((await allowance.reserve(asked(41), 2_000)).kind).toBe('exceeded')
    const first = await allowance.reserve(asked(30), 2_000)
    expect(first.kind).toBe('reserved')
    expect(await allowance.reserve(asked(11), 2_000)).toEqual({
      kind: 'exceeded',
      which: 'session-tokens',
    })
    if (first.kind === 'reserved') first.release()
    expect((await allowance.reserve(asked(40), 2_000)).kind).toBe('reserved')
  })

  it('counts two concurrent requests against each other', async () => {
    const allowance = new Allowance(new MemoryAttempts(), { windowMs: 1, host: { tokens: 100 } })
    const kinds = await Promise.all(
      [A, B].map(async (id) => (await allowance.reserve(asked(60, id), 0)).kind),
    )
    expect(kinds).not.toEqual(['reserved', 'reserved'])
  })

  it('ignores calls before its window, and other sessions', async () => {
    const attempts = new MemoryAttempts()
    const allowance = new Allowance(attempts, { windowMs: 500, session: { tokens: 100 } })
    await attempts.record(spent(100))
    await attempts.record(spent(100, { sessionId: B, at: 1_900 }))
    expect((await allowance.reserve(asked(100), 2_000)).kind).toBe('reserved')
  })

  it('counts money separately, and nothing for calls without a price', async () => {
    const attempts = new MemoryAttempts()
    const allowance = new Allowance(attempts, { windowMs: 10_000, host: { cost: 50 } })
    await attempts.record(spent(1_000_000))
    await attempts.record(spent(1, { cost: 40 }))
    const cost = async (value: number) =>
      await allowance.reserve({ ...asked(1), cost: value }, 2_000)
    expect(await cost(11)).toEqual({ kind: 'exceeded', which: 'host-cost' })
    expect((await cost(10)).kind).toBe('reserved')
  })

  it('still counts running calls if the record cannot be read', async () => {
    const broken = { ...new MemoryAttempts(), sum: () => Promise.reject(new Error('disk')) }
    const allowance = new Allowance(broken as never, { windowMs: 1, session: { tokens: 100 } })
    expect((await allowance.reserve(asked(80), 0)).kind).toBe('reserved')
    expect((await allowance.reserve(asked(30), 0)).kind).toBe('exceeded')
  })
})
