import type { Handoff } from '../../message/handoff/handoff.ts'
import type { Message } from '../../message/message.ts'
import type { Counters } from '../counters.ts'
import { writeDigest } from '../digest.ts'
import { headNumbers } from '../layout.ts'
import { type Budget, handoffTokensOf } from '../plan/budget.ts'
import { ENVELOPE_TOKENS } from '../plan/defaults.ts'
import type { CompactPlan } from '../plan/plan.ts'
import { redact } from '../redact/redact.ts'
import type { FittedReply, SummarizeRequest } from './summarize.ts'

/** What a summary is written from. */
export interface SummaryWork {
  readonly messages: readonly Message[]
  readonly plan: CompactPlan
  readonly budget: Budget
  readonly counters: Counters
  /** The handoff that the new one replaces. */
  readonly earlier?: Handoff
  readonly focus?: string
  /** Replaces the built-in instructions to the writer. */
  readonly prompt?: string
  readonly signal?: AbortSignal
  readonly onProgress?: SummarizeRequest['onProgress']
}

export interface FittedSummary {
  readonly reply: FittedReply
  readonly by: Handoff['by']
  /** It is longer than its share: the other sections give way to it. */
  readonly isLong: boolean
  /** The budget of all sections, and the part of it that open requests always keep. */
  readonly sectionTokens: number
  readonly openTokens: number
}

/** A way to come by the summary of a compaction: `digestSummary`, or one of `write-summary.ts`. */
export type WriteSummary = (work: SummaryWork) => Promise<FittedSummary>

/** The summary that needs no model. */
export function digestSummary({ messages, plan, counters, earlier }: SummaryWork): FittedSummary {
  const { layout, cut, allotment } = plan
  const text = writeDigest({
    head: messages.slice(layout.headFrom, cut),
    numberOf: headNumbers(layout),
    countTokens: counters.countTokens,
    ...(earlier !== undefined && { previous: earlier }),
    tokensMax: allotment.summary,
  })
  return fitting(plan, { text: redact(text), finish: 'stop' }, 'digest')
}

/** A summary that is within its share, or never cut. */
export function fitting(
  { allotment }: CompactPlan,
  reply: FittedReply,
  by: Handoff['by'],
): FittedSummary {
  const sectionTokens = handoffTokensOf(allotment) - ENVELOPE_TOKENS
  return { reply, by, isLong: false, sectionTokens, openTokens: 0 }
}
