import { type EntryNumber, entryNumber, type MailNumber, type OperationId } from '../../base/ids.ts'
import type { Refusal } from '../../store/commits.ts'
import type { SessionRow } from '../../store/tables/rows.ts'
import { isOfModel } from '../context/budget.ts'
import {
  type Advance,
  type CommitOutcome,
  type Effect,
  type ErasureTrack,
  type Event,
  numbered,
  type SeenSession,
  type State,
  withoutEffects,
} from './state.ts'

const NO_ENTRY = entryNumber(0)
const OVERFLOW_SHARE = 0.8
/**
 * How often a paused turn checks whether it may continue, because a day ends or limits are raised.
 */
const SPEND_CHECK_MS = 60_000

/** Records what an event reports; decisions come after. */
export function absorb(state: State, event: Event): Advance {
  switch (event.kind) {
    case 'opened':
      return withoutEffects(state)
    case 'woken':
      return withoutEffects({ ...state, hinted: true })
    case 'looked':
      return withoutEffects(absorbView(state, event))
    case 'committed':
      return absorbSeen(absorbCommit(state, event.committed), event.seen)
    case 'unsure':
      return withoutEffects({ ...state, busy: null, stale: true, inDoubt: inDoubtOf(state) })
    case 'unavailable':
      return withoutEffects(failed({ ...state, busy: null, stale: true }))
    case 'lost':
      return lose(state)
    case 'step ended':
      return withoutEffects(absorbStep(state, event.outcome))
    case 'tools ended':
      if (state.tools.kind !== 'running') return withoutEffects(state)
      return withoutEffects(
        numbered(state, (operation) => ({
          tools: { kind: 'ended', operation, results: event.results },
        })),
      )
    case 'handoff written':
    case 'handoff failed':
      return withoutEffects(absorbHandoff(state, event))
    case 'handoff delayed':
      if (state.handoff.kind !== 'writing' || state.handoff.operation.id !== event.operation) {
        return withoutEffects(state)
      }
      return withoutEffects(failed({ ...state, handoff: { kind: 'none' } }))
    case 'revert measured': {
      const { target, tokensAfter, upto, limits } = event
      if (!isMeasuring(state, target)) return withoutEffects(state)
      return withoutEffects(
        numbered(state, (operation) => ({
          revert: { kind: 'measured', target, tokensAfter, upto, limits, operation },
        })),
      )
    }
    case 'revert delayed':
      if (!isMeasuring(state, event.target)) return withoutEffects(state)
      return withoutEffects(failed({ ...state, revert: { kind: 'none' } }))
    case 'replacement written': {
      const { mail, base, owed, replacement } = event
      if (state.erasure.kind !== 'writing') return withoutEffects(state)
      const written = { kind: 'written', mail, base, owed, replacement } as const
      // The result describes an outdated range: it has grown, or entries were erased since.
      const isVoid = state.view === null || isOutdated(written, state.view.session)
      if (isVoid) return withoutEffects({ ...state, erasure: { kind: 'none' } })
      // Looks if it cannot be offered: its request may have been withdrawn while it was written.
      const hinted = { ...state, hinted: true }
      return withoutEffects(
        numbered(hinted, (operation) => ({ erasure: { ...written, operation } })),
      )
    }
    case 'model back':
      return withoutEffects(tryNow(state))
    case 'closing':
      return withoutEffects({ ...state, phase: 'closing' })
    default:
      return event satisfies never
  }
}

/** Nothing delays the next step now. */
export function tryNow(state: State): State {
  return { ...state, modelFailures: 0, modelRetryAt: 0, stepWait: null }
}

/** An answer about an older compaction does not apply to the newest. */
function isMeasuring({ revert }: State, target: EntryNumber): boolean {
  return revert.kind === 'measuring' && revert.target === target
}

/** The commit that may still be carried out. Others are decided again after a look. */
function inDoubtOf({ busy, inDoubt }: State): State['inDoubt'] {
  if (busy === null || busy === 'look') return inDoubt
  return busy.verb === 'deliver' || busy.verb === 'commitReply' ? busy : inDoubt
}

/** What the commit returned is a look; another one follows if something may have arrived since. */
function absorbSeen(after: Advance, seen: SeenSession | undefined): Advance {
  const { state } = after
  if (seen === undefined || state.phase === 'ended') return after
  return { ...after, state: { ...absorbView(state, seen), stale: state.hinted } }
}

function absorbView(state: State, { view, next }: SeenSession): State {
  const done = (operation: OperationId) => next === operation
  const { session } = view
  const running = view.operations.find((operation) => operation.id === session.operation)
  const isAsked = (mail: MailNumber) => view.controls.some(({ number }) => number === mail)
  const isTurnOver = (turn: number) => session.turnState !== 'running' || session.turn !== turn
  const { step, tools, handoff, revert, erasure, inDoubt, overflow, stepWait } = state
  return {
    ...state,
    busy: null,
    stale: false,
    view,
    // A failure to reach the model is reported at once, and only once.
    ...(view.wasFailing === true && {
      notified: { turn: session.turn, notices: [], earlier: ['waiting-for-model'] as const },
    }),
    // Any other entry after its expected tail has made it void.
    inDoubt: inDoubt?.request.tail.hash === session.tailHash ? inDoubt : null,
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
      (done(erasure.operation) ||
        isOutdated(erasure, session) ||
        (erasure.mail !== null && !isAsked(erasure.mail))) && {
        erasure: { kind: 'none' } as const,
      }),
    ...(overflow !== null &&
      (overflow.base !== session.base || isTurnOver(overflow.turn)) && { overflow: null }),
    // The next turn does not wait for what the stopped one waited for.
    ...(stepWait !== null && isTurnOver(stepWait.turn) && { modelRetryAt: 0, stepWait: null }),
  }
}

/** The base has changed, or more entries were erased: the handoff may repeat them. */
function isOutdated(
  { base, owed }: Pick<Extract<ErasureTrack, { kind: 'written' }>, 'base' | 'owed'>,
  session: SessionRow,
): boolean {
  return base !== session.base || owed.join() !== session.owed.join()
}

function absorbCommit(state: State, committed: CommitOutcome): Advance {
  const { verb, outcome } = committed
  if (outcome.kind === 'superseded' && outcome.by !== 'tail') return lose(state)
  if (verb === 'release' && outcome.kind === 'done') {
    return { state: { ...state, phase: 'ended' }, effects: [{ kind: 'end', how: 'released' }] }
  }
  const refusals = SUCCESSES.includes(outcome.kind) ? 0 : state.refusals + 1
  const answered = verb === state.inDoubt?.verb ? { inDoubt: null } : {}
  const free: State = {
    ...backOff(state, committed),
    ...answered,
    // Refused settings may fit now that a pin was removed.
    ...(verb === 'pin' && { refusedSettings: null }),
    busy: null,
    stale: true,
    refusals,
  }
  const asked = state.busy
  // The row changed since we looked; another session's erasure may have emptied our handoff.
  const isLate = outcome.kind === 'superseded' || outcome.kind === 'replacement-needed'
  if (refusals === 0 || isLate || asked === null || asked === 'look') return withoutEffects(free)
  if (asked.verb === 'changeSettings' && asked.request.settles === undefined) {
    return withoutEffects({ ...free, refusedSettings: state.view?.wanted ?? null })
  }
  const turnsDown =
    asked.verb === 'revert' ||
    asked.verb === 'pin' ||
    asked.verb === 'changeSettings' ||
    asked.verb === 'eraseEntries'
  const [mail] = turnsDown ? (asked.request.settles ?? []) : []
  if (mail === undefined) return withoutEffects(free)
  const turnedDown = { mail, refused: refusalOf(outcome) }
  return withoutEffects({ ...free, turnedDown, revert: { kind: 'none' } })
}

/**
 * After a failure the model is left alone for a while, measured on our own monotonic clock (I25,
 * I27).
 */
function backOff(state: State, { verb, outcome }: CommitOutcome): State {
  const { handoff } = state
  if (verb === 'commitCompaction' && outcome.kind === 'committed') {
    return { ...state, handoffFailures: 0, handoffRetryAt: 0 }
  }
  if (verb !== 'failCompaction' || handoff.kind === 'none' || !isOfModel(handoff.operation)) {
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
  const { step, view } = state
  if (step.kind !== 'running') return state
  if (outcome.kind === 'overflow') {
    const base = view?.session.base ?? NO_ENTRY
    // If the provider reports no limit, its window is smaller than this context, by an unknown
    // amount.
    const guess = Math.floor((view?.context.tokens ?? 0) * OVERFLOW_SHARE)
    const { limitTokens = guess } = outcome
    return { ...state, step: { kind: 'none' }, overflow: { turn: step.turn, base, limitTokens } }
  }
  // An aborted call that failed instead of answering still counts as aborted.
  const ended =
    step.aborting && (outcome.kind === 'failed' || outcome.kind === 'paused')
      ? ({ kind: 'interrupted', message: null, tokens: 0 } as const)
      : outcome
  if (ended.kind === 'paused') {
    const stepWait = { turn: step.turn, notice: 'waiting-for-approval', why: ended.reason } as const
    const modelRetryAt = state.at.mono + SPEND_CHECK_MS
    return { ...state, step: { kind: 'none' }, modelFailures: 0, modelRetryAt, stepWait }
  }
  if (ended.kind === 'failed' && ended.retryable) {
    const { modelRetryMs, modelRetryMsMax } = state.settings
    const waitMs = Math.min(modelRetryMsMax, modelRetryMs * 2 ** Math.min(state.modelFailures, 20))
    const modelFailures = state.modelFailures + 1
    // Many sessions wait for the same provider and must not all retry at the same time.
    const modelRetryAt = state.at.mono + waitMs * (1 - shareOf(state, modelFailures) / 4)
    const stepWait = { turn: step.turn, notice: 'waiting-for-model', why: ended.reason } as const
    return { ...state, step: { kind: 'none' }, modelFailures, modelRetryAt, stepWait }
  }
  const { turn, upto } = step
  return numbered({ ...tryNow(state), failures: 0 }, (operation) => ({
    step: { kind: 'ended', turn, upto, operation, outcome: ended },
  }))
}

/**
 * From 0 to 1, different for each session and each time. Derived from the holder, which is random
 * for this acquisition, so that the machine itself stays deterministic (FNV-1a).
 */
function shareOf({ lease }: State, nth: number): number {
  let hash = 0x811c9dc5
  for (const character of `${lease.sessionId} ${lease.holder} ${nth}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  }
  return (hash >>> 0) / 2 ** 32
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

/** Stops at once: the next holder must not meet work that this one still starts. */
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

/** The reason of the store's refusal, for the requester. */
function refusalOf(outcome: CommitOutcome['outcome']): Refusal {
  switch (outcome.kind) {
    case 'no-room':
      if (!('limit' in outcome)) return { why: 'no-room' }
      return { why: 'no-room', tokensAfter: outcome.tokensAfter, limit: outcome.limit }
    case 'limits-refused':
      return { why: 'no-room', tokensAfter: outcome.neededTokens, limit: outcome.hardTokens }
    case 'not-newest':
      return { why: 'nothing-to-revert' }
    case 'unknown-pin':
    case 'unknown-entry':
    case 'elsewhere':
      return { why: outcome.kind }
    default:
      return { why: 'not-understood' }
  }
}
