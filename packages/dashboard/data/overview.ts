import type { LiveReport } from '../../core/src/audit/log/live-audit.ts'
import { DAY_MS } from '../../core/src/base/clock.ts'
import type { ActiveHour, Activity } from '../../server/src/runtime/activity.ts'
import type { Health, SessionSummary } from '../../server/src/runtime/runtime.ts'
import type { ModelUsage } from '../../server/src/runtime/usage.ts'
import { activityOf, count, second, usageWords } from '../parts/words.ts'

/** The state of the server and the last 24 hours, in sentences. */
type Report = Pick<Health, 'problems' | 'reason' | 'routes'>

/** What needs attention now; empty: everything is well. */
export function concernsIn(
  report: Report,
  audit: Pick<LiveReport, 'laws'> | null,
  sessions: readonly SessionSummary[],
  now: number,
): readonly string[] {
  const { problems, reason, routes } = report
  const inState = (state: SessionSummary['state']) =>
    sessions.filter((session) => session.state === state).length
  const waiting = inState('waiting-for-model')
  const failed = failedIn(sessions, now).filter((session) => !isOver(session, sessions)).length
  return [
    ...problems,
    ...(reason === 'no-lease'
      ? ['This process lost contact with the store; another process may take over its sessions.']
      : []),
    ...(audit?.laws.filter(({ holds }) => !holds) ?? []).map(({ title }) => `Broken: ${title}.`),
    ...told(waiting, 'session waits', 'sessions wait', 'for a model.'),
    ...routes.filter((route) => isFailing(route, waiting, now)).map(failingRoute),
    ...routes
      .filter((route) => route.state === 'open' && !answersAgain(route, routes))
      .map(pausedRoute),
    ...told(
      inState('waiting-for-approval'),
      ...(['session is', 'sessions are', 'paused at a spending limit.'] as const),
    ),
    ...told(failed, 'session failed in its', 'sessions failed in their', 'last turn.'),
  ]
}

/** Trouble that is over: what happened, and when. */
export function pastTroubleIn(
  { routes }: Pick<Report, 'routes'>,
  sessions: readonly SessionSummary[],
  now: number,
): readonly string[] {
  const waiting = sessions.filter(({ state }) => state === 'waiting-for-model').length
  const failed = failedIn(sessions, now).filter((session) => isOver(session, sessions))
  const last = Math.max(0, ...failed.map(({ activeAt }) => activeAt))
  return [
    ...routes
      .filter(({ failuresInHour }) => failuresInHour >= FAILURES_TOLD_MIN)
      .filter((route) => !isFailing(route, waiting, now))
      .filter((route) => route.state !== 'open' || answersAgain(route, routes))
      .map((route) => pastRoute(route, routes)),
    ...told(
      failed.length,
      ...(['session', 'sessions'] as const),
      `failed in the last turn, at ${second(last)}; later turns of the agent were answered.`,
    ),
  ]
}

type Route = Health['routes'][number]

/** One or two failures in an hour are normal. */
const FAILURES_TOLD_MIN = 3
/** A turn that waits for a model tries it again within this time. */
const RECENT_MS = 600_000

/** Older failures no longer matter: no message followed in those sessions. */
function failedIn(sessions: readonly SessionSummary[], now: number): readonly SessionSummary[] {
  return sessions.filter(
    (session) => activityOf(session) === 'failed' && now - session.activeAt < DAY_MS,
  )
}

/** Another session of the same agent was answered since. */
function isOver(failed: SessionSummary, sessions: readonly SessionSummary[]): boolean {
  return sessions.some(
    ({ agent, lastTurn, state, activeAt }) =>
      agent === failed.agent &&
      state === 'idle' &&
      lastTurn === 'answered' &&
      activeAt > failed.activeAt,
  )
}

/** Turns try a failing route again by themselves; where no turn waits, nothing does. */
function isFailing({ state, failedAt }: Route, waiting: number, now: number): boolean {
  return state === 'failing' && (waiting > 0 || now - (failedAt ?? 0) < RECENT_MS)
}

/** A call for another purpose was answered there since the failure. */
function answersAgain({ route, failedAt }: Route, routes: readonly Route[]): boolean {
  return (answeredAt(route, routes) ?? 0) > (failedAt ?? 0)
}

function answeredAt(route: string, routes: readonly Route[]): number | null {
  const times = routes.flatMap((each) => (each.route === route ? (each.answeredAt ?? []) : []))
  return times.length === 0 ? null : Math.max(...times)
}

function pastRoute(of: Route, routes: readonly Route[]): string {
  const { route, task, failuresInHour, failedAt, retryAt } = of
  const since = answersAgain(of, routes)
    ? `it answered at ${second(answeredAt(route, routes) ?? 0)}`
    : 'no turn tries it now'
  const next = retryAt === null ? '' : `; ${task} calls are tried again at ${second(retryAt)}`
  return `${count(failuresInHour)} calls on model route ${route} failed (${task}), the last at ${second(failedAt ?? 0)}; ${since}${next}.`
}

function failingRoute({ route, failures }: Route): string {
  const calls = failures === 1 ? 'call' : `${failures} calls`
  return `The last ${calls} of turns on model route ${route} failed; each session tries again by itself.`
}

function pausedRoute({ route, task, failures, retryAt }: Route): string {
  const next = retryAt === null ? '' : `; next try ${second(retryAt)}`
  return `Model route ${route} is paused after ${failures} failures (${task})${next}.`
}

/** What happened in the last 24 hours and, where known, what it cost. */
export function lastDayIn(
  { hours }: Pick<Activity, 'hours'>,
  sessions: readonly SessionSummary[],
): readonly string[] {
  const from = hours[0]?.at ?? 0
  const active = sessions.filter(({ activeAt }) => activeAt >= from)
  const fresh = active.filter(({ createdAt }) => createdAt >= from).length
  const sum = (figure: (hour: ActiveHour) => number) =>
    hours.reduce((total, hour) => total + figure(hour), 0)
  const [turns, failed] = [sum((hour) => hour.turns), sum((hour) => hour.failedTurns)]
  const compactions = sum((hour) => hour.compactions)
  const failedCompactions = sum((hour) => hour.failedCompactions)
  if (active.length + turns === 0) return ['Nothing happened in the last 24 hours.']
  return [
    `${plural(active.length, 'session was', 'sessions were')} active in the last 24 hours${of(fresh, 'new')}.`,
    ...told(turns, 'turn', 'turns', `ended${of(failed, 'failed')}.`),
    ...told(compactions, 'compaction was', 'compactions were', 'made.'),
    ...told(failedCompactions, 'compaction', 'compactions', 'failed.'),
    ...callsIn({
      calls: sum((hour) => hour.calls),
      inputTokens: sum((hour) => hour.inputTokens),
      outputTokens: sum((hour) => hour.outputTokens),
      cachedTokens: sum((hour) => hour.cachedTokens),
      cost: sum((hour) => hour.cost),
      unpricedCalls: sum((hour) => hour.unpricedCalls),
    }),
  ]
}

function callsIn(usage: ModelUsage): readonly string[] {
  const { calls, unpricedCalls } = usage
  const unpriced =
    unpricedCalls > 0 ? `; no price is known for ${count(unpricedCalls)} of them` : ''
  return told(calls, 'model call', 'model calls', `took ${usageWords(usage)}${unpriced}.`)
}

const of = (part: number, what: string) => (part === 0 ? '' : `, ${count(part)} of them ${what}`)

function told(amount: number, one: string, many: string, what: string): readonly string[] {
  return amount === 0 ? [] : [`${plural(amount, one, many)} ${what}`]
}

function plural(amount: number, one: string, many: string): string {
  return `${count(amount)} ${amount === 1 ? one : many}`
}
