/**
 * Time as a thing that is handed in. Wall time may jump and is good for schedules and for telling
 * people; monotonic time never goes back and is what leases and deadlines count with (I25).
 */
export interface Clock {
  /** Milliseconds since 1970, as this host believes. */
  now(): number
  /** Milliseconds since some fixed moment in this process. */
  monotonic(): number
  /** Calls back once, not earlier than `delayMs` from now. The function returned calls it off. */
  after(delayMs: number, callback: () => void): () => void
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, Math.max(0, delayMs))
    return () => clearTimeout(timer)
  },
}

/** Resolves after that time, or at once when there is nothing to wait for any more. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const end = () => {
    cancel()
    signal?.removeEventListener('abort', end)
    resolve()
  }
  const cancel = clock.after(delayMs, end)
  signal?.addEventListener('abort', end)
  return promise
}
