import { entryNumber, type MailNumber, type OperationId } from '../../base/ids.ts'
import type { Lease } from '../../store/contract.ts'
import { decide } from './decide.ts'
import type { Decisions } from './policy.ts'
import { refusalOf } from './rules/controls.ts'
import {
  type Advance,
  type Committed,
  type Effect,
  type Event,
  numbered,
  only,
  type Picture,
  type SessionSettings,
  type State,
} from './state.ts'

/**
 * The protocol of one session, as a pure machine: `advance(state, event)` gives the next state and
 * what is to be done. It reads no clock, draws no chance and waits for nothing.
 *
 * **One thing at a time.** Every append compares the tail, so at most one commit is on its way
 * (`busy`). After each the machine looks: it reads the session's row, the new entries and the
 * waiting mail. What to do next is decided from that picture alone and never from what we believe
 * to have done; so an unknown outcome, a late answer and a fresh take-over are the same case. A
 * product that waits to be committed (a reply, results, a handoff) carries its operation id, and is
 * done when that id stands at the entry behind the tail that we knew; until then it is offered
 * again under the same id, never blindly (decision 7).
 *
 * **States.** `live`: look, decide, act. `closing`: nothing new is begun, what runs is ended, the
 * lease is given back. `ended`: entered by a release, by the loss of the lease (`lost`: another
 * holder, or our time ran out) or by deletion; left by nothing, and nothing is written after it.
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
 * the operator changed enter between two turns. Whoever waits, for room or for a model that is
 * down, is told so once per turn.
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
    picture: null,
    busy: null,
    stale: true,
    hinted: false,
    count: 0,
    step: { kind: 'none' },
    tools: { kind: 'none' },
    handoff: { kind: 'none' },
    revert: { kind: 'none' },
    erasure: { kind: 'none' },
    delivery: null,
    turnedDown: null,
    idleDue: false,
    overflow: null,
    handoffFailures: 0,
    handoffRetryAt: 0,
    failures: 0,
    retryAt: 0,
    modelFailures: 0,
    modelRetryAt: 0,
    told: { turn: 0, notices: [], earlier: [] },
    refusedSettings: null,
    collect: null,
    restingSince: null,
    timerAt: null,
    refusals: 0,
  }
}

const NO_ENTRY = entryNumber(0)
const OVERFLOW_SHARE = 0.8

/** More refusals in a row than any order of events explains. */
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

/** What an event says about the world; deciding comes after. */
function absorb(state: State, event: Event): Advance {
  switch (event.kind) {
    case 'opened':
      return only(state)
    case 'woken':
      return only({ ...state, hinted: true })
    case 'looked':
      return only(absorbPicture(state, event.picture, event.next))
    case 'committed':
      return absorbCommit(state, event.committed)
    case 'unsure':
      return only({ ...state, busy: null, stale: true, delivery: deliveryOf(state) })
    case 'unavailable':
      return only(failed({ ...state, busy: null, stale: true }))
    case 'lost':
      return lose(state)
    case 'step ended':
      return only(absorbStep(state, event.outcome))
    case 'tools ended':
      if (state.tools.kind !== 'running') return only(state)
      return only(
        numbered(state, (operation) => ({
          tools: { kind: 'ended', operation, results: event.results },
        })),
      )
    case 'handoff written':
    case 'handoff failed':
      return only(absorbHandoff(state, event))
    case 'handoff delayed':
      if (state.handoff.kind !== 'writing' || state.handoff.operation.id !== event.operation) {
        return only(state)
      }
      return only(failed({ ...state, handoff: { kind: 'none' } }))
    case 'revert measured': {
      const { target, tokensAfter, upto } = event
      if (state.revert.kind !== 'measuring') return only(state)
      return only(
        numbered(state, (operation) => ({
          revert: { kind: 'measured', target, tokensAfter, upto, operation },
        })),
      )
    }
    case 'replacement written': {
      const { mail, base, replacement } = event
      if (state.erasure.kind !== 'writing') return only(state)
      // It tells of what held then: of a range that has grown, or of what was erased meanwhile.
      if (state.picture?.session.base !== base) return only({ ...state, erasure: { kind: 'none' } })
      return only(
        numbered(state, (operation) => ({
          erasure: { kind: 'written', mail, base, replacement, operation },
        })),
      )
    }
    case 'model back':
      return only({ ...state, modelFailures: 0, modelRetryAt: 0 })
    case 'closing':
      return only({ ...state, phase: 'closing' })
    default:
      return event satisfies never
  }
}

/** What was asked for and may yet be done. */
function deliveryOf({ busy, delivery }: State): State['delivery'] {
  return busy !== null && busy !== 'look' && busy.verb === 'deliver' ? busy.request : delivery
}

function absorbPicture(state: State, picture: Picture, next: OperationId | null): State {
  const done = (operation: OperationId) => next === operation
  const { session } = picture
  const running = picture.operations.find((operation) => operation.id === session.operation)
  const isAsked = (mail: MailNumber) => picture.controls.some(({ number }) => number === mail)
  const isTurnOver = (turn: number) => session.turnState !== 'running' || session.turn !== turn
  const { step, tools, handoff, revert, erasure, delivery, overflow } = state
  return {
    ...state,
    busy: null,
    stale: false,
    picture,
    // Whoever fails to reach the model tells so at once; what they told is not told again.
    ...(picture.wasFailing === true && {
      told: { turn: session.turn, notices: [], earlier: ['waiting-for-model'] as const },
    }),
    // Any other entry behind the tail that it named has made it void.
    delivery: delivery?.tail.hash === session.tailHash ? delivery : null,
    ...(step.kind === 'ended' &&
      (done(step.operation) || isTurnOver(step.turn)) && { step: { kind: 'none' } as const }),
    ...(tools.kind === 'ended' &&
      (done(tools.operation) || session.openCalls.length === 0) && {
        tools: { kind: 'none' } as const,
      }),
    ...((handoff.kind === 'written' || handoff.kind === 'refused') &&
      running?.id !== handoff.operation.id && { handoff: { kind: 'none' } as const }),
    ...(revert.kind !== 'none' &&
      revert.target !== session.effective && { revert: { kind: 'none' } as const }),
    ...(erasure.kind === 'written' &&
      (done(erasure.operation) || erasure.base !== session.base || !isAsked(erasure.mail)) && {
        erasure: { kind: 'none' } as const,
      }),
    ...(overflow !== null &&
      (overflow.base !== session.base || isTurnOver(overflow.turn)) && { overflow: null }),
  }
}

function absorbCommit(state: State, committed: Committed): Advance {
  const { verb, outcome } = committed
  if (outcome.kind === 'superseded' && outcome.by !== 'tail') return lose(state)
  if (verb === 'release' && outcome.kind === 'done') {
    return { state: { ...state, phase: 'ended' }, effects: [{ kind: 'end', how: 'released' }] }
  }
  const refusals = SUCCESSES.includes(outcome.kind) ? 0 : state.refusals + 1
  const answered = verb === 'deliver' ? { delivery: null } : {}
  const free: State = {
    ...backOff(state, committed),
    ...answered,
    busy: null,
    stale: true,
    refusals,
  }
  const asked = state.busy
  if (refusals === 0 || outcome.kind === 'superseded' || asked === null || asked === 'look') {
    return only(free)
  }
  if (asked.verb === 'changeSettings' && asked.request.settles === undefined) {
    return only({ ...free, refusedSettings: state.picture?.wanted ?? null })
  }
  const turnsDown =
    asked.verb === 'revert' ||
    asked.verb === 'pin' ||
    asked.verb === 'changeSettings' ||
    asked.verb === 'eraseEntries'
  const [mail] = turnsDown ? (asked.request.settles ?? []) : []
  if (mail === undefined) return only(free)
  const turnedDown = { mail, refused: refusalOf(outcome) }
  return only({ ...free, turnedDown, revert: { kind: 'none' } })
}

/** A model that fails is left alone for a while, by our own monotonic clock too (I25, I27). */
function backOff(state: State, { verb, outcome }: Committed): State {
  const { handoff } = state
  if (verb === 'commitCompaction' && outcome.kind === 'committed') {
    return { ...state, handoffFailures: 0, handoffRetryAt: 0 }
  }
  if (verb !== 'failCompaction' || handoff.kind === 'none' || handoff.operation.by === 'digest') {
    return state
  }
  const handoffFailures = state.handoffFailures + 1
  const { retryMs, retryMsMax } = state.settings
  const waitMs = Math.min(retryMsMax, retryMs * 2 ** Math.min(handoffFailures, 20))
  return { ...state, handoffFailures, handoffRetryAt: state.at.mono + waitMs }
}

const SUCCESSES: readonly string[] = [
  ...['done', 'delivered', 'committed', 'recovered', 'claimed', 'appended', 'reverted', 'erased'],
]

function absorbStep(
  state: State,
  outcome: Extract<Event, { kind: 'step ended' }>['outcome'],
): State {
  const { step, picture } = state
  if (step.kind !== 'running') return state
  if (outcome.kind === 'overflow') {
    const base = picture?.session.base ?? NO_ENTRY
    // A provider that gives no number takes less than this; how much less is not known.
    const guess = Math.floor((picture?.context.tokens ?? 0) * OVERFLOW_SHARE)
    const { limitTokens = guess } = outcome
    return { ...state, step: { kind: 'none' }, overflow: { turn: step.turn, base, limitTokens } }
  }
  // An aborted call that failed instead of answering was aborted all the same.
  const ended =
    step.aborting && outcome.kind === 'failed'
      ? ({ kind: 'interrupted', message: null, tokens: 0 } as const)
      : outcome
  if (ended.kind === 'failed' && ended.retryable) {
    const { modelRetryMs, modelRetryMsMax } = state.settings
    const waitMs = Math.min(modelRetryMsMax, modelRetryMs * 2 ** Math.min(state.modelFailures, 20))
    const modelFailures = state.modelFailures + 1
    const modelRetryAt = state.at.mono + waitMs
    return { ...state, step: { kind: 'none' }, modelFailures, modelRetryAt }
  }
  const { turn, upto } = step
  return numbered({ ...state, failures: 0, modelFailures: 0, modelRetryAt: 0 }, (operation) => ({
    step: { kind: 'ended', turn, upto, operation, outcome: ended },
  }))
}

function absorbHandoff(
  state: State,
  event: Extract<Event, { kind: 'handoff written' | 'handoff failed' }>,
): State {
  const { handoff } = state
  if (handoff.kind !== 'writing' || handoff.operation.id !== event.operation) return state
  const { operation, focus } = handoff
  if (event.kind === 'handoff failed') {
    return { ...state, handoff: { kind: 'refused', operation, focus, reason: event.reason } }
  }
  const { kind: _, at: __, operation: ___, ...written } = event
  return { ...state, handoff: { kind: 'written', operation, focus, ...written } }
}

/** Stops at once: whoever holds the session now must find nothing of ours still beginning. */
function lose(state: State): Advance {
  const effects: Effect[] = []
  if (state.step.kind === 'running') effects.push({ kind: 'abortStep' })
  if (state.tools.kind === 'running') effects.push({ kind: 'abortTools' })
  if (state.handoff.kind === 'writing') effects.push({ kind: 'abortHandoff', reason: 'lost' })
  effects.push({ kind: 'end', how: 'lost' })
  return { state: { ...state, phase: 'ended' }, effects }
}

function failed(state: State): State {
  const { retryMs, retryMsMax } = state.settings
  const backOff = Math.min(retryMsMax, retryMs * 2 ** Math.min(state.failures, 20))
  return { ...state, failures: state.failures + 1, retryAt: state.at.mono + backOff }
}
