/** The most sessions that one answer wakes; more would block the event loop. */
const WOKEN_MAX = 64

/**
 * How many of the waiting sessions may call a model when it answers again. If all called at once, a
 * provider that has just recovered, or that accepts one call a second, would refuse nearly all of
 * them, and each refusal is a call: 150 sessions made 8,900 in a minute. So one session may try
 * after the first answer, twice as many after each further one, and one again after a failure. Each
 * also retries on its own schedule.
 */
export class RecoveringRoutes {
  readonly #woken = new Map<string, number>()

  failed(route: string): void {
    this.#woken.set(route, 0)
  }

  /** `wake` wakes up to that many and returns how many it found. */
  answered(route: string, wake: (count: number) => number): void {
    const before = this.#woken.get(route)
    if (before === undefined) return
    const count = Math.min(WOKEN_MAX, Math.max(1, 2 * before))
    if (wake(count) < count) this.#woken.delete(route)
    else this.#woken.set(route, count)
  }
}
