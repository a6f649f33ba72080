import { describe, expect, it } from 'vitest'
import { operationId, sessionId } from '#core/base/ids'
import { MemoryAttempts } from '../../../../test/model/memory-attempts.ts'
import { ALLOWANCE, Allowance } from './allowance.ts'
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

it('without a word of the operator is 20 million tokens of a session and 200 of a host, in a day', () => {
  expect(ALLOWANCE).toEqual({
    ...{ windowMs: 86_400_000, session: { tokens: 20_000_000 }, host: { tokens: 200_000_000 } },
  })
})

it.each([
  ['session-tokens', { session: { tokens: 99 } }],
  ['session-cost', { session: { cost: 9 } }],
  ['host-tokens', { host: { tokens: 99 } }],
  ['host-cost', { host: { cost: 9 } }],
])(
  'names %s as the limit that is exceeded, which frees what it asked for',
  async (which, limits) => {
    const allowance = new Allowance(new MemoryAttempts(), { windowMs: 1, ...limits })
    const large = { sessionId: A, tokens: 100, cost: 10 }
    const small = { sessionId: A, tokens: 99, cost: 9 }
    expect(await allowance.reserve(large, 0)).toEqual({ kind: 'exceeded', which })
    expect(await allowance.reserve(small, 0)).toEqual({
      ...{ kind: 'reserved', release: expect.any(Function) },
    })
    const elsewhere = await allowance.reserve({ ...small, sessionId: B }, 0)
    expect(elsewhere.kind).toBe(which.startsWith('host') ? 'exceeded' : 'reserved')
  },
)

it('counts input, output and money of the calls in its window, from its first moment on', async () => {
  const attempts = new MemoryAttempts()
  await attempts.record(spent(50, { outputTokens: 30, at: 1_500 }))
  const allowance = new Allowance(attempts, { windowMs: 500, host: { tokens: 100 } })
  expect((await allowance.reserve(asked(21), 2_000)).kind).toBe('exceeded')
  expect((await allowance.reserve(asked(20), 2_000)).kind).toBe('reserved')
  expect((await allowance.reserve(asked(80), 2_001)).kind).toBe('reserved')
})
