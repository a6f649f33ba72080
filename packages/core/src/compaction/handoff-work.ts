import type { Task } from '../message/handoff/handoff.ts'
import type { Stopwatch } from './report/stats.ts'
import type { SummaryWork } from './summary/digest-summary.ts'

/** What a handoff is made from. */
export interface HandoffWork extends SummaryWork {
  /** The open task list; absent: the newest one that the conversation shows. */
  readonly tasks?: readonly Task[]
  /** The most tokens for the user's own words. */
  readonly userTokens?: number | undefined
  /** Yields to the event loop between two pieces of work. */
  readonly breathe?: () => Promise<void>
  readonly timings?: Stopwatch
}

/** Lets the event loop run between two pieces of work; throws when the work was aborted. */
export async function yieldTurn({ breathe, signal }: HandoffWork): Promise<void> {
  if (breathe !== undefined) await breathe()
  signal?.throwIfAborted()
}
