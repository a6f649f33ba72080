const WAIT_MS_MIN = 1_000
const WAIT_MS_MAX = 60 * 60_000

/**
 * The delay that a platform asks for, bounded: never an immediate retry, which the platform has
 * just refused, and never more than an hour.
 */
export function retryDelay(askedMs: number | undefined, usualMs: number): number {
  if (askedMs === undefined || !Number.isFinite(askedMs)) return usualMs
  return Math.min(Math.max(askedMs, WAIT_MS_MIN), WAIT_MS_MAX)
}
