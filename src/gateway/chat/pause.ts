import type { Clock } from '../../base/clock.ts'

/** Resolves after that time, or at once when there is nothing to wait for any more. */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = () => {
    cancel()
    signal.removeEventListener('abort', end)
    resolve()
  }
  const cancel = clock.after(delayMs, end)
  signal.addEventListener('abort', end)
  return promise
}
