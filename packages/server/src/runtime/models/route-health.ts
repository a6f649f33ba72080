import type { Attempts } from '../../auxiliary/attempts.ts'
import {
  ANSWERED,
  BREAKER_ATTEMPTS_MAX,
  BREAKER_WINDOW_MS,
  breakerStateOf,
  failuresOf,
  isOfTheRoute,
} from '../../auxiliary/breaker.ts'
import { TASKS } from '../../auxiliary/task.ts'
import { destinationOf, type ModelRoute } from '../../model/routes/route.ts'
import type { ResolvedAgent } from '../agent.ts'
import type { RouteHealth } from '../health.ts'
import { TURN } from './turn-calls.ts'

/**
 * Outcomes on these agents' routes in the last hour, from the record of all processes; unused
 * routes are not listed. Tasks do not call a paused route before `retryAt`. Turns are not paused:
 * each session retries on its own schedule.
 */
export async function readRouteHealth(
  attempts: Attempts,
  agents: Iterable<ResolvedAgent>,
  now: number,
): Promise<readonly RouteHealth[]> {
  const uses = new Map<string, { readonly task: string; readonly route: ModelRoute }>()
  for (const { routes } of agents) {
    for (const task of [TURN, ...Object.keys(TASKS)]) {
      for (const route of task === TURN ? routes.forMain() : routes.forTask(task)) {
        uses.set(`${task} ${destinationOf(route)}`, { task, route })
      }
    }
  }
  const found = await Promise.all(
    [...uses.values()].map(async ({ task, route }): Promise<readonly RouteHealth[]> => {
      const modelRoute = destinationOf(route)
      const since = now - BREAKER_WINDOW_MS
      const query = { modelRoute, task, since, limit: BREAKER_ATTEMPTS_MAX }
      const own = await attempts.read(query)
      if (own.length === 0) return []
      const state = breakerStateOf(own, now)
      const { failures } = failuresOf(own, now)
      const retryAt = state.kind === 'open' ? state.until : null
      const { model } = route
      const failed = own.filter(({ outcome }) => isOfTheRoute(outcome))
      const answered = own.find(({ outcome }) => outcome === ANSWERED)
      const past = { failedAt: failed[0]?.at ?? null, answeredAt: answered?.at ?? null }
      const shown = {
        route: modelRoute,
        task,
        model,
        failures,
        failuresInHour: failed.length,
        ...past,
      }
      if (task !== TURN) return [{ ...shown, state: state.kind, retryAt }]
      return [{ ...shown, state: state.kind === 'closed' ? 'closed' : 'failing', retryAt: null }]
    }),
  )
  return found.flat()
}
