import type { Clock } from '#core/base/clock'
import type { Logger } from '#core/base/logger'
import type { Store } from '#core/store/contract'
import { PeriodicTask } from '../periodic-task.ts'

const EVERY_MS = 3_600_000
/** A file is staged before its message; after a day no message will come. */
const STAGED_MS_MAX = 86_400_000

interface SweepParts {
  readonly store: Pick<Store, 'dropStaged'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Periodically drops staged files that no message used. */
export function stagedSweep({ store, clock, logger }: SweepParts): PeriodicTask {
  const round = async () => {
    try {
      const { count } = await store.dropStaged({ before: clock.now() - STAGED_MS_MAX })
      if (count > 0) logger.info({ count }, 'files that no message used dropped')
    } catch (error) {
      logger.warn({ err: error }, 'files that no message used not dropped')
    }
  }
  return new PeriodicTask({ clock, everyMs: EVERY_MS, round })
}
