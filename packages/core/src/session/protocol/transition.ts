import type { MailNumber, OperationId } from '../../base/ids.ts'
import type { Refusal } from '../../store/commits.ts'
import type { SessionView } from '../context/session-view.ts'
import type { Decisions } from './policy.ts'
import { type Advance, type Notice, operationOf, type SessionCommit, type State } from './state.ts'

/**
 * One possible action. `null`: does not apply, try the next rule. `wait`: applies, but there is
 * nothing to do until an event arrives.
 */
export type ProtocolRule = (state: State, view: SessionView, decisions: Decisions) => RuleOutcome
export type RuleOutcome = Advance | 'wait' | null

export function commit(state: State, wanted: SessionCommit): Advance {
  return {
    state: { ...state, busy: wanted, restingSince: null },
    effects: [{ kind: 'commit', commit: wanted }],
  }
}

/** A commit under the next operation id. */
export function commitNew(state: State, build: (operation: OperationId) => SessionCommit): Advance {
  const count = state.count + 1
  return commit({ ...state, count }, build(operationOf(state.lease, count)))
}

/** The fields of every append beside its operation: the lease, and the known tail. */
export function fencedBy({ lease }: State, { session }: SessionView) {
  return { lease, tail: { number: session.tail, hash: session.tailHash } }
}

export function look(state: State): Advance {
  return { state: { ...state, busy: 'look', hinted: false }, effects: [{ kind: 'look' }] }
}

/** Wakes the actor at a monotonic time, unless something else does so earlier. */
export function waitUntil(state: State, at: number): RuleOutcome {
  const { timerAt } = state
  if (timerAt !== null && timerAt > state.at.mono && timerAt <= at) return 'wait'
  return { state: { ...state, timerAt: at }, effects: [{ kind: 'setTimer', at }] }
}

/** Announces a wait once per turn; null if it was announced already. */
export function notify(state: State, turn: number, notice: Notice): Advance | null {
  return noticesOf(state, turn).notices.includes(notice) ? null : announce(state, turn, notice)
}

/**
 * Announces why no step runs, and again for each new time of the next try; null if announced
 * already.
 */
export function notifyStepWait(state: State, turn: number): Advance | null {
  const { at, modelRetryAt, stepWait } = state
  const wait = stepWait?.turn === turn ? stepWait : null
  const notice = wait?.notice ?? 'waiting-for-model'
  const { notices, retryAt } = noticesOf(state, turn)
  if (notices.includes(notice) && retryAt === modelRetryAt) return null
  const nextTryAt = Math.round(at.wall + modelRetryAt - at.mono)
  const known = { ...state, notified: { ...noticesOf(state, turn), turn, retryAt: modelRetryAt } }
  return announce(known, turn, notice, { nextTryAt, ...(wait !== null && { why: wait.why }) })
}

function noticesOf({ notified }: State, turn: number): State['notified'] {
  return notified.turn === turn ? notified : { turn, notices: [], earlier: [] }
}

function announce(state: State, turn: number, notice: Notice, facts: object = {}): Advance {
  const notified = noticesOf(state, turn)
  const { notices, earlier } = notified
  const isKnown = notices.includes(notice) || earlier.includes(notice)
  return {
    state: { ...state, notified: { ...notified, notices: [...new Set([...notices, notice])] } },
    effects: [{ kind: 'notify', turn, notice, isKnown, ...facts }],
  }
}

export function settle(state: State, mail: readonly MailNumber[]): Advance {
  return commit(state, { verb: 'settleControl', request: { lease: state.lease, mail } })
}

/** Reports the reason to the requester. */
export function refuseControl(state: State, mail: MailNumber, refused: Refusal): Advance {
  const request = { lease: state.lease, mail: [mail], refused }
  return commit(state, { verb: 'settleControl', request })
}

/** Whether a model may be asked for a handoff, by the store's record and by our own. */
export function mayAsk(
  state: State,
  view: SessionView,
  decisions: Decisions,
  asks: 'automatic' | 'manual' = 'automatic',
): ReturnType<Decisions['mayAskModel']> {
  const { at, settings, handoffRetryAt } = state
  const waitMs = handoffRetryAt - at.mono
  if (asks === 'automatic' && waitMs > 0) return { kind: 'wait', why: 'failure', waitMs }
  return decisions.mayAskModel(view.operations, at.wall, settings, asks)
}
