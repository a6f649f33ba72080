import { z } from 'zod'
import type { NoteChange } from '../../../runtime/memory-view.ts'
import { type Endpoint, endpoint, sessionAt } from '../endpoint.ts'
import { HttpProblem } from '../problems.ts'
import { noteText, pinList, pinName, taskList } from '../schemas.ts'
import { findSummary, ofSession } from './sessions.ts'

/**
 * Notes and reminders that an agent keeps for the people of a session. A session reaches only those
 * that it lists.
 */
const number = z.int().min(0)
const memoryView = z
  .strictObject({
    notes: z.array(
      z.strictObject({
        id: z.string(),
        text: z.string(),
        origin: z.strictObject({ sessionId: z.string(), entry: number }).nullable(),
        at: number,
      }),
    ),
    ...pinList.shape,
    ...taskList.shape,
    tasksEntry: number.nullable(),
    rules: z.array(
      z.strictObject({ text: z.string(), entry: number, supersededBy: number.nullable() }),
    ),
    reminders: z.array(
      z.strictObject({
        id: z.string(),
        text: z.string(),
        dueAt: number,
        repeat: z.string().nullable(),
        at: number,
      }),
    ),
    changes: z.array(
      z.strictObject({
        entry: number,
        at: number,
        kind: z.enum(['notes', 'pin', 'tasks']),
        name: z.string().nullable(),
        text: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'Memory' })

const ofNote = ofSession.extend({ note: pinName })

export const memoryEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'get',
    path: '/v1/sessions/{id}/memory',
    summary: 'Notes, pins, tasks, standing instructions and reminders, and where each came from',
    scope: 'read',
    params: ofSession,
    answers: { 200: { description: 'With the last changes', schema: memoryView } },
    problems: ['unknown-session'],
    async run({ params, principal: { sessions } }, edge) {
      const memory = await sessionAt(edge, params).memory.read()
      if (memory === undefined) throw new HttpProblem('unknown-session')
      // A limited token may read the notes, but not in which other session each was made.
      const notes = memory.notes.map((note) =>
        sessions?.has(note.origin?.sessionId ?? '') === false ? { ...note, origin: null } : note,
      )
      return { status: 200, body: { ...memory, notes } }
    },
  }),
  endpoint({
    method: 'put',
    path: '/v1/sessions/{id}/notes/{note}',
    summary: 'Replace the text of a note',
    scope: 'write',
    params: ofNote,
    body: z.strictObject({ text: noteText }),
    answers: { 204: { description: 'Replaced; shown from the next turn on' } },
    problems: ['unknown-session', 'unknown-note', 'gone', 'turned-down'],
    async run({ params, body: { text } }, edge) {
      await findSummary(edge.runtime, params.id)
      const { memory } = sessionAt(edge, params)
      return changed(await memory.changeNote({ id: params.note, text }))
    },
  }),
  endpoint({
    method: 'delete',
    path: '/v1/sessions/{id}/notes/{note}',
    summary: 'Remove a note',
    scope: 'write',
    params: ofNote,
    answers: { 204: { description: 'Removed; gone from the next turn on' } },
    problems: ['unknown-session', 'unknown-note', 'gone', 'turned-down'],
    async run({ params }, edge) {
      await findSummary(edge.runtime, params.id)
      return changed(await sessionAt(edge, params).memory.removeNote(params.note))
    },
  }),
  endpoint({
    method: 'delete',
    path: '/v1/sessions/{id}/reminders/{reminder}',
    summary: 'Cancel a reminder that the agent scheduled',
    scope: 'write',
    params: ofSession.extend({ reminder: pinName }),
    answers: { 204: { description: 'Cancelled' } },
    problems: ['unknown-session', 'unknown-reminder'],
    async run({ params }, edge) {
      await findSummary(edge.runtime, params.id)
      const { kind } = await sessionAt(edge, params).memory.cancelReminder(params.reminder)
      if (kind === 'unknown') throw new HttpProblem('unknown-reminder')
      return { status: 204 }
    },
  }),
]

function changed(change: NoteChange): { readonly status: 204 } {
  switch (change.kind) {
    case 'done':
      return { status: 204 }
    case 'unknown':
      throw new HttpProblem('unknown-note')
    case 'gone':
      throw new HttpProblem('gone')
    case 'no-room': {
      const { kind: why, tokens, limit } = change
      const detail = `The notes would take ${tokens} of ${limit} tokens.`
      throw new HttpProblem('turned-down', { detail, facts: { why, tokensAfter: tokens, limit } })
    }
    default:
      return change satisfies never
  }
}
