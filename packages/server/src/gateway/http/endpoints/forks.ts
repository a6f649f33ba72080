import { z } from 'zod'
import type { Forked } from '../../../runtime/runtime.ts'
import { type Endpoint, endpoint, sessionAt } from '../endpoint.ts'
import { HttpProblem } from '../problems.ts'
import { newFork } from '../schemas.ts'
import { ofSession } from './sessions.ts'

const made = z.strictObject({ sessionId: z.string() })

export const forkEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/v1/sessions/{id}/forks',
    summary: 'Make a session that begins with the entries of this one',
    scope: 'write',
    // A fork is another session, outside the scope of a token for this one.
    isWhole: true,
    params: ofSession,
    body: newFork,
    isIdempotent: true,
    answers: {
      201: { description: 'Made', schema: made },
      200: { description: 'Made before, with the same Idempotency-Key', schema: made },
    },
    problems: ['unknown-session', 'gone', 'unknown-entry', 'session-exists', 'key-conflict'],
    async run({ params, body: { at, id }, once }, edge) {
      const forked = await sessionAt(edge, params).fork({
        ...{ at, ...once },
        ...(id !== undefined && { id }),
      })
      const sessionId = idOf(forked)
      const headers = { location: `/v1/sessions/${sessionId}` }
      return { status: forked.kind === 'forked' ? 201 : 200, body: { sessionId }, headers }
    },
  }),
]

function idOf(forked: Forked): string {
  switch (forked.kind) {
    case 'forked':
    case 'duplicate':
      return forked.sessionId
    case 'exists':
      throw new HttpProblem('session-exists', { facts: { sessionId: forked.sessionId } })
    case 'conflict':
      throw new HttpProblem('key-conflict')
    case 'unknown-entry':
      throw new HttpProblem('unknown-entry', { facts: { entries: forked.entries } })
    default:
      throw new HttpProblem(forked.kind === 'gone' ? 'gone' : 'unknown-session')
  }
}
