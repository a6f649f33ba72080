import type { Message } from '../../message/message.ts'
import type { CompactionVerdict, Law } from '../check.ts'
import type { Budget } from '../plan/budget.ts'
import type { CompactPlan, Plan } from '../plan/plan.ts'
import type { CompactStats } from './stats.ts'

/** The outcome of a compaction: codes for scripts, sentences for people, figures. */
export interface CompactResult {
  readonly outcome: 'compacted' | 'kept' | 'refused' | 'cannot-fit'
  /** Stable, for scripts. */
  readonly reason: string
  /** A sentence for people. */
  readonly explanation: string
  readonly messages: readonly Message[]
  readonly plan: Plan
  readonly verdict?: CompactionVerdict
  readonly stats: CompactStats
  readonly warnings: readonly string[]
}

/** The reason code for each law that can refuse a result. */
export const REFUSALS = {
  I13: 'not-smaller',
  I14: 'incomplete-summary',
  I15: 'not-well-formed',
  I16: 'pinned-text-changed',
  I17: 'secret-in-handoff',
  I18: 'rank-changed',
  I34: 'unanswered-input',
} as const satisfies Record<Law, string>

export function explain(
  planned: Exclude<Plan, CompactPlan>,
  budget: Budget,
): Pick<CompactResult, 'outcome' | 'reason' | 'explanation'> {
  const { reason, tokensBefore } = planned
  if (planned.kind === 'keep')
    return { outcome: 'kept', reason, explanation: KEEP_REASONS[planned.reason] }
  const what = IN_THE_WAY[planned.reason]
  const explanation =
    `${what} ${planned.tokens} tokens, there is room for ${planned.available} ` +
    `in a target of ${budget.targetTokens} (${tokensBefore} tokens in all).`
  return { outcome: 'cannot-fit', reason, explanation }
}

const IN_THE_WAY = {
  'fixed-part-too-large': 'System text, pins and protected messages alone take',
  'newest-message-too-large': 'The newest message and what belongs to it take',
  'summary-too-large': 'The given summary takes',
} as const

const KEEP_REASONS = {
  fits: 'The conversation is below the threshold.',
  'nothing-to-cut': 'The conversation is too short to gain anything.',
  'already-compacted': 'There is nothing new to compact since the last compaction.',
} as const

/** Each compaction loses details, so people are warned. 0: never. */
export function warnOfRepetition(compactions: number, warnFrom = WARN_FROM): readonly string[] {
  if (warnFrom === 0 || compactions < warnFrom) return []
  const times = compactions === 1 ? 'once' : `${compactions} times`
  return [
    `This conversation has now been compacted ${times}; details of its beginning may be lost. For a new task, start a new conversation.`,
  ]
}

/** A first compaction needs no warning. */
export const WARN_FROM = 2
