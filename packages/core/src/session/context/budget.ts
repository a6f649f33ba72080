import { type EntryNumber, entryNumber } from '../../base/ids.ts'
import type { Budget } from '../../compaction/plan/budget.ts'
import { DEFAULT_SETTINGS, SECTION_TOKENS_MAX } from '../../compaction/plan/defaults.ts'
import { plan, type Trigger } from '../../compaction/plan/plan.ts'
import { WAITING_NOTE_TOKENS } from '../../store/bounds.ts'
import type { Limits, OperationRow, SessionRow } from '../../store/tables/rows.ts'
import type { SessionSettings } from '../settings.ts'
import type { Context } from './build.ts'
import { type ContextPiece, wholeTokensMax } from './piece.ts'
import type { SessionView } from './session-view.ts'

/** How much space a context has, and where a compaction of it would cut. Pure. */
export function budgetOf(limits: Limits, settings: SessionSettings): Budget {
  const hardTokens = limits.hardTokens - limits.outputTokens
  return {
    settings: {
      ...DEFAULT_SETTINGS,
      ...settings.sections,
      windowTokens: limits.hardTokens,
      outputTokensMax: limits.outputTokens,
      softShare: settings.softShare,
      targetShare: settings.targetShare,
    },
    hardTokens,
    softTokens: Math.round(settings.softShare * hardTokens),
    targetTokens: Math.round(settings.targetShare * hardTokens),
    keepTokens:
      settings.sections?.keepTokens ??
      Math.min(SECTION_TOKENS_MAX.keep, Math.floor(hardTokens / 5)),
  }
}

/** The same shares of a smaller window. */
export function narrowed(limits: Limits, hardTokens: number): Limits {
  if (hardTokens >= limits.hardTokens) return limits
  const share = (tokens: number) => Math.floor((tokens * hardTokens) / limits.hardTokens)
  return {
    ...limits,
    hardTokens,
    pinTokens: share(limits.pinTokens),
    handoffTokens: share(limits.handoffTokens),
    inputTokens: share(limits.inputTokens),
    stepTokens: share(limits.stepTokens),
    outputTokens: share(limits.outputTokens),
  }
}

/** A step cannot run, because its answer would not fit. */
export function isOverHard({ session, context }: SessionView): boolean {
  return context.tokens + session.limits.outputTokens > session.limits.hardTokens
}

/**
 * Whether an unanswered message is shown with its two ends only, and a compaction of everything that
 * a model has seen would let it be whole.
 */
export function couldBeWhole(view: SessionView): boolean {
  const { session, context } = view
  const { unclipped } = context
  if (unclipped === undefined || !takesIn(view, session.seen)) return false
  const open = context.pieces.filter((piece) => isUnanswered(session, piece))
  if (!open.some(({ isClipped }) => isClipped === true)) return false
  const system = context.system.reduce((sum, { tokens }) => sum + tokens, 0)
  const rest = unclipped
    .filter((piece) => piece.number > session.seen || isUnanswered(session, piece))
    .reduce((sum, { tokens }) => sum + tokens, 0)
  return system + session.limits.handoffTokens + rest <= wholeTokensMax(session.limits)
}

/** The size of the newest turn: its input and everything after it. */
export function lastTurnTokens({ pieces }: Context): number {
  let tokens = 0
  let hasInput = false
  for (const piece of pieces.toReversed()) {
    if (hasInput && piece.mail === undefined) break
    hasInput ||= piece.mail !== undefined
    tokens += piece.tokens
  }
  return tokens
}

/** Input that no finished turn has answered: it stays in every context, whole (I34). */
export function isUnanswered(session: SessionRow, { number, mail }: ContextPiece): boolean {
  if (mail === undefined || session.turnState === 'idle') return false
  // Input of the session that this one was forked from, which answers it.
  if (number <= session.forkedAt) return false
  return mail.number > session.settled[mail.lane]
}

/** The unanswered mail in a context: whole and shortened. */
export function openMailIn(session: SessionRow, { pieces }: Context) {
  const open = pieces.filter((piece) => isUnanswered(session, piece))
  const numbers = (isClipped: boolean) =>
    open
      .filter((piece) => (piece.isClipped === true) === isClipped)
      .flatMap(({ mail }) => mail?.number ?? [])
  return { whole: numbers(false), clipped: numbers(true) }
}

/** The used part of the input bound, as the store counts it. */
export function openInputTokens({ session, context }: SessionView): number {
  return context.pieces
    .filter((piece) => isUnanswered(session, piece))
    .reduce(
      (sum, { tokens, mail }) =>
        sum + tokens + (mail?.waiting === undefined ? 0 : WAITING_NOTE_TOKENS),
      0,
    )
}

/** The entries that a compaction up to `covers` carries beside its handoff. */
export function carriedBy(
  { session, context }: SessionView,
  covers: number,
): readonly EntryNumber[] {
  return context.pieces
    .filter((piece) => piece.number <= covers && isUnanswered(session, piece))
    .map((piece) => piece.number)
}

/**
 * The current size of the entries that a compaction up to `covers` would replace, with the earlier
 * handoff.
 */
export function rangeTokens(
  context: Context,
  covers: number,
  carries: readonly EntryNumber[],
): number {
  return context.pieces
    .filter((piece) => piece.number <= covers && !isCarried(piece, carries))
    .reduce((sum, piece) => sum + piece.tokens, context.handoff?.tokens ?? 0)
}

export function isCarried(
  { number, mail }: ContextPiece,
  carries: readonly EntryNumber[],
): boolean {
  return mail !== undefined && carries.includes(number)
}

/** Whether a handoff up to `covers` covers more than the current one. */
function takesIn({ session, context }: SessionView, covers: number): boolean {
  if (covers !== session.covers) return covers > session.covers
  return context.pieces.some((piece) => piece.number <= covers && !isUnanswered(session, piece))
}

/**
 * Which entries a compaction should cover; null when there is nothing to gain. The planner decides
 * where to cut; this bounds it by what a model has seen (decision 3), and takes all of that if a
 * turn is waiting and the planner's cut would not free enough space.
 */
export function planCover(
  view: SessionView,
  trigger: Trigger,
  settings: SessionSettings,
): EntryNumber | null {
  const { session, context } = view
  const isTurnWaiting = trigger === 'preflight' || trigger === 'reactive'
  const cut = cutOf(view, trigger, settings)
  const covers = cut === null ? null : Math.min(cut, session.seen)
  if (isTurnWaiting && (covers === null || !freesEnough(view, covers))) {
    return takesIn(view, session.seen) ? session.seen : null
  }
  if (covers === null || !takesIn(view, covers) || !isClean(context, covers)) return null
  return trigger === 'idle' && !paysOff(view, covers) ? null : entryNumber(covers)
}

/** Whether even a handoff of the largest size is at most half as long as what it replaces. */
function paysOff(view: SessionView, covers: number): boolean {
  const range = rangeTokens(view.context, covers, carriedBy(view, covers))
  return range >= 2 * view.session.limits.handoffTokens
}

function cutOf(
  { session, context }: SessionView,
  trigger: Trigger,
  settings: SessionSettings,
): number | null {
  const { system, handoff, pieces } = context
  const all: readonly ContextPiece[] = [
    ...system,
    ...(handoff === null ? [] : [handoff]),
    ...pieces,
  ]
  const totals = [0]
  for (const piece of all) totals.push((totals.at(-1) ?? 0) + piece.tokens)
  const planned = plan(
    { messages: all.map((piece) => piece.message), totals },
    {
      budget: budgetOf(session.limits, settings),
      trigger,
      when: trigger === 'manual' || trigger === 'idle' ? 'always' : 'needed',
    },
  )
  if (planned.kind !== 'compact') return null
  const last = all[planned.cut - 1]
  return last === undefined || planned.cut <= planned.layout.headFrom ? null : last.number
}

/** Whether the context fits after a handoff of the largest size replaces entries up to `covers`. */
function freesEnough(view: SessionView, covers: number): boolean {
  const { session, context } = view
  const { hardTokens, outputTokens, handoffTokens } = session.limits
  const range = rangeTokens(context, covers, carriedBy(view, covers))
  const after = context.tokens - range + handoffTokens
  return after + outputTokens <= hardTokens
}

/** A cut moved back to `seen` is clean, because no step starts while calls are open. */
export function isClean(context: Context, covers: number): boolean {
  const next = context.pieces.find((piece) => piece.number > covers)
  return next?.message.role !== 'tool'
}

/** After a revert, automatic compaction waits until the context has grown by a tenth. */
export function isHeldByRevert({ session, context }: SessionView): boolean {
  if (session.base === 0 || session.base !== context.reverted) return false
  const grown = context.pieces
    .filter((piece) => piece.number > session.base)
    .reduce((sum, piece) => sum + piece.tokens, 0)
  return grown * 10 < context.tokens - grown
}

/**
 * Whether a model may be asked for a handoff now. Counted from the operations in the store, so it
 * survives restarts; a clock that jumped back makes old attempts look young and costs time only.
 */
export function mayAskModel(
  operations: SessionView['operations'],
  wall: number,
  settings: SessionSettings,
  /** Failures do not block a person's request, only the rate does. */
  asks: 'automatic' | 'manual' = 'automatic',
): MayAsk {
  const asked = operations.filter((operation) => {
    const age = wall - operation.startedAt
    return isOfModel(operation) && age >= 0 && age < settings.attemptWindowMs
  })
  const paid = asked.reduce((sum, operation) => sum + (isCutShort(operation) ? CUT_SHORT : 1), 0)
  // The next attempt counts as a whole one, because its outcome is not known.
  if (paid + 1 > settings.attemptsPerWindow) {
    const oldest = asked.at(-1)?.startedAt ?? wall
    const waitMs = Math.max(1, oldest + settings.attemptWindowMs - wall)
    return { kind: 'wait', why: 'rate', waitMs }
  }
  const working = asked.findIndex((operation) => operation.state === 'committed')
  const failures = (working < 0 ? asked : asked.slice(0, working)).filter(
    (operation) => operation.state === 'failed',
  )
  const [newest] = failures
  if (newest === undefined || asks === 'manual') return { kind: 'yes' }
  const backOff = Math.min(settings.retryMsMax, settings.retryMs * 2 ** failures.length)
  const waitMs = (newest.endedAt ?? newest.startedAt) + backOff - wall
  return waitMs > 0 && waitMs <= backOff
    ? { kind: 'wait', why: 'failure', waitMs }
    : { kind: 'yes' }
}

export function isOfModel({ by }: OperationRow): boolean {
  return by === 'model' || by === 'rewrite'
}

export type MayAsk =
  | { readonly kind: 'yes' }
  | { readonly kind: 'wait'; readonly why: 'rate' | 'failure'; readonly waitMs: number }

/**
 * How an attempt cut short by a killed or closed process counts: part of it was paid for, and a
 * process that keeps dying must not call the model without end.
 */
const CUT_SHORT = 1 / 4

function isCutShort({ state, result }: OperationRow): boolean {
  return state === 'abandoned' || (state === 'failed' && result['reason'] === CLOSING)
}

/**
 * The reason of a handoff that ended because its process closed. It is not a failure of the
 * handoff.
 */
export const CLOSING = 'closing'

/** The reason of a handoff that would gain nothing: the conversation is too small for one. */
export const NOT_SMALLER = 'not-smaller'

/** Why a handoff must not be installed; null if it makes the context smaller (I13). */
export function judgeHandoff(
  view: SessionView,
  handoff: {
    readonly by: string
    readonly covers: number
    readonly tokens: number
    readonly carries: readonly EntryNumber[]
  },
): string | null {
  const { session, context } = view
  const { limits } = session
  const { carries } = handoff
  const open = carriedBy(view, handoff.covers)
  if (!open.every((number) => carries.includes(number))) return 'unanswered-input'
  // It keeps the handoff that is in effect.
  if (handoff.by === 'clearing') return null
  if (handoff.tokens > limits.handoffTokens) return 'over-budget'
  const range = rangeTokens(context, handoff.covers, carries)
  if (handoff.by !== 'rewrite') return handoff.tokens < range ? null : NOT_SMALLER
  const after = context.tokens - range + handoff.tokens + limits.outputTokens
  return after <= limits.hardTokens ? null : 'over-hard-limit'
}
