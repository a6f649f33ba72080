import type { Handoff } from '../../message/handoff/handoff.ts'
import { writeLedger } from '../../message/handoff/ledger-text.ts'
import type { Message } from '../../message/message.ts'
import type { Counters } from '../counters.ts'
import type { CompactPlan, Trigger } from '../plan/plan.ts'
import { type Breakdown, breakDownAfter, breakDownBefore } from './breakdown.ts'

/** The figures of a compaction, for reports and charts. */
export interface CompactStats {
  readonly trigger: Trigger
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly messagesBefore: number
  readonly messagesAfter: number
  /** How many messages went into the handoff, and where the tail begins. */
  readonly covered: number
  readonly cut?: number
  readonly by?: Handoff['by']
  readonly compactions: number
  readonly kindsBefore: Breakdown
  readonly kindsAfter: Breakdown
  readonly preserved: { kept: number; truncated: number; open: number; dropped: number }
  readonly ledger: { entries: number; tokens: number }
  readonly tasks: number
  readonly files: number
  readonly cleared: number
  readonly timingsMs: Readonly<Record<string, number>>
}

/** The figures if nothing was compacted. */
export const EMPTY_STATS = {
  covered: 0,
  compactions: 0,
  kindsBefore: {},
  kindsAfter: {},
  preserved: { kept: 0, truncated: 0, open: 0, dropped: 0 },
  ledger: { entries: 0, tokens: 0 },
  tasks: 0,
  files: 0,
  cleared: 0,
} as const

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

/** Times the stages of a compaction with the given clock; without one it does nothing. */
export interface Stopwatch {
  readonly laps: Record<string, number>
  lap(name: string): void
}

export function stopwatch(now: (() => number) | undefined): Stopwatch {
  const laps: Record<string, number> = {}
  let last = now?.() ?? 0
  return {
    laps,
    lap(name) {
      if (now === undefined) return
      const time = now()
      laps[name] = (laps[name] ?? 0) + time - last
      last = time
    },
  }
}
