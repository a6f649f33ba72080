import { hash } from 'node:crypto'
import type { Clock } from '#core/base/clock'
import { operationId, type SessionId } from '#core/base/ids'
import { destinationOf, type ModelRoute } from '../model/routes/route.ts'
import type { Attempts } from './attempts.ts'
import {
  BREAKER_ATTEMPTS_MAX,
  BREAKER_WINDOW_MS,
  type BreakerState,
  breakerStateOf,
  PROBING,
} from './breaker.ts'

/**
 * Which of a task's routes may be tried now, from the recorded attempts. After its pause a route is
 * tried by a single call: within this process the choice is made here, and between processes that
 * share a store the first to record its claim wins.
 */
export class RouteStates {
  readonly #attempts: Attempts
  readonly #clock: Clock
  readonly #probed = new Set<string>()

  constructor(attempts: Attempts, clock: Clock) {
    this.#attempts = attempts
    this.#clock = clock
  }

  async enter(
    task: string,
    routes: readonly ModelRoute[],
    sessionId: SessionId,
  ): Promise<RouteAdmission> {
    const now = this.#clock.now()
    const states = await Promise.all(routes.map((route) => this.#state(task, route, now)))
    const probes: string[] = []
    const usable: ModelRoute[] = []
    let until = Number.POSITIVE_INFINITY
    for (const [index, route] of routes.entries()) {
      const key = `${task} ${destinationOf(route)}`
      const state = states[index] ?? { kind: 'closed' }
      if (state.kind === 'open') until = Math.min(until, state.until)
      else if (state.kind === 'closed') usable.push(route)
      else if (this.#probed.has(key)) until = Math.min(until, now + PROBED_MS)
      else {
        this.#probed.add(key)
        // A fallback is probably not tried at all, so nothing is claimed for it.
        const isOurs =
          usable.length > 0 || (await this.#claim({ task, route, state, sessionId, now }))
        if (isOurs) {
          probes.push(key)
          usable.push(route)
        } else {
          this.#probed.delete(key)
          until = Math.min(until, now + PROBED_MS)
        }
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

  /** Unreadable attempts block no call: the breaker only saves calls. */
  async #state(task: string, route: ModelRoute, now: number): Promise<BreakerState> {
    const query = {
      modelRoute: destinationOf(route),
      task,
      since: now - BREAKER_WINDOW_MS,
      limit: BREAKER_ATTEMPTS_MAX,
    }
    return breakerStateOf(await this.#attempts.read(query).catch(() => []), now)
  }

  /**
   * Whether this process may try the route. The record's id is the same for all processes that
   * would try after the same pause; after a while it changes, because the process that tried may
   * have died.
   */
  async #claim(probe: Probe): Promise<boolean> {
    const { task, route, state, sessionId, now } = probe
    const modelRoute = destinationOf(route)
    const span = Math.floor((now - state.since) / PROBED_MS)
    const name = hash('sha256', JSON.stringify([task, modelRoute, state.since, span]), 'hex')
    const nothing = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost: 0 }
    const id = operationId(`probe-${name.slice(0, 32)}`)
    return await this.#attempts
      .record({ id, sessionId, task, modelRoute, outcome: PROBING, ...nothing, at: now })
      .catch(() => true)
  }
}

interface Probe {
  readonly task: string
  readonly route: ModelRoute
  readonly state: Extract<BreakerState, { kind: 'half-open' }>
  readonly sessionId: SessionId
  readonly now: number
}

export type RouteAdmission =
  | {
      readonly kind: 'entered'
      readonly routes: readonly [ModelRoute, ...ModelRoute[]]
      /** To be called once, when the call has ended and is recorded. */
      readonly leave: () => void
    }
  | { readonly kind: 'resting'; readonly until: number }

// Another process tries it; that takes no longer than a call.
const PROBED_MS = 30_000
