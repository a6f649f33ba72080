import type { Clock } from '#core/base/clock'
import type { Logger } from '#core/base/logger'
import type { Store } from '#core/store/contract'
import type { ReplyKey } from '#core/store/retention-commits'
import { PeriodicTask } from '../periodic-task.ts'

/** One piece a minute: at this pace a million replies are looked at within a day. */
const EVERY_MS = 60_000
const PIECE = 1_000
const DAY_MS = 86_400_000
export const KEEP_SENT_DAYS = 30

interface SweepParts {
  readonly store: Pick<Store, 'dropSent'>
  readonly clock: Clock
  readonly logger: Logger
  /** Counted from when a reply was written. */
  readonly keepSentDays: number
}

/** Walks through all replies, again and again, and drops those that were sent long ago. */
export function sentSweep({ store, clock, logger, keepSentDays }: SweepParts): PeriodicTask {
  let after: ReplyKey | null = null
  const round = async () => {
    try {
      const before = clock.now() - keepSentDays * DAY_MS
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
