import { probeDelayMs } from '../model/calls/retry.ts'
import type { Outcome } from '../model/outcomes/outcome.ts'
import type { Attempt } from './attempts.ts'

/**
 * Whether a task may use a route now, from its last attempts there. *closed*: yes. *open*: it
 * failed too often in a row and is paused. *half-open*: the pause is over; one call tries the
 * route, and its outcome decides. A pause lasts ten minutes at most.
 *
 * Only failures of the route count. A summary that one conversation cannot get (its content is
 * refused, it is too long) says nothing about the others.
 */
export type BreakerState =
  | { readonly kind: 'closed' }
  | { readonly kind: 'open'; readonly until: number }
  | { readonly kind: 'half-open'; readonly since: number }

/** How far back attempts are read; the longest pause is a fraction of it. */
export const BREAKER_WINDOW_MS = 3_600_000
export const BREAKER_ATTEMPTS_MAX = 200

// One or two failures are normal, though each already includes the call's own retries.
const FAILURES_MIN = 3

/** `attempts` are those of one task on one route, newest first. */
export function breakerStateOf(attempts: readonly Reported[], now: number): BreakerState {
  const { failures, failedAt, isHopeless } = failuresOf(attempts, now)
  const needed = isHopeless ? 1 : FAILURES_MIN
  if (failedAt === undefined || failures < needed) return { kind: 'closed' }
  const until = failedAt + probeDelayMs(failures - needed + 1, 0)
  return now < until ? { kind: 'open', until } : { kind: 'half-open', since: until }
}

type Reported = Pick<Attempt, 'outcome' | 'at'>

/** How many times in a row a route has failed. */
export function failuresOf(attempts: readonly Reported[], now: number) {
  let failures = 0
  let failedAt: number | undefined
  let isHopeless = false
  for (const { outcome, at } of attempts) {
    // In the future: a clock jumped, so the time of the failure means nothing.
    if (at > now) continue
    if (outcome === ANSWERED) break
    const harm = harmOf(outcome)
    if (harm === 'none') continue
    if (failedAt === undefined) isHopeless = harm === 'until-changed'
    failedAt ??= at
    failures++
  }
  return { failures, failedAt, isHopeless }
}

export const ANSWERED = 'answered'
export const INTERRUPTED = 'interrupted'
/** No call: another process is about to try a paused route. */
export const PROBING = 'probing'

/** The outcome of a call in fixed words, for the record; a refusal with the status it came with. */
export function wordOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'finished':
      return outcome.finish === 'stop' ? ANSWERED : `unusable:${outcome.finish}`
    case 'interrupted':
      return INTERRUPTED
    case 'deadline':
      return `deadline:${outcome.deadline}`
    case 'connection':
      return `connection:${outcome.fault}`
    case 'overflow':
      return 'overflow'
    case 'refused':
      return [
        'refused',
        outcome.refusal,
        ...(outcome.status === undefined ? [] : [outcome.status]),
      ].join(':')
    case 'malformed':
      return `malformed:${outcome.what}`
  }
}

/** The outcome of a recorded word; null: not a failure. */
export function failureIn(word: string): Outcome | null {
  const [kind, what, status] = word.split(':') as [string, never, string?]
  switch (kind) {
    case 'deadline':
      return { kind, deadline: what }
    case 'connection':
      return { kind, fault: what, freshLoanHelps: false }
    case 'malformed':
      return { kind, what }
    case 'refused':
      return { kind, refusal: what, ...(status !== undefined && { status: Number(status) }) }
    default:
      return null
  }
}

/** Whether the failure is the route's fault and not the request's. */
export function isOfTheRoute(outcome: string): boolean {
  return harmOf(outcome) !== 'none'
}

type Harm = 'none' | 'heals' | 'until-changed'

function harmOf(word: string): Harm {
  const outcome = word.split(':', 2).join(':')
  if (UNTIL_CHANGED.includes(outcome)) return 'until-changed'
  const [kind] = outcome.split(':')
  if (kind === 'deadline' || kind === 'connection' || kind === 'malformed') return 'heals'
  return HEALING.includes(outcome) ? 'heals' : 'none'
}

const HEALING = ['refused:rate-limit', 'refused:overloaded', 'refused:server-error']

/** A wrong key fails every time, so one failure is enough. */
const UNTIL_CHANGED = [
  'refused:no-credit',
  'refused:bad-key',
  'refused:no-credential',
  'refused:not-found',
  'connection:tls',
  'malformed:not-sent',
  'malformed:redirect',
]
