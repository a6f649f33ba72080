import { describe, expect, it } from 'vitest'
import type { Outcome } from './outcome.ts'
import { decideWaiting, type Waiting } from './waiting.ts'

const down: Outcome = { kind: 'refused', refusal: 'overloaded' }
const waiting = (more: Partial<Waiting> = {}): Waiting => ({
  outcome: down,
  failures: 1,
  failedAt: 1_000_000,
  now: 1_000_000,
  chance: 0,
  ...more,
})

describe('decideWaiting', () => {
  it('waits half a minute, twice as long after each failure, ten minutes at most', () => {
    const waits = [1, 2, 3, 5, 6, 50].map((failures) => {
      const decision = decideWaiting(waiting({ failures }))
      return decision.kind === 'wait' ? (decision.until - 1_000_000) / 1_000 : decision.kind
    })
    expect(waits).toEqual([30, 60, 120, 480, 600, 600])
    const longest = decideWaiting(waiting({ failures: 50, chance: 1 }))
    expect(longest).toMatchObject({ kind: 'wait', until: 1_600_000 })
  })

  it('tries when the wait is over, the same after a restart', () => {
    expect(decideWaiting(waiting({ now: 1_029_999 })).kind).toBe('wait')
    expect(decideWaiting(waiting({ now: 1_030_000 }))).toEqual({ kind: 'try', because: 'due' })
  })

  it('tries at once when somebody was answered on the route since', () => {
    const answered = decideWaiting(waiting({ failures: 9, answeredAt: 1_000_001, now: 1_000_500 }))
    expect(answered).toEqual({ kind: 'try', because: 'answered' })
    expect(decideWaiting(waiting({ answeredAt: 999_999 })).kind).toBe('wait')
  })

  it('tells the person once', () => {
    expect(decideWaiting(waiting())).toMatchObject({ tellPerson: true })
    expect(decideWaiting(waiting({ failures: 2 }))).toMatchObject({ tellPerson: false })
  })

  it.each<Outcome>([
    { kind: 'refused', refusal: 'bad-key', status: 401 },
    { kind: 'refused', refusal: 'bad-request', status: 400 },
    { kind: 'connection', trouble: 'tls', freshLoanHelps: false },
  ])('ends at once what waiting does not heal, and says what to do: $kind', (outcome) => {
    const decision = decideWaiting(waiting({ outcome }))
    expect(decision).toEqual({ kind: 'end', explanation: expect.stringMatching(/;|check/) })
  })

  it('is not held up by a clock that was set back', () => {
    const far = decideWaiting(waiting({ now: 0 }))
    expect(far).toEqual({ kind: 'try', because: 'due' })
  })
})
