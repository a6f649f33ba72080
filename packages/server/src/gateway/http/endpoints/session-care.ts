import { z } from 'zod'
import { EXPORT_FORMS, EXPORT_NAMES, exportAs } from '../../text/export-session.ts'
import { type Endpoint, endpoint, sessionAt } from '../endpoint.ts'
import { HttpProblem } from '../problems.ts'
import { findSummary, ofSession } from './sessions.ts'

/** Renaming, exporting and deleting a session. */

/** `throughline export` writes longer ones, because it streams. */
const EXPORT_ENTRIES_MAX = 20_000
const EXPORT_CHARACTERS_MAX = 128_000_000
const TITLE_MAX = 200
/** Without another form, as `throughline export` writes it. */
const LINES = { type: 'application/x-ndjson', extension: 'jsonl' } as const
const EXPORT_TYPES = [
  ...new Set(EXPORT_NAMES.map((name) => EXPORT_FORMS[name].type.split(';')[0] ?? '')),
]

export const sessionCareEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'put',
    path: '/v1/sessions/{id}/title',
    summary: 'Give a session another title; null removes it',
    scope: 'write',
    params: ofSession,
    body: z.strictObject({ title: z.string().max(TITLE_MAX).nullable() }),
    answers: { 204: { description: 'Renamed' } },
    problems: ['unknown-session', 'gone', 'unavailable'],
    async run({ params, body }, edge) {
      const { kind } = await sessionAt(edge, params).rename(body.title)
      switch (kind) {
        case 'done':
          return { status: 204 }
        case 'unknown':
          throw new HttpProblem('unknown-session')
        case 'gone':
          throw new HttpProblem('gone')
        case 'superseded':
          throw new HttpProblem('unavailable')
        case 'too-long':
          throw new HttpProblem('invalid')
        default:
          return kind satisfies never
      }
    },
  }),
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/export',
    summary: 'The session for people (markdown, html), for another program, or whole for `import`',
    scope: 'read',
    isLarge: true,
    params: ofSession,
    query: z.strictObject({ to: z.enum(EXPORT_NAMES).optional() }),
    answers: { 200: { description: 'A file of that form', types: EXPORT_TYPES } },
    problems: ['unknown-session', 'gone', 'too-large'],
    async run({ params, query: { to } }, edge) {
      const session = sessionAt(edge, params)
      const summary = await findSummary(edge.runtime, params.id)
      if (summary.state === 'gone') throw new HttpProblem('gone')
      if (summary.entries > EXPORT_ENTRIES_MAX) {
        const detail = `It has more than ${EXPORT_ENTRIES_MAX} entries; use \`throughline export\`.`
        throw new HttpProblem('too-large', { detail })
      }
      let text = ''
      const pieces =
        to === undefined ? session.exportLines() : exportAs(session, summary, { form: to })
      for await (const piece of pieces) {
        text += piece
        if (text.length > EXPORT_CHARACTERS_MAX) {
          const detail = `It is larger than ${EXPORT_CHARACTERS_MAX} characters; use \`throughline export\`.`
          throw new HttpProblem('too-large', { detail })
        }
      }
      const { type, extension } = to === undefined ? LINES : EXPORT_FORMS[to]
      // Browsers must never render it as a page of this origin.
      const headers = { 'content-disposition': `attachment; filename="${params.id}.${extension}"` }
      return { status: 200, text, type, headers }
    },
  }),
  endpoint({
    method: 'delete',
    path: '/v1/sessions/{id}',
    summary: 'Delete a session for good: its text is removed, and its id is never used again',
    scope: 'write',
    params: ofSession,
    answers: {
      202: {
        description: 'Asked of the process that holds the session',
        schema: z.strictObject({ sessionId: z.string() }),
      },
      204: { description: 'Deleted, also when it was before' },
    },
    problems: ['unknown-session', 'has-forks'],
    async run({ params, principal }, edge) {
      const purged = await sessionAt(edge, params).purge({ entries: 'all', reason: 'deleted' })
      if (purged.kind === 'unknown') throw new HttpProblem('unknown-session')
      if (purged.kind === 'forked') {
        const forks = purged.forks.filter((id) => principal.sessions?.has(id) ?? true)
        const which = forks.length === 0 ? 'This token may not see the forks' : forks.join(', ')
        const detail = `${which}. Delete them first, or use \`throughline purge\` with \`--forks keep\` (they keep what they read) or \`--forks purge\`.`
        throw new HttpProblem('has-forks', { detail, facts: { forks } })
      }
      if (purged.kind === 'asked') return { status: 202, body: { sessionId: params.id } }
      return { status: 204 }
    },
  }),
]
