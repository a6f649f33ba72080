import type { Clock } from '#core/base/clock'
import { KnownError } from '#core/base/errors'
import type { Runtime } from '../../../runtime/runtime.ts'

/** How long an answer counts. Health checks are seconds apart. */
const REMEMBERED_MS = 250

/**
 * Why the process cannot work now; null: it can. `/readyz` is open to every caller and has no rate
 * limit, so that no caller can take it from another; therefore callers share one look at the store.
 */
export function readinessOf(
  runtime: Pick<Runtime, 'health'>,
  clock: Pick<Clock, 'monotonic'>,
): () => Promise<string | null> {
  let until = Number.NEGATIVE_INFINITY
  let answer: Promise<string | null> = Promise.resolve(null)
  const look = async () => {
    try {
      return (await runtime.health()).reason
    } catch (error) {
      // If readiness cannot be determined, the process cannot work either.
      return error instanceof KnownError ? error.code : 'unknown'
    } finally {
      until = clock.monotonic() + REMEMBERED_MS
    }
  }
  return () => {
    if (clock.monotonic() < until) return answer
    until = Number.POSITIVE_INFINITY
    answer = look()
    return answer
  }
}
