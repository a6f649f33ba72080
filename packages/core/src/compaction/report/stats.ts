import type { Handoff } from '../../message/handoff/handoff.ts'
import type { Trigger } from '../plan/plan.ts'
import type { Breakdown } from './breakdown.ts'

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
