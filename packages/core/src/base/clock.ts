/**
 * Time as a dependency. Wall time may jump and is for schedules and display; monotonic time never
 * goes back and is for leases and deadlines (I25).
 */
export interface Clock {
  /** Milliseconds since 1970, by this host's clock. */
  now(): number
  /** Milliseconds since an arbitrary fixed moment in this process. */
  monotonic(): number
  /** Calls back once, no earlier than `delayMs` from now. Returns a function that cancels it. */
  after(delayMs: number, callback: () => void): () => void
}

export const DAY_MS = 86_400_000

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(delayMs, callback) {
    const dueAt = performance.now() + delayMs
    // Timers cut off parts of a millisecond, so they may fire a little too early.
    const look = () => {
      const leftMs = dueAt - performance.now()
      if (leftMs > 0) timer = setTimeout(look, leftMs)
      else callback()
    }
    let timer = setTimeout(look, Math.max(0, delayMs))
    return () => clearTimeout(timer)
  },
}

/** Resolves after that time, or as soon as the signal aborts. */
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
