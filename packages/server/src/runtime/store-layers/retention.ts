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
const EVERY_MS = 60_000
const PIECE = 1_000

interface SweepParts {
  readonly store: Pick<Store, 'dropSent' | 'dropAttempts'>
  readonly clock: Clock
  readonly logger: Logger
  readonly retention: RetentionDays
}

/** Walks through all replies, again and again, and drops those that were sent long ago. */
export function sentSweep({ store, clock, logger, retention }: SweepParts): PeriodicTask {
  let after: ReplyKey | null = null
  const round = async () => {
    try {
      const before = clock.now() - retention.sent * DAY_MS
      const from = after === null ? {} : { after }
      const { count, upTo } = await store.dropSent({ before, limit: PIECE, ...from })
      after = upTo
      if (count > 0) logger.info({ count }, 'replies that were sent long ago dropped')
    } catch (error) {
      logger.warn({ err: error }, 'replies that were sent long ago not dropped')
    }
  }
  return new PeriodicTask({ clock, everyMs: EVERY_MS, round })
}

/** Replaces the model calls of days long ago by their sums. */
export function callSweep({ store, clock, logger, retention }: SweepParts): PeriodicTask {
  const round = async () => {
    try {
      const beforeDay = Math.floor(clock.now() / DAY_MS) - retention.calls
      const { count } = await store.dropAttempts({ beforeDay, limit: PIECE })
      if (count > 0) logger.info({ count }, 'old model calls replaced by their sums')
    } catch (error) {
      logger.warn({ err: error }, 'old model calls not replaced by their sums')
    }
  }
  return new PeriodicTask({ clock, everyMs: EVERY_MS, round })
}
