/**
 * Waits for something until the time is up or the caller leaves. The timer ends with the wait:
 * `AbortSignal.timeout` would keep one of ten minutes for each request that was answered at once.
 */
export async function within<Value>(
  ms: number,
  signal: AbortSignal,
  wait: (deadline: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), ms)
  try {
    return await wait(AbortSignal.any([signal, late.signal]))
  } finally {
    clearTimeout(timer)
  }
}
