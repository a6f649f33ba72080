import { z } from 'zod'
import type { RuntimeEvent } from '#core/session/events/runtime-event'
import { type Endpoint, endpoint, sessionAt } from '../endpoint.ts'
import { HttpProblem } from '../problems.ts'
import { eventCursor } from '../schemas.ts'
import { findSummary, ofSession } from './sessions.ts'

/**
 * Events as server-sent events. Stored events have their cursor as id, so a client that reconnects
 * with `Last-Event-ID` misses none. Live events have no id; those of a running attempt are sent
 * again from its beginning.
 */
const STREAM = {
  200: { description: 'Events until one side ends it', types: ['text/event-stream'] },
}
const query = z.strictObject({
  after: eventCursor.optional().meta({ description: 'A cursor; default: from now on' }),
})

export const eventEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/events',
    summary: 'Events of one session',
    scope: 'read',
    isStream: true,
    params: ofSession,
    query,
    answers: STREAM,
    problems: ['unknown-session', 'too-many-streams'],
    async run({ params, query: { after }, lastEventId, signal }, edge) {
      await findSummary(edge.runtime, params.id)
      const from = startOf(lastEventId, after)
      return { status: 200, events: sessionAt(edge, params).events(from, signal) }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/events',
    summary: 'Events of all sessions',
    scope: 'read',
    isStream: true,
    query,
    answers: STREAM,
    problems: ['too-many-streams'],
    async run({ query: { after }, lastEventId, principal, signal }, { runtime }) {
      const events = runtime.events(startOf(lastEventId, after), signal)
      const { sessions } = principal
      return { status: 200, events: sessions === null ? events : only(events, sessions) }
    },
  }),
]

/** A browser that reconnects automatically sends the header, which is newer than the URL. */
function startOf(lastEventId: string | undefined, after: number | undefined): { after?: number } {
  if (lastEventId === undefined || lastEventId === '') return after === undefined ? {} : { after }
  const parsed = eventCursor.safeParse(lastEventId)
  if (!parsed.success) {
    throw new HttpProblem('invalid', { detail: 'Last-Event-ID: expected the id of an event.' })
  }
  return { after: parsed.data }
}

async function* only(
  events: AsyncIterable<RuntimeEvent>,
  sessions: ReadonlySet<string>,
): AsyncGenerator<RuntimeEvent> {
  for await (const event of events) {
    if (event.type === 'caught-up' || sessions.has(event.sessionId)) yield event
  }
}
