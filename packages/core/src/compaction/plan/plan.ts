import type { Message } from '../../message/message.ts'
import { alignBack, alignForward } from '../../message/pairing.ts'
import { type Measured, tokensBetween } from '../../tokens/measure.ts'
import {
  findFittingLayout,
  findLayout,
  isFinalReply,
  type Layout,
  type MessageEntries,
} from '../layout.ts'
import { type Allotment, allot, type Budget } from './budget.ts'

/**
 * The decision: leave the context as it is, or compact this head and keep this tail. Pure, and its
 * cost depends on the tail alone: counts arrive as running totals, and before the cut only the
 * first few messages are read.
 *
 *   [ system · protected first ] [ earlier handoff ] [ head ........ ] [ tail ........ ] [ incoming ]
 *     fixed, stays                 replaced            covered            word for word     in full
 *
 * Always true of a `compact` plan: the cut never separates a tool call from its result; whatever
 * the newest message leaves open is in the tail or incoming; the tail, clipped to `clipTokens`,
 * leaves space for the handoff.
 */
export type Plan = KeepPlan | CompactPlan | CannotFitPlan

export type Trigger = 'manual' | 'preflight' | 'background' | 'reactive' | 'idle'

export interface KeepPlan {
  readonly kind: 'keep'
  readonly reason: 'fits' | 'nothing-to-cut' | 'already-compacted'
  readonly tokensBefore: number
}

export interface CompactPlan {
  readonly kind: 'compact'
  readonly reason: 'requested' | 'over-threshold' | 'over-hard-limit'
  readonly trigger: Trigger
  readonly tokensBefore: number
  readonly layout: Layout
  /** The head is `[headFrom, cut)`; empty if clipping alone is enough. */
  readonly cut: number
  /** Unanswered messages of the head: they stay whole, right after the handoff. */
  readonly open?: readonly number[]
  /** The tail is `[cut, incoming)`; `incoming` is the end if no message is held back. */
  readonly incoming: number
  /** Tool results of the tail are clipped to this, and its last request except in preflight. */
  readonly clipTokens?: number
  readonly targetTokens: number
  readonly allotment: Allotment
}

export interface CannotFitPlan {
  readonly kind: 'cannot-fit'
  readonly reason: 'fixed-part-too-large' | 'newest-message-too-large' | 'summary-too-large'
  readonly tokensBefore: number
  /** The part that does not fit, and how much space there was for it. */
  readonly tokens: number
  readonly available: number
}

/** Less than this is not worth a handoff: its envelope alone takes a third of it. */
const HEAD_TOKENS_MIN = 400

/** The minimum for a handoff: its envelope and a few sentences. The tail leaves that much. */
const HANDOFF_TOKENS_MIN = 300

/** The share of the space for a tail whose size was not requested. */
const TAIL_SHARE_MAX = 0.6

export interface PlanRequest {
  readonly budget: Budget
  readonly trigger: Trigger
  /** `needed` checks the threshold first; `always` is a person's request. */
  readonly when: 'always' | 'needed'
  /** Tokens of every request outside the messages: pins, tool schemas. */
  readonly overheadTokens?: number
  /** Tokens of messages that stay wherever the cut is: late system text. */
  readonly carriedTokens?: number
  /** The size of a summary that already exists; space is reserved for it. */
  readonly summaryTokens?: number
  /** The tokens of a message without the texts that can be clipped; 0 if absent. */
  readonly countBare?: (message: Message) => number
}

/** The same input gives the same plan. Expects well paired messages (`repairPairs`). */
export function plan(measured: Measured, request: PlanRequest): Plan {
  const { messages } = measured
  const { budget, trigger, when, overheadTokens = 0, summaryTokens } = request
  const end = messages.length
  const tokensBefore = tokensBetween(measured, 0, end) + overheadTokens
  if (when === 'needed' && tokensBefore < budget.softTokens) {
    return { kind: 'keep', reason: 'fits', tokensBefore }
  }
  const layout = findFittingLayout(measured, budget)
  if (layout.headFrom >= end) return { kind: 'keep', reason: 'nothing-to-cut', tokensBefore }

  const space = measureSpace(measured, layout, request)
  const { fixedTokens, spaceMax, tailMax } = space
  if (spaceMax < HANDOFF_TOKENS_MIN) {
    const reason = 'fixed-part-too-large'
    const available = Math.max(0, budget.targetTokens - HANDOFF_TOKENS_MIN)
    return { kind: 'cannot-fit', reason, tokensBefore, tokens: fixedTokens, available }
  }
  if (summaryTokens !== undefined && summaryTokens > spaceMax) {
    const reason = 'summary-too-large'
    return { kind: 'cannot-fit', reason, tokensBefore, tokens: summaryTokens, available: spaceMax }
  }
  const incoming = trigger === 'preflight' && messages[end - 1]?.role === 'user' ? end - 1 : end
  const newestFrom = Math.max(layout.headFrom, newestStep(messages, incoming, budget))
  const tail = chooseTail(measured, layout, { ...space, incoming, newestFrom }, request)
  if (tail === 'too-large') {
    const reason = 'newest-message-too-large'
    const tokens = tokensBetween(measured, newestFrom, end)
    return { kind: 'cannot-fit', reason, tokensBefore, tokens, available: tailMax }
  }
  const { cut, clipTokens } = tail
  if (cut === layout.headFrom && clipTokens === undefined) {
    const reason = layout.handoffAt === undefined ? 'nothing-to-cut' : 'already-compacted'
    return { kind: 'keep', reason, tokensBefore }
  }
  const tailTokens = Math.min(tokensBetween(measured, cut, end), tailMax)
  const headTokens = tokensBetween(measured, layout.headFrom, cut)
  // If the newest step fills a scaled target, the handoff gets half the size of what it replaces.
  const besideTail = Math.min(
    spaceMax - tailTokens,
    Math.max(space.spaceTokens - tailTokens, Math.floor(headTokens / 2), space.handoffMin),
  )
  return {
    kind: 'compact',
    reason:
      tokensBefore > budget.hardTokens
        ? 'over-hard-limit'
        : tokensBefore >= budget.softTokens
          ? 'over-threshold'
          : 'requested',
    trigger,
    tokensBefore,
    layout,
    cut,
    incoming,
    ...(clipTokens !== undefined && { clipTokens }),
    targetTokens: fixedTokens + tailTokens + besideTail,
    allotment: { ...allotBeside(besideTail, budget, summaryTokens), keep: tailTokens },
  }
}

/** A range that is already chosen: a session claims it before its handoff is written. */
export interface ClaimedRange {
  /** The range ends before this message. */
  readonly cut: number
  /** Its unanswered messages. */
  readonly open: readonly number[]
  readonly handoffTokens: number
  /** The entries of each message, to refer to them by number. */
  readonly entries?: MessageEntries
}

export function planRange(
  messages: readonly Message[],
  { cut, open, handoffTokens, entries }: ClaimedRange,
  { budget, trigger }: Pick<PlanRequest, 'budget' | 'trigger'>,
): CompactPlan {
  return {
    kind: 'compact',
    reason: 'requested',
    trigger,
    tokensBefore: 0,
    layout: { ...findLayout(messages, 0), ...(entries && { entries }) },
    cut,
    open,
    incoming: messages.length,
    targetTokens: budget.hardTokens,
    allotment: allotBeside(handoffTokens, budget, undefined),
  }
}

/** The available space, and the tail's part of it. */
interface Space {
  readonly fixedTokens: number
  /** The space that the target leaves beside the fixed part. */
  readonly spaceMax: number
  /** The part of it to use: less if a person asks to compact a context that would fit. */
  readonly spaceTokens: number
  readonly handoffMin: number
  /** The tail is cut to this if the newest step allows it, and clipped to `tailMax` at worst. */
  readonly keepMax: number
  readonly tailMax: number
}

function measureSpace(measured: Measured, layout: Layout, request: PlanRequest): Space {
  const { budget, overheadTokens = 0, carriedTokens = 0, summaryTokens } = request
  const fixedTokens = tokensBetween(measured, 0, layout.fixedTo) + overheadTokens + carriedTokens
  const spaceMax = budget.targetTokens - fixedTokens
  const scaled = scaleToConversation(measured, layout, request)
  const spaceTokens = Math.min(spaceMax, Math.max(scaled.spaceTokens, summaryTokens ?? 0))
  const handoffMin = summaryTokens ?? HANDOFF_TOKENS_MIN
  const keepMax = Math.min(allot(spaceTokens, budget, summaryTokens).keep, scaled.keepTokens)
  const tailMax = Math.min(
    spaceMax - handoffMin,
    Math.max(keepMax, Math.floor(spaceMax * TAIL_SHARE_MAX)),
  )
  return { fixedTokens, spaceMax, spaceTokens, handoffMin, keepMax, tailMax }
}

/**
 * Where the tail begins, and the size to which its large parts are clipped. Protection yields
 * before the newest step does.
 */
function chooseTail(
  measured: Measured,
  { headFrom, handoffAt }: Layout,
  space: Space & { readonly incoming: number; readonly newestFrom: number },
  request: PlanRequest,
): { readonly cut: number; readonly clipTokens?: number } | 'too-large' {
  const { messages } = measured
  const { incoming, newestFrom, keepMax, tailMax } = space
  const { protectLast } = request.budget.settings
  const countBare = request.countBare ?? (() => 0)
  const unprotected = cutWithin(measured, headFrom, newestFrom, keepMax)
  const protectedFrom = alignBack(
    messages,
    Math.max(headFrom, Math.min(newestFrom, incoming - protectLast)),
  )
  const last = messages.at(-1)
  const cuts = [
    Math.min(protectedFrom, unprotected),
    unprotected,
    ...(last !== undefined && isFinalReply(last) ? [messages.length] : []),
  ]
  for (const wanted of cuts) {
    const isWorthIt =
      handoffAt !== undefined || tokensBetween(measured, headFrom, wanted) >= HEAD_TOKENS_MIN
    const cut = isWorthIt ? wanted : headFrom
    const clipTokens = clipLevel(measured, { from: cut, incoming, tailMax, countBare })
    if (clipTokens === undefined) return { cut }
    if (clipTokens !== 'too-large') return { cut, clipTokens }
  }
  return 'too-large'
}

/**
 * A person who requests a compaction wants a smaller context even if everything would fit, so
 * target and tail follow the conversation's size, unless numbers were given or nothing has happened
 * since the last compaction.
 */
function scaleToConversation(
  measured: Measured,
  layout: Layout,
  { budget, when }: PlanRequest,
): { spaceTokens: number; keepTokens: number } {
  const { keepTokens, settings } = budget
  const behind = measured.messages.length - layout.headFrom
  const earlier = layout.handoffAt === undefined ? undefined : measured.messages[layout.handoffAt]
  const hasNews = earlier?.role !== 'handoff' || behind > earlier.handoff.kept
  if (when === 'needed' || !hasNews) return { spaceTokens: Number.POSITIVE_INFINITY, keepTokens }
  const bodyTokens = tokensBetween(measured, layout.fixedTo, measured.messages.length)
  return {
    spaceTokens:
      settings.targetTokens === undefined ? Math.floor(bodyTokens / 2) : Number.POSITIVE_INFINITY,
    keepTokens:
      settings.keepTokens === undefined
        ? Math.min(keepTokens, Math.floor(bodyTokens / 3))
        : keepTokens,
  }
}

/**
 * The start of the part that must stay: the last request, or the last calls with their results. A
 * reply that ended its turn leaves nothing open, so it stays only if there is a tail at all.
 */
function newestStep(messages: readonly Message[], incoming: number, budget: Budget): number {
  const end = messages.length
  const last = messages[end - 1]
  if (incoming < end || last === undefined) return incoming
  return budget.keepTokens === 0 && isFinalReply(last) ? end : alignBack(messages, end - 1)
}

/** The earliest clean cut whose tail is within `keepMax`, at `newestFrom` at the latest. */
function cutWithin(
  measured: Measured,
  headFrom: number,
  newestFrom: number,
  keepMax: number,
): number {
  const end = measured.messages.length
  let cut = newestFrom
  while (cut > headFrom && tokensBetween(measured, cut - 1, end) <= keepMax) cut--
  return Math.min(alignForward(measured.messages, cut), newestFrom)
}

/**
 * The size to which large tool results must be clipped so that the tail leaves space for a handoff:
 * undefined if it already does, `too-large` if even bare stubs would not fit.
 */
function clipLevel(
  measured: Measured,
  tail: {
    from: number
    incoming: number
    tailMax: number
    countBare: (message: Message) => number
  },
): number | undefined | 'too-large' {
  const { messages } = measured
  const end = messages.length
  const tokens = tokensBetween(measured, tail.from, end)
  if (tokens <= tail.tailMax) return undefined

  const clippable: { size: number; bare: number }[] = []
  for (let index = tail.from; index < end; index++) {
    const message = messages[index]
    if (message === undefined || !isClippable(message, index, tail.incoming, end)) continue
    const size = tokensBetween(measured, index, index + 1)
    clippable.push({ size, bare: tail.countBare(message) })
  }
  let left = tail.tailMax - (tokens - clippable.reduce((sum, { size }) => sum + size, 0))
  clippable.sort((a, b) => a.size - b.size)
  for (const [index, { size }] of clippable.entries()) {
    const level = Math.floor(left / (clippable.length - index))
    if (size > level) {
      const canReach = clippable.slice(index).every(({ bare }) => bare + CLIP_TOKENS_MIN <= level)
      return canReach ? level : 'too-large'
    }
    left -= size
  }
  return 'too-large'
}

/** A stub that names the original takes about this much. */
const CLIP_TOKENS_MIN = 80

function isClippable(message: Message, index: number, incoming: number, end: number): boolean {
  return (
    message.role === 'tool' || (message.role === 'user' && index === end - 1 && incoming === end)
  )
}

/** The sections of the handoff share the space that the tail leaves. */
function allotBeside(tokens: number, budget: Budget, summaryTokens: number | undefined): Allotment {
  const settings = { ...budget.settings, keepTokens: 0 }
  return allot(tokens, { ...budget, settings }, summaryTokens)
}
