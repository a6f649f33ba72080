import { WAIT_CONFIGURED } from '../../../audit/laws/laws.ts'
import type { EntryNumber, MailNumber } from '../../../base/ids.ts'
import { isObject, type JsonValue } from '../../../base/json.ts'
import type { Trigger } from '../../../compaction/plan/plan.ts'
import { warnOfRepetition } from '../../../compaction/report/outcome.ts'
import { REWRITES_MAX } from '../../../store/bounds.ts'
import type { MailItem } from '../../../store/queries.ts'
import type { CompactionBy, OperationRow } from '../../../store/rows.ts'
import {
  budgetOf,
  CLOSING,
  isCarried,
  isClean,
  isHeldByRevert,
  isOverHard,
  lastTurnTokens,
  narrowed,
  rangeTokens,
} from '../../context/budget.ts'
import { parsePreview } from '../../context/parse-preview.ts'
import type { SessionView } from '../../context/session-view.ts'
import { tooLarge } from '../../failure-message.ts'
import type { Decisions } from '../policy.ts'
import { mailBody, numbered, only, type State } from '../state.ts'
import {
  commit,
  commitNew,
  fencedBy,
  mayAsk,
  notify,
  type RuleOutcome,
  turnDown,
} from '../transition.ts'

/**
 * When to compact. An operation is claimed in the store, written in the background, checked, and
 * committed at any time; it belongs to the session and not to a turn. The running operation is read
 * from the store and never remembered, so a claim whose answer was lost is found again.
 */
function runningOf({ session, operations }: SessionView): OperationRow | undefined {
  return operations.find(({ id, state }) => id === session.operation && state === 'running')
}

/** What was erased in another session is named first, with a new handoff where ours was emptied. */
function isOwing({ session }: SessionView): boolean {
  return session.owed.length > 0
}

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
    return only({ ...state, handoff: refused })
  }
  const { context } = view
  const { limits } = believed(state, view).session
  const carries = decisions.carriedBy(view, running.covers)
  const preview = installedBy(view, running)
  if (preview !== null) {
    return only({ ...state, handoff: { kind: 'written', operation: running, focus, ...preview } })
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
      },
    })
  }
  const { by, covers } = operation
  const { body, tokens, carries, provenance } = handoff
  const problem = decisions.judgeHandoff(view, { by, covers, tokens, carries })
  if (problem !== null) {
    return only({ ...state, handoff: { kind: 'refused', operation, focus, reason: problem } })
  }
  const { context } = view
  // A handoff that only replaces a digest adds no round.
  const [warning] =
    by === 'rewrite' ? [] : warnOfRepetition(compactionsIn(body), state.settings.warnFrom)
  return commit(state, {
    verb: 'commitCompaction',
    request: {
      ...fencedBy(state, view),
      operation: operation.id,
      body,
      tokens,
      carries,
      result: {
        ...provenance,
        tokensBefore: context.tokens,
        tokensAfter: context.tokens - rangeTokens(context, covers, carries) + tokens,
        messagesBefore: context.pieces.length,
        messagesAfter: context.pieces.filter(
          (piece) => piece.number > covers || isCarried(piece, carries),
        ).length,
        ...(warning !== undefined && { warning }),
      },
      settles: by === 'rewrite' ? [] : joinedBy(view, operation, focus),
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

/** A person's request joins the running operation, and waits until one has ended after it. */
export function claimManual(
  state: State,
  view: SessionView,
  mail: MailItem,
  decisions: Decisions,
): RuleOutcome {
  const running = runningOf(view)
  if (isOwing(view) || (running !== undefined && running.by !== 'rewrite')) return null
  const { settings } = state
  const asked = mayAsk(state, view, decisions, 'manual')
  const covers = decisions.planCover(view, 'manual', settings)
  if (covers === null) return turnDown(state, mail.number, { why: 'nothing-to-compact' })
  const hasFailed = view.operations.some(
    ({ requestedBy, state, result }) =>
      requestedBy === mail.number && state === 'failed' && result['reason'] !== CLOSING,
  )
  return claimFor(mail, state, covers, hasFailed || asked.kind === 'wait' ? 'digest' : 'model')
}

/** A preview is installed unchanged or not at all: its base must still be current. */
export function claimPreview(state: State, view: SessionView, mail: MailItem): RuleOutcome {
  const running = runningOf(view)
  if (isOwing(view) || (running !== undefined && running.by !== 'rewrite')) return null
  const { session } = view
  const shown = parsePreview(mailBody(mail))
  if (shown === null) return turnDown(state, mail.number, { why: 'not-understood' })
  const { base, covers } = shown
  const isNews = covers > session.covers && covers <= session.seen
  if (base !== session.base || !isNews || !isClean(view.context, covers)) {
    return turnDown(state, mail.number, { why: 'out-of-date' })
  }
  return claimFor(mail, state, covers, 'model')
}

function claimFor(
  { number }: MailItem,
  state: State,
  covers: EntryNumber,
  by: 'model' | 'digest',
): RuleOutcome {
  const reason = `requested by mail ${number}`
  return claim(state, { by, trigger: 'manual', covers, reason, requestedBy: number })
}

function installedBy(view: SessionView, operation: OperationRow) {
  const { controls, context } = view
  const mail = controls.find(
    ({ number, control }) => number === operation.requestedBy && control === 'install',
  )
  if (mail === undefined) return null
  const shown = parsePreview(mailBody(mail))
  if (shown === null) return null
  const { handoff, tokens } = shown
  const carries = context.pieces
    .filter((piece) => piece.number <= operation.covers && isCarried(piece, shown.carries))
    .map((piece) => piece.number)
  return { body: handoff as unknown as JsonValue, tokens, carries }
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

/** Since the last committed step: no model has seen an entry after that compaction. */
function hasReacted({ session, operations }: SessionView): boolean {
  const newest = operations.find(({ state }) => state === 'committed')
  return newest?.trigger === 'reactive' && session.base > session.seen
}

/**
 * A turn waits for a compaction only when its next step would not fit, and then for our own work: a
 * digest replaces the summary that a model is still writing, unless the operator configured
 * waiting.
 */
export function claimForSpace(state: State, view: SessionView, decisions: Decisions): RuleOutcome {
  const { session } = view
  if (session.turnState !== 'running' || isOwing(view)) return null
  if (!isOverHard(view) && state.overflow === null) return null
  const running = runningOf(view)
  const { settings } = state
  const waits = decisions.waitsForModel(settings)
  const givesWay = running?.by === 'rewrite' || (running?.by === 'model' && !waits)
  if (running !== undefined && !givesWay) {
    return notify(state, session.turn, 'waiting-for-compaction') ?? 'wait'
  }
  // Once per step: what one compaction cannot make fit, the next would not either.
  if (state.overflow !== null && hasReacted(view)) return giveUp(state, view)
  const trigger = state.overflow === null ? 'preflight' : 'reactive'
  const covers = decisions.planCover(believed(state, view), trigger, settings)
  // While a turn waits nothing is seen, so the attempts of this very wait cover the same.
  const failed = view.operations.filter(
    (operation) =>
      operation.base === session.base &&
      operation.covers === covers &&
      operation.state === 'failed' &&
      operation.result['reason'] !== CLOSING &&
      WAITED_FOR.includes(operation.trigger),
  )
  const digests = failed.filter(({ by }) => by === 'digest')
  if (covers === null || digests.length >= DIGESTS_MAX) return giveUp(state, view)
  const hasFailed = failed.some(({ by }) => by === 'model')
  const by =
    waits && !hasFailed && mayAsk(state, view, decisions).kind === 'yes' ? 'model' : 'digest'
  // From the settings themselves, so that the audit sees a turn that waits without being told to.
  const isConfigured = by === 'model' && settings.atHardLimit === 'wait'
  const reason = isConfigured ? WAIT_CONFIGURED : 'the next step does not fit'
  return claim(state, { by, trigger, covers, reason })
}

/** A digest fails when there is too little to gain; trying for ever would not make it more. */
const DIGESTS_MAX = 2
const WAITED_FOR: readonly string[] = ['preflight', 'reactive'] satisfies Trigger[]

/** Nothing is left to cut, but the provider still refuses: the turn ends with that reason. */
function giveUp(state: State, view: SessionView): RuleOutcome {
  const { session, context } = view
  const { turn, tail } = session
  const { hardTokens, outputTokens } = believed(state, view).session.limits
  const reason = tooLarge(context, hardTokens - outputTokens)
  const outcome = { kind: 'failed', reason, retryable: false } as const
  return only(
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
  if (isOwing(view)) return null
  const { settings } = state
  const isDue = context.tokens >= budgetOf(session.limits, settings).softTokens
  const ahead = isDue ? claimAhead(state, view, decisions) : null
  if (ahead !== null) return ahead
  if (session.operation !== null || state.handoff.kind !== 'none') return null
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
  if (!isDigest) return state.idleDue ? only({ ...state, idleDue: false }) : null
  return claim(state, {
    by: 'rewrite',
    trigger: 'background',
    covers: session.covers,
    reason: 'a digest is in effect',
  })
}

/**
 * When idle, if a turn like the last one would not fit: installs a digest now, while no one waits,
 * if a model has been writing for longer than a turn or may not be asked. Only once: a failed one
 * shows that it gains too little.
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

function claim(
  state: State,
  wanted: {
    readonly by: CompactionBy
    readonly trigger: Trigger
    readonly covers: EntryNumber
    readonly reason: string
    readonly requestedBy?: MailNumber
  },
): RuleOutcome {
  return commitNew(state, (operation) => ({
    verb: 'claimCompaction',
    request: { lease: state.lease, operation, ...wanted },
  }))
}
