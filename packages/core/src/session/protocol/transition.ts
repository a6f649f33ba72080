import type { MailNumber, OperationId } from '../../base/ids.ts'
import type { Refusal } from '../../store/commits.ts'
import type { SessionView } from '../context/session-view.ts'
import type { Decisions } from './policy.ts'
import { type Advance, type Notice, operationOf, type SessionCommit, type State } from './state.ts'

/**
 * One thing that could be done now. `null`: does not apply, ask the next. `wait`: it applies, there
 * is nothing to do but wait for an event.
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

/** What every append carries beside its operation: the lease, and the tail that we know. */
export function fencedBy({ lease }: State, { session }: SessionView) {
  return { lease, tail: { number: session.tail, hash: session.tailHash } }
}

export function look(state: State): Advance {
  return { state: { ...state, busy: 'look', hinted: false }, effects: [{ kind: 'look' }] }
}

/** Wakes us at a monotonic time, unless something earlier does. */
export function waitUntil(state: State, at: number): RuleOutcome {
  const { timerAt } = state
  if (timerAt !== null && timerAt > state.at.mono && timerAt <= at) return 'wait'
  return { state: { ...state, timerAt: at }, effects: [{ kind: 'setTimer', at }] }
}

/** Tells whoever waits, once per turn; null: they know. */
export function notify(state: State, turn: number, notice: Notice): Advance | null {
  const { notified } = state
  const notices = notified.turn === turn ? notified.notices : []
  const earlier = notified.turn === turn ? notified.earlier : []
  if (notices.includes(notice)) return null
  return {
    state: { ...state, notified: { turn, notices: [...notices, notice], earlier } },
    effects: [{ kind: 'notify', turn, notice, isKnown: earlier.includes(notice) }],
  }
}

export function settle(state: State, mail: readonly MailNumber[]): Advance {
  return commit(state, { verb: 'settleControl', request: { lease: state.lease, mail } })
}

/** Whoever asked is told why it was not done. */
export function turnDown(state: State, mail: MailNumber, refused: Refusal): Advance {
  const request = { lease: state.lease, mail: [mail], refused }
  return commit(state, { verb: 'settleControl', request })
}

/** Whether a model may be asked for a handoff: by the store's record, and by our own. */
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
