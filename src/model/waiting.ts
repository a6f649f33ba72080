import { explainOutcome, type Outcome, prospectOf } from './outcome.ts'
import { probeDelayMs } from './retry.ts'

/**
 * What becomes of a turn whose model cannot be had, after all retries and fallbacks. The session
 * keeps the count and the time of the last failure, so that the same is decided after a restart.
 */
export interface Waiting {
  readonly outcome: Outcome
  /** Failures in a row, this one included. */
  readonly failures: number
  /** When the last one was, by the wall clock. */
  readonly failedAt: number
  /** When anybody was last answered on the same route, if that is known. */
  readonly answeredAt?: number
  readonly now: number
  /** From 0 to 1; the same for one wait, so that asking again gives the same answer. */
  readonly chance: number
}

export type WaitingDecision =
  /** `due`: the wait is over; `answered`: the route is back, somebody was answered on it. */
  | { readonly kind: 'try'; readonly because: 'due' | 'answered' }
  | { readonly kind: 'wait'; readonly until: number; readonly tellPerson: boolean }
  /** Waiting does not heal it. `explanation` says what somebody has to do. */
  | { readonly kind: 'end'; readonly explanation: string }

export function decideWaiting(waiting: Waiting): WaitingDecision {
  const { outcome, failures, failedAt, answeredAt, now, chance } = waiting
  if (prospectOf(outcome) !== 'heals') return { kind: 'end', explanation: explainOutcome(outcome) }
  if (answeredAt !== undefined && answeredAt > failedAt) return { kind: 'try', because: 'answered' }
  const delayMs = probeDelayMs(failures, chance)
  const until = failedAt + delayMs
  // A clock that was set back must not make the wait longer than any wait is.
  if (now >= until || failedAt > now + delayMs) return { kind: 'try', because: 'due' }
  return { kind: 'wait', until, tellPerson: failures === 1 }
}
