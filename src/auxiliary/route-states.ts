import type { Clock } from '../base/clock.ts'
import { destinationOf, type ModelRoute } from '../model/route.ts'
import type { Attempts } from './attempts.ts'
import { BREAKER_ATTEMPTS_MAX, BREAKER_WINDOW_MS, standingOf } from './breaker.ts'

/**
 * Which of a task's routes may be tried just now. The failures are read from the attempts; all that
 * lives here is which half-open route is being tried, so that a single call does that.
 */
export class RouteStates {
  readonly #attempts: Attempts
  readonly #clock: Clock
  readonly #probed = new Set<string>()

  constructor(attempts: Attempts, clock: Clock) {
    this.#attempts = attempts
    this.#clock = clock
  }

  async enter(task: string, routes: readonly ModelRoute[]): Promise<Entrance> {
    const now = this.#clock.now()
    const standings = await Promise.all(routes.map((route) => this.#standing(task, route, now)))
    const probes: string[] = []
    const usable: ModelRoute[] = []
    let until = Number.POSITIVE_INFINITY
    for (const [index, route] of routes.entries()) {
      const key = `${task} ${destinationOf(route)}`
      const standing = standings[index] ?? { kind: 'closed' }
      if (standing.kind === 'open') until = Math.min(until, standing.until)
      else if (standing.kind === 'closed') usable.push(route)
      else if (this.#probed.has(key)) until = Math.min(until, now + PROBED_MS)
      else {
        this.#probed.add(key)
        probes.push(key)
        usable.push(route)
      }
    }
    const leave = () => {
      for (const key of probes) this.#probed.delete(key)
    }
    const [first, ...others] = usable
    return first === undefined
      ? { kind: 'resting', until }
      : { kind: 'entered', routes: [first, ...others], leave }
  }

  /** Attempts that cannot be read stop nobody: the breaker spares a route, it does not guard one. */
  async #standing(task: string, route: ModelRoute, now: number) {
    const query = {
      modelRoute: destinationOf(route),
      since: now - BREAKER_WINDOW_MS,
      limit: BREAKER_ATTEMPTS_MAX,
    }
    const attempts = await this.#attempts.read(query).catch(() => [])
    return standingOf(
      attempts.filter((attempt) => attempt.task === task),
      now,
    )
  }
}

export type Entrance =
  | {
      readonly kind: 'entered'
      readonly routes: readonly [ModelRoute, ...ModelRoute[]]
      /** To be called once, when the call has ended and is recorded. */
      readonly leave: () => void
    }
  | { readonly kind: 'resting'; readonly until: number }

// Somebody else finds out; it will not take longer than a call.
const PROBED_MS = 30_000
