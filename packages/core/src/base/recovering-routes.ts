/** So many are woken by one answer at most: more would hold the event loop. */
const WOKEN_MAX = 64

/**
 * How many of those who wait for a model may try when it answers. All at once, a provider that has
 * just come back, or takes one call a second, refuses nearly all of them, and each refusal is a
 * call: 150 sessions made 8,900 in a minute. So one may try after the first answer, twice as many
 * after each further one, and one again after a failure. Each also tries by its own clock.
 */
export class RecoveringRoutes {
  readonly #woken = new Map<string, number>()

  failed(route: string): void {
    this.#woken.set(route, 0)
  }

  /** `wake` wakes as many, if they are there; it gives how many it found. */
  answered(route: string, wake: (count: number) => number): void {
    const before = this.#woken.get(route)
    if (before === undefined) return
    const count = Math.min(WOKEN_MAX, Math.max(1, 2 * before))
    if (wake(count) < count) this.#woken.delete(route)
    else this.#woken.set(route, count)
  }
}
