import type { LiveReport } from '../../core/src/audit/log/live-audit.ts'
import { DAY_MS } from '../../core/src/base/clock.ts'
import type { ActiveHour, Activity } from '../../server/src/runtime/activity.ts'
import type { Health, SessionSummary } from '../../server/src/runtime/runtime.ts'
import type { ModelUsage } from '../../server/src/runtime/usage.ts'
import { activityOf, count, second, usageWords } from '../parts/words.ts'

/** The state of the server and the last 24 hours, in sentences. */
type Report = Pick<Health, 'problems' | 'reason' | 'routes'>

/** What needs attention; empty: everything is well. */
export function concernsIn(
  report: Report,
  audit: Pick<LiveReport, 'laws'> | null,
  sessions: readonly SessionSummary[],
  now: number,
): readonly string[] {
  const { problems, reason, routes } = report
  const inState = (state: SessionSummary['state']) =>
    sessions.filter((session) => session.state === state).length
  // Older failures no longer matter: no message followed in those sessions.
  const failed = sessions.filter(
    (session) => activityOf(session) === 'failed' && now - session.activeAt < DAY_MS,
  ).length
  return [
    ...problems,
    ...(reason === 'no-lease'
      ? ['This process lost contact with the store; another process may take over its sessions.']
      : []),
    ...(audit?.laws.filter(({ holds }) => !holds) ?? []).map(({ title }) => `Broken: ${title}.`),
    ...told(inState('waiting-for-model'), 'session waits', 'sessions wait', 'for a model.'),
    ...routes.filter(({ state }) => state === 'failing').map(failingRoute),
    ...routes.filter(({ state }) => state === 'open').map(pausedRoute),
    ...told(
      inState('waiting-for-approval'),
      ...(['session is', 'sessions are', 'paused at a spending limit.'] as const),
    ),
    ...told(failed, 'session failed in its', 'sessions failed in their', 'last turn.'),
  ]
}

function failingRoute({ route, failures }: Health['routes'][number]): string {
  const calls = failures === 1 ? 'call' : `${failures} calls`
  return `The last ${calls} of turns on model route ${route} failed; each session tries again by itself.`
}

function pausedRoute({ route, task, failures, retryAt }: Health['routes'][number]): string {
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
