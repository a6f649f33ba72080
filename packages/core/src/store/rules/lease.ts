import type { OperationId } from '../../base/ids.ts'
import { checkName } from '../measure.ts'
import type { SessionRow } from '../tables/rows.ts'
import { Draft } from './change-builder.ts'
import { fencedSession, type Rule } from './ruling.ts'

const NO_OPERATION = '' as OperationId

/**
 * The beat starts at the current time, so that two registrations of a runner rarely share a beat:
 * one that arrives late, after the runner has retired, must not look as old as the first.
 */
export const registerRunner: Rule<'registerRunner'> = (rows, request, stamp) => {
  // The id names a file beside the database.
  checkName(request.id, 'A runner')
  if (rows.runner(request.id) !== undefined) return { outcome: { kind: 'taken' } }
  const after = { ...request, beat: stamp.at }
  return { outcome: { kind: 'done' }, change: { runners: [{ id: request.id, after }] } }
}

/**
 * Renews one row, however many sessions the runner holds. Without the row, all of them are lost.
 */
export const renew: Rule<'renew'> = (rows, request) => {
  const runner = rows.runner(request.runner)
  if (runner === undefined) return { outcome: { kind: 'lost' } }
  const after = { ...runner, beat: runner.beat + 1 }
  return {
    outcome: { kind: 'renewed', beat: after.beat },
    change: { runners: [{ id: runner.id, after }] },
  }
}

/**
 * Compares no clocks (I25): the challenger watched the beat for a lease period on its own monotonic
 * clock, or knows that the process is dead, and passes the beat it saw.
 */
export const dismissRunner: Rule<'dismissRunner'> = (rows, request) => {
  checkName(request.runner, 'A runner')
  const runner = rows.runner(request.runner)
  if (runner === undefined) return { outcome: { kind: 'done' } }
  if (runner.beat !== request.beat) return { outcome: { kind: 'alive' } }
  return { outcome: { kind: 'done' }, change: { runners: [{ id: runner.id, after: null }] } }
}

/**
 * A holder that resumed the turn and did not release it properly was lost. A loss alone says little
 * against the turn: the machine may have stalled, or the process been killed. A turn that kills its
 * process itself is also given up, after more losses than failed attempts.
 */
function lossesOf(session: SessionRow): number {
  return isAtWork(session) ? session.losses + 1 : session.losses
}

/** The holder has recovered the running turn; before that, it has not touched it. */
function isAtWork({ turnState, recovered, fence }: SessionRow): boolean {
  return turnState === 'running' && recovered === fence
}

export const retireRunner: Rule<'retireRunner'> = (rows, request) => {
  if (rows.runner(request.runner) === undefined) return { outcome: { kind: 'lost' } }
  const sessions = rows.heldBy(request.runner).map((before) => ({
    before,
    after: { ...before, runner: null, holder: null, losses: lossesOf(before) },
  }))
  return {
    outcome: { kind: 'done' },
    change: {
      sessions,
      runners: [{ id: request.runner, after: null }],
      audit: sessions.map(({ before }) => ({
        sessionId: before.id,
        kind: 'lease released',
        operation: null,
        phase: null,
        facts: { fence: before.fence, reason: 'shutdown' },
      })),
    },
  }
}

/**
 * The fence rises with every acquisition, even by the same runner, so that its commits still in
 * flight are refused like those of any other process.
 */
export const acquire: Rule<'acquire'> = (rows, request, stamp) => {
  const session = rows.session(request.sessionId)
  if (session === undefined) return { outcome: { kind: 'unknown' } }
  if (session.state !== 'open') return { outcome: { kind: 'gone' } }
  if (rows.runner(request.runner) === undefined) return { outcome: { kind: 'lost' } }
  if (session.fence !== request.fence) {
    return { outcome: { kind: 'fence-changed', fence: session.fence } }
  }
  const holder = session.runner === null ? undefined : rows.runner(session.runner)
  if (holder !== undefined && holder.id !== request.runner) {
    return { outcome: { kind: 'held', by: holder.id, beat: holder.beat } }
  }

  const draft = new Draft(rows, session, NO_OPERATION, stamp)
  const fence = session.fence + 1
  draft.set({ fence, runner: request.runner, holder: request.holder })
  // Between two turns there is nothing to take up, so the holder needs no commit for it.
  if (session.turnState === 'idle') draft.set({ recovered: fence })
  if (session.runner !== null) {
    draft.set({ losses: lossesOf(session) })
    draft.audit('lease lost', { fence: session.fence, runner: session.runner })
  }
  const abandoned = draft.endOperation('abandoned', { reason: 'owner gone' })
  draft.audit('lease acquired', { fence, runner: request.runner })
  const { sessionId, runner } = request
  return {
    outcome: {
      kind: 'acquired',
      lease: { sessionId, runner, holder: request.holder, fence },
      session: draft.session,
      abandoned,
    },
    change: draft.change(),
  }
}

export const release: Rule<'release'> = (rows, { lease, reason, wakeAt }, stamp) => {
  const session = fencedSession(rows, lease)
  if ('kind' in session) return { outcome: session }
  const busy = session.turnState === 'running' || session.operation !== null
  if (reason === 'idle' && busy) return { outcome: { kind: 'in-use' } }
  const draft = new Draft(rows, session, NO_OPERATION, stamp)
  // A clean shutdown is not the turn's fault.
  const isFailure = reason === 'crash' && isAtWork(session)
  const attempts = isFailure ? session.attempts + 1 : session.attempts
  draft.set({ runner: null, holder: null, attempts, ...(wakeAt !== undefined && { wakeAt }) })
  draft.audit('lease released', { fence: session.fence, reason })
  return { outcome: { kind: 'done' }, change: draft.change() }
}

export const setWake: Rule<'setWake'> = (rows, { lease, wakeAt }) => {
  const session = fencedSession(rows, lease)
  if ('kind' in session) return { outcome: session }
  return {
    outcome: { kind: 'done' },
    change: { sessions: [{ before: session, after: { ...session, wakeAt } }] },
  }
}
