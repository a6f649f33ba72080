/**
 * Runs calls that check before they change something one at a time: two that check at once would
 * both find space for which there is only one. The calls of one reply run in parallel.
 */
export function serializeCalls(): <Value>(run: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve()
  return (run) => {
    const next = last.then(run, run)
    last = next.catch(() => {})
    return next
  }
}
