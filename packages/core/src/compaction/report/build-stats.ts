import type { Handoff } from '../../message/handoff/handoff.ts'
import { writeLedger } from '../../message/handoff/ledger-text.ts'
import type { Message } from '../../message/message.ts'
import type { Counters } from '../counters.ts'
import type { CompactPlan } from '../plan/plan.ts'
import { breakDownAfter, breakDownBefore } from './breakdown.ts'
import type { CompactStats } from './stats.ts'

/** Computes the figures from the two contexts and the handoff. */
export function buildStats(compaction: {
  readonly before: readonly Message[]
  readonly after: readonly Message[]
  readonly plan: CompactPlan
  readonly handoff: Handoff | undefined
  /** User messages that did not fit the budget. */
  readonly dropped: number
  readonly overheadTokens: number
  readonly counters: Counters
}): Omit<CompactStats, 'messagesBefore' | 'timingsMs'> {
  const { before, after, plan, handoff, dropped, overheadTokens, counters } = compaction
  const preserved = handoff?.preserved ?? []
  const ledger = handoff?.ledger ?? []
  const plannedHere = { ...plan, messagesBefore: before.length }
  return {
    trigger: plan.trigger,
    tokensBefore: plan.tokensBefore,
    tokensAfter: after.reduce(
      (sum, message) => sum + counters.countMessage(message),
      overheadTokens,
    ),
    messagesAfter: after.length,
    covered: plan.cut - plan.layout.headFrom,
    cut: plan.cut,
    ...(handoff !== undefined && { by: handoff.by }),
    compactions: handoff?.compactions ?? 0,
    kindsBefore: breakDownBefore(before, plan, counters),
    kindsAfter: breakDownAfter(after, plannedHere, counters),
    preserved: {
      kept: preserved.length,
      truncated: preserved.filter((each) => each.truncated === true).length,
      open: preserved.filter((each) => each.state === 'open').length,
      dropped,
    },
    ledger: { entries: ledger.length, tokens: counters.countTokens(writeLedger(ledger)) },
    tasks: handoff?.tasks.length ?? 0,
    files: handoff?.files.length ?? 0,
    cleared: after.filter(
      (message) => message.role === 'tool' && message.parts.some((part) => part.cleared === true),
    ).length,
  }
}
