const WAIT_MS_MIN = 1_000
const WAIT_MS_MAX = 60 * 60_000

/**
 * How long to wait where a platform says how long. It may say anything: nothing is tried again at
 * once, for that would be what it forbids, and no wait is longer than an hour.
 */
export function retryDelay(askedMs: number | undefined, usualMs: number): number {
  if (askedMs === undefined || !Number.isFinite(askedMs)) return usualMs
  return Math.min(Math.max(askedMs, WAIT_MS_MIN), WAIT_MS_MAX)
}
