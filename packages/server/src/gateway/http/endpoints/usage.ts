import { z } from 'zod'
import type { UsageQuery } from '../../../runtime/usage.ts'
import { type Endpoint, endpoint, sessionAt } from '../endpoint.ts'
import { entryNumberText, eventCursor, name, pageSize } from '../schemas.ts'
import { activityView, usageGroups } from '../session-schemas.ts'
import { findSummary, ofSession } from './sessions.ts'

/** Usage of model calls, in tokens and money. */
const PAGE_MAX = 500
const PAGE = 100

const since = eventCursor.optional().meta({ description: 'Milliseconds since 1970' })

export const usageEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/v1/usage',
    summary: 'What model calls took, by day or hour (UTC), agent or session',
    scope: 'read',
    isWhole: true,
    query: z.strictObject({
      by: z.enum(['day', 'hour', 'agent', 'session']).optional(),
      agent: name.optional(),
      since,
      limit: pageSize(PAGE_MAX),
    }),
    answers: { 200: { description: 'The last key first', schema: usageGroups } },
    problems: [],
    async run({ query: { by = 'day', ...query } }, { runtime }) {
      return { status: 200, body: { usage: await runtime.usage(asked({ by, ...query })) } }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/activity',
    summary: 'Turns, compactions and usage of the last 24 hours, hour by hour',
    scope: 'read',
    isWhole: true,
    answers: { 200: { description: 'The oldest hour first', schema: activityView } },
    problems: [],
    async run(_, { runtime }) {
      return { status: 200, body: await runtime.activity() }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/usage',
    summary: 'What the model calls of a session took, by turn, step or day (UTC)',
    scope: 'read',
    params: ofSession,
    query: z.strictObject({
      by: z.enum(['turn', 'step', 'day']).optional(),
      turn: entryNumberText.optional(),
      since,
      limit: pageSize(PAGE_MAX),
    }),
    answers: { 200: { description: 'The last key first', schema: usageGroups } },
    problems: ['unknown-session'],
    async run({ params, query: { by = 'turn', ...query } }, edge) {
      await findSummary(edge.runtime, params.id)
      const usage = await sessionAt(edge, params).usage(asked({ by, ...query }))
      return { status: 200, body: { usage } }
    },
  }),
]

function asked(query: {
  readonly by: UsageQuery['by']
  readonly agent?: string | undefined
  readonly turn?: number | undefined
  readonly since?: number | undefined
  readonly limit?: number | undefined
}): UsageQuery {
  const { by, agent, turn, since: from, limit = PAGE } = query
  return {
    ...{ by, limit },
    ...(agent !== undefined && { agent }),
    ...(turn !== undefined && { turn }),
    ...(from !== undefined && { since: from }),
  }
}
