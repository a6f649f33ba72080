import { type Clock, DAY_MS } from '#core/base/clock'
import type { Logger } from '#core/base/logger'
import type { Store } from '#core/store/contract'
import type { ReplyKey } from '#core/store/retention-commits'
import { PeriodicTask } from '../periodic-task.ts'

/** For how many days the store keeps rows that no conversation is read from. */
export interface RetentionDays {
  /** Replies that were sent, counted from when they were written. */
  readonly sent: number
  /** Model calls; their sums for each day stay. */
  readonly calls: number
}
export const RETENTION_DAYS: RetentionDays = { sent: 30, calls: 90 }

/** One piece a minute: at this pace a sweep goes through a million rows within a day. */
const PIECE_EVERY_MS = 60_000
const PIECE = 1_000

const STAGED_EVERY_MS = 3_600_000

interface SweepParts {
  readonly clock: Clock
  readonly logger: Logger
}

interface StagedSweepParts extends SweepParts {
  readonly store: Pick<Store, 'dropStaged'>
}

/** Drops staged files that no message used: a file is staged before its message, which comes within a day. */
export function stagedSweep({ store, ...parts }: StagedSweepParts): PeriodicTask {
  const drop = () => store.dropStaged({ before: parts.clock.now() - DAY_MS })
  return sweepBy(drop, { ...parts, everyMs: STAGED_EVERY_MS, what: 'files that no message used' })
}

interface RetentionParts extends SweepParts {
  readonly store: Pick<Store, 'dropSent' | 'dropAttempts'>
  readonly retention: RetentionDays
}

/** Walks through all replies, again and again, and drops those that were sent long ago. */
export function sentSweep({ store, retention, ...parts }: RetentionParts): PeriodicTask {
  let after: ReplyKey | null = null
  const drop = async () => {
    const before = parts.clock.now() - retention.sent * DAY_MS
    const from = after === null ? {} : { after }
    const { count, upTo } = await store.dropSent({ before, limit: PIECE, ...from })
    after = upTo
    return { count }
  }
  const what = 'replies that were sent long ago'
  return sweepBy(drop, { ...parts, everyMs: PIECE_EVERY_MS, what })
}

/** Replaces the model calls of days long ago by their sums. */
export function callSweep({ store, retention, ...parts }: RetentionParts): PeriodicTask {
  const drop = () => {
    const beforeDay = Math.floor(parts.clock.now() / DAY_MS) - retention.calls
    return store.dropAttempts({ beforeDay, limit: PIECE })
  }
  return sweepBy(drop, { ...parts, everyMs: PIECE_EVERY_MS, what: 'old model calls' })
}

interface Sweep extends SweepParts {
  readonly everyMs: number
  readonly what: string
}

/** Each round drops one piece; a failed round is tried again with the next. */
function sweepBy(
  drop: () => Promise<{ readonly count: number }>,
  { clock, logger, everyMs, what }: Sweep,
): PeriodicTask {
  const round = async () => {
    try {
      const { count } = await drop()
      if (count > 0) logger.info({ count }, `${what} dropped`)
    } catch (error) {
      logger.warn({ err: error }, `${what} not dropped`)
    }
  }
  return new PeriodicTask({ clock, everyMs, round })
}
