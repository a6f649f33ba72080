import { MAIL_BYTES_MAX, SCHEDULES_MAX } from '../bounds.ts'
import { InvalidRequestError } from '../errors.ts'
import { canonicalJson } from '../integrity/canonical.ts'
import { bytesOver, checkName, isMoment } from '../measure.ts'
import type { ScheduleRow } from '../operational-rows.ts'
import { admit } from './admit.ts'
import type { AuditDraft, Rule } from './ruling.ts'

/**
 * Timers that outlive every process. The store compares no clock and knows no calendar: a process
 * that finds a schedule due fires it and gives the next time. That commit admits the mail and
 * advances the schedule, so only one of several processes fires it, and a crash leaves both or
 * neither.
 */
export const putSchedule: Rule<'putSchedule'> = (rows, request, stamp) => {
  const { id, sessionId, dueAt, repeat, tokens, from } = request
  checkName(id, 'A schedule')
  if (!isMoment(dueAt) || !isMoment(tokens)) {
    const problem = `A schedule needs a due time and tokens as whole numbers; found ${dueAt} and ${tokens}.`
    throw new InvalidRequestError({ problem })
  }
  const session = rows.session(sessionId)
  if (session === undefined) return { outcome: { kind: 'unknown' } }
  if (session.state !== 'open') return { outcome: { kind: 'gone' } }
  const before = rows.schedule(id) ?? null
  if (before !== null && before.sessionId !== sessionId) return { outcome: { kind: 'taken' } }
  const firedAt = before?.firedAt ?? null
  // A schedule that was moved back may reach times that already fired; the keys of their mail show
  // it.
  const isPassed =
    from === undefined
      ? firedAt !== null && dueAt <= firedAt
      : before?.state !== 'waiting' || before.dueAt !== from
  if (isPassed) return { outcome: { kind: 'passed', firedAt } }
  const body = canonicalJson(request.body)
  const large = bytesOver(body, MAIL_BYTES_MAX)
  if (large !== null) return { outcome: large }
  const isNew = before?.state !== 'waiting'
  if (isNew && rows.waitingSchedules(sessionId) >= SCHEDULES_MAX) {
    return { outcome: { kind: 'full', limit: SCHEDULES_MAX } }
  }
  const schedule: ScheduleRow = {
    id,
    sessionId,
    dueAt,
    repeat: repeat?.toWellFormed() ?? null,
    body,
    tokens,
    state: 'waiting',
    fired: before?.fired ?? 0,
    firedAt,
    at: stamp.at,
  }
  return {
    outcome: { kind: 'scheduled', schedule },
    change: { schedules: [{ before, after: schedule }], audit: [line(schedule)] },
  }
}

export const cancelSchedule: Rule<'cancelSchedule'> = (rows, { id }) => {
  const before = rows.schedule(id)
  if (before === undefined) return { outcome: { kind: 'unknown' } }
  if (before.state !== 'waiting') return { outcome: { kind: 'done' } }
  const after = { ...before, state: 'cancelled' } as const
  return {
    outcome: { kind: 'done' },
    change: { schedules: [{ before, after }], audit: [line(after)] },
  }
}

export const fireSchedule: Rule<'fireSchedule'> = (rows, { id, dueAt, nextDueAt }, stamp) => {
  if (nextDueAt !== null && !(isMoment(nextDueAt) && nextDueAt > dueAt)) {
    const problem = `A schedule due at ${dueAt} is due next at a later whole number; found ${nextDueAt}.`
    throw new InvalidRequestError({ problem })
  }
  const before = rows.schedule(id)
  if (before === undefined) return { outcome: { kind: 'unknown' } }
  if (before.state !== 'waiting' || before.dueAt !== dueAt) {
    return { outcome: { kind: 'not-due', schedule: before } }
  }
  const { sessionId, tokens } = before
  const { outcome, change } = admit(
    rows,
    {
      to: { sessionId },
      source: 'schedule',
      key: `${id} ${dueAt}`,
      lane: 'notification',
      body: JSON.parse(before.body),
      tokens,
    },
    stamp,
  )
  switch (outcome.kind) {
    case 'admitted':
    // Already admitted under this key: only the schedule advances.
    case 'duplicate':
    case 'conflict':
      break
    case 'full':
    case 'unknown':
      return { outcome }
    case 'gone': {
      // The session is gone, so the schedule ends.
      const after = { ...before, state: 'ended' } as const
      return { outcome, change: { schedules: [{ before, after }] } }
    }
    // Cannot happen: `putSchedule` checked the size, and scheduled mail has no blobs.
    case 'too-large':
    case 'blob-missing':
      throw new Error(`schedule ${id} could not be admitted: ${outcome.kind}`)
    default:
      return outcome satisfies never
  }
  const schedule: ScheduleRow = {
    ...before,
    dueAt: nextDueAt ?? dueAt,
    state: nextDueAt === null ? 'ended' : 'waiting',
    fired: before.fired + 1,
    firedAt: dueAt,
  }
  const { mail } = outcome
  const runner = 'runner' in outcome ? outcome.runner : null
  return {
    outcome: { kind: 'fired', sessionId, mail, runner, schedule },
    change: { ...change, schedules: [{ before, after: schedule }] },
  }
}

function line({ id, sessionId, state, dueAt }: ScheduleRow): AuditDraft {
  const facts = { what: 'schedule', schedule: id, state, dueAt }
  return { sessionId, kind: 'settings changed', operation: null, phase: null, facts }
}
