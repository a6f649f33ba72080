import type { Deadlines } from '../connections/deadlines.ts'
import { type Outcome, prospectOf } from '../outcomes/outcome.ts'

/**
 * Decides whether, when and where a call is retried. Nothing else retries: below this, every call
 * is one request.
 *
 * All attempts share one deadline. Only silence is divided: each attempt may be silent only for its
 * share, while an attempt that is being answered has all the remaining time.
 */
export interface Situation {
  readonly outcome: Outcome
  /** Attempts on this route, including this one. */
  readonly tries: number
  /** Failures on this route that a fresh connection may fix. */
  readonly freshTries: number
  readonly hasRenewed: boolean
  readonly routesLeft: number
  readonly remainingMs: number
  /** A random number from 0 to 1. */
  readonly chance: number
}

export type Decision =
  | { readonly kind: 'again'; readonly delayMs: number; readonly isFresh?: true }
  /** Reload the credential, and retry if it has changed. */
  | { readonly kind: 'renew' }
  | { readonly kind: 'next-route' }
  | { readonly kind: 'stop' }

export const TRIES_MAX = 4
const BACKOFF_MS = 500
const BACKOFF_MS_MAX = 8_000

export function decideRetry(situation: Situation): Decision {
  const { outcome, tries, remainingMs, routesLeft } = situation
  if (outcome.kind === 'refused' && outcome.refusal === 'bad-key' && !situation.hasRenewed) {
    return { kind: 'renew' }
  }
  if (prospectOf(outcome) !== 'heals' || remainingMs <= 0) return { kind: 'stop' }
  const elsewhere: Decision = routesLeft > 0 ? { kind: 'next-route' } : { kind: 'stop' }
  if (outcome.kind === 'refused' && outcome.refusal === 'no-credit') return elsewhere
  if (isOfTheConnection(outcome)) {
    // The bad connection was evicted, so the next loan is a new one.
    return situation.freshTries === 0 ? { kind: 'again', delayMs: 0, isFresh: true } : elsewhere
  }
  if (tries >= TRIES_MAX) return elsewhere
  const delayMs = delayOf(situation)
  // Waiting is useless if it leaves no time for the next attempt or the other routes.
  return delayMs < remainingMs / (routesLeft + 1) ? { kind: 'again', delayMs } : elsewhere
}

/** Silence, a cut or a damaged answer: a new connection may help, and waiting does not. */
function isOfTheConnection(outcome: Outcome): boolean {
  if (outcome.kind === 'connection') return outcome.freshLoanHelps
  return outcome.kind === 'deadline' || outcome.kind === 'malformed'
}

/**
 * The provider's delay plus up to a quarter, because it gives the same delay to all clients;
 * otherwise twice as long each time, half of it random.
 */
function delayOf({ outcome, tries, chance }: Situation): number {
  if (outcome.kind === 'refused' && outcome.retryAfterMs !== undefined) {
    return outcome.retryAfterMs * (1 + chance / 4)
  }
  const delayMs = Math.min(BACKOFF_MS * 2 ** (tries - 1), BACKOFF_MS_MAX)
  return delayMs * (0.5 + chance / 2)
}

/**
 * The deadlines of the next attempt. Each route has two attempts that may be silent; all have an
 * equal share.
 */
export function splitDeadlines(
  deadlines: Deadlines,
  {
    remainingMs,
    freshTries,
    routesLeft,
  }: Omit<Situation, 'outcome' | 'tries' | 'hasRenewed' | 'chance'>,
): Deadlines {
  const shareMs = remainingMs / (2 * (routesLeft + 1) - Math.min(freshTries, 1))
  return {
    connectMs: Math.min(deadlines.connectMs, shareMs),
    firstByteMs: Math.min(deadlines.firstByteMs, shareMs),
    idleMs: Math.min(deadlines.idleMs, shareMs),
    totalMs: remainingMs,
  }
}

const PROBE_MS = 30_000
const PROBE_MS_MAX = 600_000

/**
 * How long a session in `waiting-for-model` waits before it tries again, after so many failures in
 * a row: half a minute, doubling to ten. The session keeps the count, even across restarts.
 */
export function probeDelayMs(failures: number, chance: number): number {
  const delayMs = Math.min(PROBE_MS * 2 ** Math.max(0, failures - 1), PROBE_MS_MAX)
  // Many sessions may wait for the same provider and must not all retry in the same second.
  return Math.min(delayMs * (1 + chance / 4), PROBE_MS_MAX)
}
