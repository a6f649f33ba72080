import type { Clock } from '../base/clock.ts'
import type { Store } from '../store/contract.ts'
import type { Logger } from './logger.ts'

const EVERY_MS = 3_600_000
/** A file is staged before the message that carries it; after a day none comes any more. */
const STAGED_MS_MAX = 86_400_000

interface SweepParts {
  readonly store: Pick<Store, 'dropStaged'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Files that were staged and that no message ever used are dropped, now and then. */
export class StagedSweep {
  readonly #parts: SweepParts
  #cancel = () => {}
  #sweeping: Promise<void> = Promise.resolve()

  constructor(parts: SweepParts) {
    this.#parts = parts
  }

  start(): void {
    this.#cancel = this.#parts.clock.after(EVERY_MS, () => {
      this.#sweeping = this.#sweep()
      this.start()
    })
  }

  async close(): Promise<void> {
    this.#cancel()
    await this.#sweeping
  }

  async #sweep(): Promise<void> {
    const { store, clock, logger } = this.#parts
    try {
      const { count } = await store.dropStaged({ before: clock.now() - STAGED_MS_MAX })
      if (count > 0) logger.info({ count }, 'files that no message used dropped')
    } catch (error) {
      logger.warn({ err: error }, 'files that no message used not dropped')
    }
  }
}
