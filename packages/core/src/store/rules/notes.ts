import { NOTE_BYTES_MAX, NOTES_MAX, TOKENS_MAX } from '../bounds.ts'
import { InvalidRequestError } from '../errors.ts'
import { bytesOver, checkName, isMoment } from '../measure.ts'
import type { NoteRow } from '../operational-rows.ts'
import type { Rule } from './ruling.ts'

/**
 * Notes that an agent keeps across sessions; the same id replaces a note. A session that is being
 * deleted accepts no notes: its notes are erased with it, and a late one would stay.
 */
export const putNote: Rule<'putNote'> = (rows, request, stamp) => {
  const { agent, scope, id, text, origin, replaces = false, isInherited = false } = request
  checkName(id, 'A note')
  const session = origin === null ? undefined : rows.session(origin.sessionId)
  if (session !== undefined && session.scope !== scope && !isInherited) {
    const problem = 'A note must have the scope of the session it comes from.'
    throw new InvalidRequestError({ problem })
  }
  if (session !== undefined && session.state !== 'open') return { outcome: { kind: 'gone' } }
  const large = bytesOver(text, NOTE_BYTES_MAX)
  if (large !== null) return { outcome: large }
  const before = rows.note(agent, scope, id) ?? null
  if (before === null && replaces) return { outcome: { kind: 'unknown' } }
  if (before === null && rows.notes(agent, scope) >= NOTES_MAX) {
    return { outcome: { kind: 'full', limit: NOTES_MAX } }
  }
  const note: NoteRow = { agent, scope, id, text: text.toWellFormed(), origin, at: stamp.at }
  return { outcome: { kind: 'noted', note }, change: { notes: [{ before, after: note }] } }
}

export const removeNote: Rule<'removeNote'> = (rows, { agent, scope, id }) => {
  if (rows.note(agent, scope, id) === undefined) return { outcome: { kind: 'unknown' } }
  return { outcome: { kind: 'done' }, change: { notesRemoved: [{ agent, scope, id }] } }
}

/** Tokens never change: to change someone's rights, issue another token. */
export const putToken: Rule<'putToken'> = (rows, token) => {
  checkName(token.id, 'An access token')
  checkName(token.principal, 'The principal of an access token')
  const { hash, createdAt, expiresAt } = token
  if (!/^[0-9a-f]{64}$/.test(hash)) {
    const problem = 'Pass the SHA-256 of the access token in hex, never the token.'
    throw new InvalidRequestError({ problem })
  }
  if (!isMoment(createdAt) || !(expiresAt === null || isMoment(expiresAt))) {
    throw new InvalidRequestError({
      problem: 'The times of an access token must be whole numbers.',
    })
  }
  const isTaken = rows.token(token.id) !== undefined || rows.tokenOf(hash) !== undefined
  if (isTaken) return { outcome: { kind: 'taken' } }
  if (rows.tokens() >= TOKENS_MAX) return { outcome: { kind: 'full', limit: TOKENS_MAX } }
  const { id, principal, scopes, label } = token
  const row = { id, hash, principal, scopes, label: label.toWellFormed(), createdAt, expiresAt }
  return { outcome: { kind: 'done' }, change: { tokens: [row] } }
}

export const removeToken: Rule<'removeToken'> = (rows, { id }) => {
  if (rows.token(id) === undefined) return { outcome: { kind: 'unknown' } }
  return { outcome: { kind: 'done' }, change: { tokensRemoved: [id] } }
}
