import type { Lease } from '../../store/contract.ts'
import type { SessionView } from '../context/session-view.ts'
import type { SessionSettings } from '../settings.ts'
import { absorb } from './absorb.ts'
import { DECISIONS, type Decisions } from './policy.ts'
import { closeDown } from './rules/close.ts'
import {
  claimForSpace,
  claimInBackground,
  followOperation,
  offerHandoff,
} from './rules/compaction.ts'
import { adoptSettings, applyControls, nameOwedErasures } from './rules/controls.ts'
import { deliverWaitingMail, restOrRelease } from './rules/delivery.ts'
import {
  endStopped,
  handleOpenCalls,
  handleRunningStep,
  offerReply,
  offerResults,
  recoverFirst,
  runStep,
} from './rules/turn.ts'
import type { Advance, Effect, Event, State } from './state.ts'
import { look, type ProtocolRule, type RuleOutcome, waitUntil } from './transition.ts'

/**
 * The protocol of one session, as a pure machine: `advance(state, event)` returns the next state
 * and the effects to perform. It reads no clock, uses no random numbers and waits for nothing.
 *
 * **One thing at a time.** Every append compares the tail, so at most one commit is on its way
 * (`busy`). After each the machine looks: it reads the session's row, the new entries and the
 * waiting mail, or takes them from what the commit returned if no mail waits. The next action is decided from that view alone and never from our belief about
 * past actions, so an unknown outcome, a late answer and a fresh take-over are the same case. A
 * product that waits to be committed (a reply, results, a handoff) carries its operation id, and is
 * done when the entry after the known tail has that id; until then it is offered again under the
 * same id, never blindly (decision 7).
 *
 * **States.** `live`: look, decide, act. `closing`: start nothing new, end what runs, release the
 * lease. `ended`: entered by a release, by the loss of the lease (`lost`: another holder, or our
 * time ran out) or by deletion; it is final, and nothing is written after it.
 *
 * **Beside each other** run at most: one step (the model), one batch of tools, one handoff. They
 * begin by an effect, end by an event, and touch the store only through the slot. `none -> running
 * -> ended -> none`; `ended` waits for its commit. A handoff is `none -> writing -> written |
 * refused -> none`; it is not part of any turn: no stop, no message and no interrupt reaches it, it
 * ends by its own deadline, by being superseded in the store, by loss of the lease or by closing.
 *
 * **A turn** begins with a delivery and ends with a reply without calls, with a stop, or failed.
 * Between two steps, in this order: recovery first, products, controls, then make room (wait for a
 * compaction only above the hard limit, by digest if no model can write one), deliver what may
 * enter, ask for a compaction in the background above the soft limit, run the step. Settings that
 * the operator changed enter between two turns. A person who waits for a compaction or for a model
 * gets one notice per turn.
 */
export function openState(request: {
  readonly lease: Lease
  readonly settings: SessionSettings
  readonly isRepeatable: (tool: string) => boolean
  readonly at: State['at']
}): State {
  return {
    ...request,
    phase: 'live',
    view: null,
    busy: null,
    stale: true,
    hinted: false,
    count: 0,
    step: { kind: 'none' },
    tools: { kind: 'none' },
    handoff: { kind: 'none' },
    revert: { kind: 'none' },
    erasure: { kind: 'none' },
    inDoubt: null,
    turnedDown: null,
    idleDue: false,
    overflow: null,
    handoffFailures: 0,
    handoffRetryAt: 0,
    failures: 0,
    retryAt: 0,
    modelFailures: 0,
    modelRetryAt: 0,
    stepWait: null,
    notified: { turn: 0, notices: [], earlier: [] },
    refusedSettings: null,
    collect: null,
    restingSince: null,
    timerAt: null,
    refusals: 0,
  }
}

/** More refusals in a row than any order of events could explain. */
const REFUSALS_MAX = 50

export function advance(state: State, event: Event, decisions?: Decisions): Advance {
  if (state.phase === 'ended') return { state, effects: [] }
  const after = absorb({ ...state, at: event.at }, event)
  if (after.state.phase === 'ended') return after
  if (after.state.refusals > REFUSALS_MAX) {
    throw new Error(
      `Session ${state.lease.sessionId}: ${REFUSALS_MAX} commits in a row changed nothing.`,
    )
  }
  const decided = decide(after.state, decisions)
  return { state: decided.state, effects: [...after.effects, ...decided.effects] }
}

/** The order is the protocol: the first rule that applies wins. */
const RULES: readonly ProtocolRule[] = [
  recoverFirst,
  followOperation,
  offerReply,
  offerResults,
  offerHandoff,
  closeDown,
  nameOwedErasures,
  applyControls,
  adoptSettings,
  handleOpenCalls,
  handleRunningStep,
  endStopped,
  claimForSpace,
  deliverWaitingMail,
  claimInBackground,
  runStep,
  restOrRelease,
]

/** Each round starts or ends one of the three things that can run; more rounds mean a loop. */
const ROUNDS_MAX = 16

function decide(before: State, decisions: Decisions = DECISIONS): Advance {
  let state = before
  const effects: Effect[] = []
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if (state.busy !== null) return { state, effects }
    const { view } = state
    let next = state.stale || view === null ? look(state) : choose(state, view, decisions)
    if (next === null || next === 'wait') next = state.hinted ? look(state) : null
    if (next === null) return { state, effects }
    state = next.state
    effects.push(...next.effects)
  }
  throw new Error(`Session ${state.lease.sessionId}: the protocol does not come to rest.`)
}

function choose(state: State, view: SessionView, decisions: Decisions): RuleOutcome {
  if (state.at.mono < state.retryAt) return waitUntil(state, state.retryAt)
  for (const choice of RULES) {
    const next = choice(state, view, decisions)
    if (next !== null) return next
  }
  return null
}
