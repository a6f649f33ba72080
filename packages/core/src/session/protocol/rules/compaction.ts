import { WAIT_CONFIGURED } from '../../../audit/laws/laws.ts'
import type { MailNumber } from '../../../base/ids.ts'
import { isObject, type JsonValue } from '../../../base/json.ts'
import type { Trigger } from '../../../compaction/plan/plan.ts'
import { warnOfRepetition } from '../../../compaction/report/outcome.ts'
import { REWRITES_MAX } from '../../../store/bounds.ts'
import type { MailItem } from '../../../store/queries.ts'
import type { OperationRow } from '../../../store/tables/rows.ts'
import {
  budgetOf,
  CLOSING,
  couldBeWhole,
  isCarried,
  isHeldByRevert,
  isOverHard,
  lastTurnTokens,
  NOT_SMALLER,
  narrowed,
} from '../../context/budget.ts'
import { tokensBeside } from '../../context/build.ts'
import type { SessionView } from '../../context/session-view.ts'
import { tooLarge } from '../../failure-message.ts'
import type { Decisions } from '../policy.ts'
import { mailBody, numbered, type State, withoutEffects } from '../state.ts'
import { commit, fencedBy, mayAsk, notify, type RuleOutcome } from '../transition.ts'
import { claim, owesErasure, runningOf } from './claim.ts'
import { claimClearing, followClearing } from './clearing.ts'
import { installedBy } from './requested.ts'

/**
 * When to compact. An operation is claimed in the store, written in the background, checked, and
 * committed at any time; it belongs to the session and not to a turn.
 */

/** Starts writing for a claimed operation; drops a superseded one. */
export function followOperation(
  state: State,
  view: SessionView,
  decisions: Decisions,
): RuleOutcome {
  const running = runningOf(view)
  const { handoff } = state
  if (handoff.kind !== 'none' && handoff.operation.id !== running?.id) {
    return {
      state: { ...state, handoff: { kind: 'none' } },
      effects: handoff.kind === 'writing' ? [{ kind: 'abortHandoff', reason: 'superseded' }] : [],
    }
  }
  if (running === undefined || handoff.kind !== 'none') return null
  const focus = focusOf(view, running)
  if (state.phase === 'closing') {
    const refused = { kind: 'refused', operation: running, focus, reason: CLOSING } as const
    return withoutEffects({ ...state, handoff: refused })
  }
  const { context } = view
  const { limits } = believed(state, view).session
  const carries = decisions.carriedBy(view, running.covers)
  if (running.by === 'clearing') return followClearing(state, view, running, decisions)
  const preview = installedBy(view, running)
  if (preview !== null) {
    return withoutEffects({
      ...state,
      handoff: { kind: 'written', operation: running, focus, ...preview },
    })
  }
  return {
    state: {
      ...state,
      handoff: { kind: 'writing', operation: running, focus, since: view.session.turn },
    },
    effects: [{ kind: 'writeHandoff', operation: running, focus, context, limits, carries }],
  }
}

/**
 * Commits the written handoff if it may be installed; otherwise ends the operation without effect.
 */
export function offerHandoff(state: State, view: SessionView, decisions: Decisions): RuleOutcome {
  const { handoff } = state
  if (handoff.kind !== 'written' && handoff.kind !== 'refused') return null
  const { operation, focus } = handoff
  if (handoff.kind === 'refused') {
    const { requestedBy, by } = operation
    // A person who requested a compaction gets the digest if no model wrote a summary.
    const isOver = by === 'digest' || !isAskedFor(view, requestedBy)
    return commit(state, {
      verb: 'failCompaction',
      request: {
        operation: operation.id,
        fence: state.lease.fence,
        state: 'failed',
        reason: handoff.reason,
        settles: requestedBy === null || !isOver ? [] : [requestedBy],
        refused: {
          why: handoff.reason === NOT_SMALLER ? 'nothing-to-compact' : 'compaction-failed',
        },
      },
    })
  }
  const { by, covers } = operation
  const { body, tokens, carries, clearing, provenance } = handoff
  const problem = decisions.judgeHandoff(view, { by, covers, tokens, carries })
  if (problem !== null) {
    return withoutEffects({
      ...state,
      handoff: { kind: 'refused', operation, focus, reason: problem },
    })
  }
  const { context } = view
  // One that replaces a digest or shortens results adds no round.
  const isRound = by === 'model' || by === 'digest'
  const [warning] = isRound ? warnOfRepetition(compactionsIn(body), state.settings.warnFrom) : []
  return commit(state, {
    verb: 'commitCompaction',
    request: {
      ...fencedBy(state, view),
      operation: operation.id,
      body,
      tokens,
      carries,
      ...(clearing !== undefined && { clears: clearing.clears }),
      result: {
        ...provenance,
        tokensBefore: context.tokens,
        tokensAfter:
          clearing?.tokensAfter ??
          tokensBeside(context, { covers, carries, tokens }, view.session.limits),
        messagesBefore: context.pieces.length,
        messagesAfter: context.pieces.filter(
          (piece) => piece.number > covers || isCarried(piece, carries),
        ).length,
        ...(warning !== undefined && { warning }),
      },
      settles: isRound ? joinedBy(view, operation, focus) : [],
    },
  })
}

/** How many rounds a handoff went through, including its own. */
function compactionsIn(body: JsonValue): number {
  const compactions = isObject(body) ? body['compactions'] : undefined
  return typeof compactions === 'number' ? compactions : 0
}

/** All requests for a compaction from before this commit, unless they have another focus. */
function joinedBy(
  { controls }: SessionView,
  operation: OperationRow,
  focus: string | null,
): readonly MailNumber[] {
  return controls
    .filter(
      (mail) =>
        mail.number === operation.requestedBy ||
        (mail.control === 'compact' && [null, focus].includes(focusIn(mail))),
    )
    .map((mail) => mail.number)
}

function focusIn(mail: MailItem): string | null {
  const focus = mailBody(mail)['focus']
  return typeof focus === 'string' ? focus : null
}

function focusOf({ controls }: SessionView, { requestedBy }: OperationRow): string | null {
  const mail = controls.find(({ number }) => number === requestedBy)
  return mail === undefined ? null : focusIn(mail)
}

function isAskedFor({ controls }: SessionView, requestedBy: MailNumber | null): boolean {
  return controls.some(({ number, control }) => number === requestedBy && control === 'compact')
}

/** The session with the window that the provider revealed when it refused this turn. */
function believed({ overflow }: State, view: SessionView): SessionView {
  const { session } = view
  if (overflow === null) return view
  return {
    ...view,
    session: { ...session, limits: narrowed(session.limits, overflow.limitTokens) },
  }
}

/** Since the last step a compaction reacted to the overflow; no model has seen its result yet. */
function hasReacted({ session, operations }: SessionView): boolean {
  const newest = operations.find(({ state }) => state === 'committed')
  return newest?.trigger === 'reactive' && session.base > session.seen
}

/**
 * A turn waits for a compaction only when its next step would not fit, or not with its messages whole,
 * and then for our own work: a digest replaces the summary that a model is still writing, unless the
 * operator configured waiting.
 */
export function claimForSpace(state: State, view: SessionView, decisions: Decisions): RuleOutcome {
  const { session } = view
  if (session.turnState !== 'running' || owesErasure(view)) return null
  const isNeeded = isOverHard(view) || state.overflow !== null
  if (!isNeeded && !couldBeWhole(view)) return null
  const running = runningOf(view)
  const { settings } = state
  const waits = decisions.waitsForModel(settings)
  const givesWay = running?.by === 'rewrite' || (running?.by === 'model' && !waits)
  if (running !== undefined && !givesWay) {
    return notify(state, session.turn, 'waiting-for-compaction') ?? 'wait'
  }
  // Once per step: if one compaction does not make it fit, the next would not either.
  if (state.overflow !== null && hasReacted(view)) return giveUp(state, view)
  const trigger = state.overflow === null ? 'preflight' : 'reactive'
  const clearing =
    isNeeded && trigger === 'preflight' && running === undefined
      ? claimClearing(state, view, decisions, trigger)
      : null
  if (clearing !== null) return clearing
  const covers = isNeeded
    ? decisions.planCover(believed(state, view), trigger, settings)
    : session.seen
  // While a turn waits no model sees anything, so the attempts of this wait cover the same range.
  const failed = view.operations.filter(
    (operation) =>
      operation.base === session.base &&
      operation.covers === covers &&
      operation.state === 'failed' &&
      operation.result['reason'] !== CLOSING &&
      WAITED_FOR.includes(operation.trigger),
  )
  const digests = failed.filter(({ by }) => by === 'digest')
  if (covers === null || digests.length >= DIGESTS_MAX) {
    return isNeeded ? giveUp(state, view) : null
  }
  const hasFailed = failed.some(({ by }) => by === 'model')
  const by =
    isNeeded && waits && !hasFailed && mayAsk(state, view, decisions).kind === 'yes'
      ? 'model'
      : 'digest'
  // From the settings themselves, so that the audit shows a turn that waits although not configured
  // to.
  const isConfigured = by === 'model' && settings.atHardLimit === 'wait'
  const reason = isConfigured
    ? WAIT_CONFIGURED
    : isNeeded
      ? 'the next step does not fit'
      : 'an unanswered message does not fit whole'
  return claim(state, { by, trigger, covers, reason })
}

/** A digest fails if there is too little to gain; repeating it gains no more. */
const DIGESTS_MAX = 2
const WAITED_FOR: readonly string[] = ['preflight', 'reactive'] satisfies Trigger[]

/** Nothing is left to cut, but the provider still refuses: the turn ends with that reason. */
function giveUp(state: State, view: SessionView): RuleOutcome {
  const { session, context } = view
  const { turn, tail } = session
  const { hardTokens, outputTokens } = believed(state, view).session.limits
  const reason = tooLarge(context, hardTokens - outputTokens)
  const outcome = { kind: 'failed', reason, retryable: false } as const
  return withoutEffects(
    numbered({ ...state, overflow: null }, (operation) => ({
      step: { kind: 'ended', turn, upto: tail, operation, outcome },
    })),
  )
}

/**
 * In the background: above the soft limit, for a digest that a model should rewrite, or when idle.
 */
export function claimInBackground(
  state: State,
  view: SessionView,
  decisions: Decisions,
): RuleOutcome {
  const { session, context } = view
  if (owesErasure(view)) return null
  const { settings } = state
  const isDue = context.tokens >= budgetOf(session.limits, settings).softTokens
  const isFree = session.operation === null && state.handoff.kind === 'none'
  const clearing =
    isDue && isFree && !isHeldByRevert(view)
      ? claimClearing(state, view, decisions, 'background')
      : null
  if (clearing !== null) return clearing
  const ahead = isDue ? claimAhead(state, view, decisions) : null
  if (ahead !== null) return ahead
  if (!isFree) return null
  const isDigest = session.by === 'digest' && session.rewrites < REWRITES_MAX
  if (!isDue && !isDigest && !state.idleDue) return null
  const asked = mayAsk(state, view, decisions)
  // If models were asked often enough, a digest keeps the conversation below the hard limit.
  const by = asked.kind === 'yes' ? 'model' : 'digest'
  if (asked.kind === 'wait' && (asked.why !== 'rate' || !isDue)) return null
  const trigger: Trigger = isDue ? 'background' : 'idle'
  if ((isDue && !isHeldByRevert(view)) || state.idleDue) {
    const covers = decisions.planCover(view, trigger, settings)
    if (covers !== null) {
      const reason = isDue ? 'over the soft limit' : 'at rest'
      return claim({ ...state, idleDue: false }, { by, trigger, covers, reason })
    }
  }
  if (by === 'digest') return null
  if (!isDigest) return state.idleDue ? withoutEffects({ ...state, idleDue: false }) : null
  return claim(state, {
    by: 'rewrite',
    trigger: 'background',
    covers: session.covers,
    reason: 'a digest is in effect',
  })
}

/**
 * When idle, if a turn like the last one would not fit: installs a digest now, while no one waits,
 * if a model has been writing for longer than a turn or may not be asked. Only once: a failure
 * shows that there is too little to gain.
 */
function claimAhead(state: State, view: SessionView, decisions: Decisions): RuleOutcome {
  const { session, context, operations } = view
  const { limits, turn, turnState, base } = session
  if (turnState !== 'idle' || decisions.waitsForModel(state.settings)) return null
  const fits = context.tokens + lastTurnTokens(context) + limits.outputTokens <= limits.hardTokens
  if (fits || isHeldByRevert(view)) return null
  const running = runningOf(view)
  const { handoff } = state
  const isOutrun =
    running === undefined
      ? mayAsk(state, view, decisions).kind === 'wait'
      : running.by !== 'digest' &&
        running.requestedBy === null &&
        handoff.kind === 'writing' &&
        handoff.since < turn
  const hasFailed = operations.some(
    (operation) => operation.by === 'digest' && operation.base === base,
  )
  if (!isOutrun || hasFailed) return null
  const covers = decisions.planCover(view, 'background', state.settings)
  if (covers === null) return null
  const reason = 'the next turn might not fit'
  return claim(state, { by: 'digest', trigger: 'background', covers, reason })
}
