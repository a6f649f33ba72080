import type { Message } from '../../message/message.ts'
import type { Plan, Trigger } from '../plan/plan.ts'
import type { CompactResult } from './outcome.ts'
import { EMPTY_STATS, type Stopwatch } from './stats.ts'

/** What is known of a compaction before its result. */
export interface Compaction {
  readonly messages: readonly Message[]
  readonly plan: Plan
  readonly trigger: Trigger
  readonly timings: Stopwatch
  readonly warnings: readonly string[]
}

/** The result if nothing was compacted. */
export function unchanged(
  { messages, plan, trigger, timings, warnings }: Compaction,
  why: Pick<CompactResult, 'outcome' | 'reason' | 'explanation' | 'verdict'>,
): CompactResult {
  return {
    ...why,
    messages,
    plan,
    stats: {
      ...EMPTY_STATS,
      trigger,
      tokensBefore: plan.tokensBefore,
      tokensAfter: plan.tokensBefore,
      messagesBefore: messages.length,
      messagesAfter: messages.length,
      timingsMs: timings.laps,
    },
    warnings,
  }
}
