/**
 * Calls that look before they change, one after another: two that looked at once would both find the
 * room that only one can have. The calls of one reply run side by side.
 */
export function oneByOne(): <Value>(run: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve()
  return (run) => {
    const next = last.then(run, run)
    last = next.catch(() => {})
    return next
  }
}
