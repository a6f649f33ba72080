import type { LiveReport } from '../../core/src/audit/log/live-audit.ts'
import type { Health, SessionSummary } from '../../server/src/runtime/runtime.ts'
import { DAY_MS, type ModelUsage } from '../../server/src/runtime/usage.ts'
import { activityOf, count, second, usageWords } from '../parts/words.ts'

/** The state of the server and the events of the day, in sentences. */
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
  // Older failures are history: nobody returned to those sessions.
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
    ...routes.filter(({ state }) => state === 'open').map(pausedRoute),
    ...told(
      inState('waiting-for-approval'),
      ...(['session is', 'sessions are', 'paused at a spending limit.'] as const),
    ),
    ...told(failed, 'session failed in its', 'sessions failed in their', 'last turn.'),
  ]
}

function pausedRoute({ route, task, failures, retryAt }: Health['routes'][number]): string {
  const next = retryAt === null ? '' : `; next try ${second(retryAt)}`
  return `Model route ${route} is paused after ${failures} failures (${task})${next}.`
}

/** What happened since the day began and, where known, what it cost. */
export function dayIn(
  sessions: readonly SessionSummary[],
  dayStart: number,
  usage: ModelUsage | null,
): readonly string[] {
  const since = (at: (session: SessionSummary) => number | null) =>
    sessions.filter((session) => (at(session) ?? 0) >= dayStart).length
  const active = since(({ activeAt }) => activeAt)
  const compacted = since(({ compactedAt }) => compactedAt)
  if (active === 0) return ['Nothing has happened today.']
  return [
    ...told(active, 'session was', 'sessions were', 'active today.'),
    ...told(
      since(({ createdAt }) => createdAt),
      'session is',
      'sessions are',
      'new.',
    ),
    ...told(compacted, 'session was', 'sessions were', 'compacted.'),
    ...(usage === null ? [] : [callsIn(usage)]),
  ]
}

function callsIn(usage: ModelUsage): string {
  const { calls, unpricedCalls } = usage
  const unpriced =
    unpricedCalls > 0 ? `; no price is known for ${count(unpricedCalls)} of them` : ''
  return `${plural(calls, 'model call', 'model calls')} today: ${usageWords(usage)}${unpriced}.`
}

function told(amount: number, one: string, many: string, what: string): readonly string[] {
  return amount === 0 ? [] : [`${plural(amount, one, many)} ${what}`]
}

function plural(amount: number, one: string, many: string): string {
  return `${count(amount)} ${amount === 1 ? one : many}`
}
