import type { Clock } from '#core/base/clock'
import type { SessionId } from '#core/base/ids'
import type { Logger } from '#core/base/logger'
import { LIST_MAX } from '#core/store/bounds'
import { PeriodicTask } from '../periodic-task.ts'
import type { ErasureParts } from './erasure-propagation.ts'
import { finishErasure } from './purge.ts'

const EVERY_MS = 10 * 60_000

interface ErasureTaskParts extends ErasureParts {
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Finishes removals that a dead process left halfway, so that the request need not be repeated.
 * Joining a removal in progress is harmless: each piece removes only what still exists.
 */
export function unfinishedErasures(parts: ErasureTaskParts): PeriodicTask {
  const round = (signal: AbortSignal) => finishErasures(parts, signal)
  return new PeriodicTask({ clock: parts.clock, everyMs: EVERY_MS, round })
}

async function finishErasures(parts: ErasureTaskParts, signal: AbortSignal): Promise<void> {
  const { store, logger } = parts
  try {
    for (let after: SessionId | undefined; !signal.aborted; ) {
      const query = { state: 'erasing', limit: LIST_MAX, ...(after && { after }) } as const
      const page = await store.listSessions(query)
      for (const { id } of page) await finishOne(parts, id, signal)
      after = page.at(-1)?.id
      if (page.length < LIST_MAX) return
    }
  } catch (error) {
    logger.warn({ err: error }, 'sessions to erase not looked for')
  }
}

/** A removal that cannot be finished does not block the others. */
async function finishOne(
  parts: ErasureTaskParts,
  id: SessionId,
  signal: AbortSignal,
): Promise<void> {
  const { logger } = parts
  try {
    if (await finishErasure(parts, id, signal)) logger.info({ sessionId: id }, 'erasure finished')
  } catch (error) {
    logger.warn({ sessionId: id, err: error }, 'erasure not finished')
  }
}
