import { z } from 'zod'
import { type Endpoint, endpoint, sessionAt } from '../endpoint.ts'
import { HttpProblem } from '../problems.ts'
import { entryNumberText, newCompaction, pageSize, preview } from '../schemas.ts'
import { compactionList, compactionReport, undoneHandoff } from '../session-schemas.ts'
import { ACCEPTED, acceptedOf, CONTROL_PROBLEMS, carriedOut, undoRefusal } from './messages.ts'
import { findSummary, ofSession } from './sessions.ts'

const PAGE_MAX = 200
const PAGE = 50

export const compactionEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'post',
    path: '/v1/sessions/{id}/compactions',
    summary: 'Compact a session; or preview the handoff; or commit a preview unchanged',
    scope: 'write',
    params: ofSession,
    body: newCompaction,
    isBodyOptional: true,
    isIdempotent: true,
    answers: {
      200: { description: 'With `preview`: what it would make; nothing changes', schema: preview },
      202: ACCEPTED,
    },
    problems: [...CONTROL_PROBLEMS, 'no-preview', 'changed-preview'],
    async run({ params, body, once, signal }, edge) {
      const session = sessionAt(edge, params)
      const about = body.focus === undefined ? {} : { focus: body.focus }
      if (body.preview === true) {
        await findSummary(edge.runtime, params.id)
        const preview = await session.preview(about, signal)
        if (preview.kind !== 'failed') return { status: 200, body: preview }
        throw new HttpProblem('no-preview', { facts: { reason: preview.reason } })
      }
      if (body.install !== undefined) {
        const admitted = await session.install({ ...once, preview: body.install })
        return await carriedOut(session, acceptedOf(admitted), signal)
      }
      return acceptedOf(await session.compact({ ...once, ...about }))
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/compactions',
    summary: 'Attempts at compactions, the newest first',
    scope: 'read',
    params: ofSession,
    query: z.strictObject({ limit: pageSize(PAGE_MAX) }),
    answers: { 200: { description: 'The start and the end of each', schema: compactionList } },
    problems: ['unknown-session'],
    async run({ params, query: { limit = PAGE } }, edge) {
      const compactions = await sessionAt(edge, params).compactions({ limit })
      if (compactions === undefined) throw new HttpProblem('unknown-session')
      return { status: 200, body: { compactions } }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/compactions/{number}',
    summary: 'What a compaction, named by its entry, did with every message',
    scope: 'read',
    params: ofSession.extend({ number: entryNumberText }),
    answers: {
      200: {
        description: 'Kept word for word, summarized, recallable or gone; sizes, cache and cost',
        schema: compactionReport,
      },
    },
    problems: ['unknown-session', 'unknown-compaction'],
    async run({ params }, edge) {
      await findSummary(edge.runtime, params.id)
      const report = await sessionAt(edge, params).compactionReport(params.number)
      if (report === undefined) throw new HttpProblem('unknown-compaction')
      return { status: 200, body: report }
    },
  }),
  endpoint({
    method: 'post',
    path: '/v1/sessions/{id}/compactions/{number}/revert',
    summary: 'Undo the newest compaction in effect, named by its entry',
    scope: 'write',
    params: ofSession.extend({ number: entryNumberText }),
    isIdempotent: true,
    answers: {
      200: {
        description: 'Of the session of a proxy’s client: undone at once',
        schema: undoneHandoff,
      },
      202: ACCEPTED,
    },
    problems: [...CONTROL_PROBLEMS, 'not-in-effect'],
    async run({ params, once, signal }, edge) {
      const { compaction, windowTokens } = await findSummary(edge.runtime, params.id)
      if (compaction !== params.number) {
        throw new HttpProblem('not-in-effect', { facts: { inEffect: compaction } })
      }
      const session = sessionAt(edge, params)
      const undo = await session.undoForClient(params.number)
      if (undo?.kind === 'refused') {
        throw new HttpProblem('turned-down', { detail: undo.problem })
      }
      if (undo !== null) {
        const { kind: _, ...body } = undo
        return { status: 200, body: { sessionId: session.id, ...body } }
      }
      const asked = { ...once, compaction: params.number }
      const accepted = acceptedOf(await session.revert(asked))
      return await carriedOut(session, accepted, signal, (end) =>
        undoRefusal(session, end, { compaction, windowTokens }),
      )
    },
  }),
]
