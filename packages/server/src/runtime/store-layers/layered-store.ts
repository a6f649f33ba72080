import type { AuditWriter } from '#core/audit/log/log'
import type { Clock } from '#core/base/clock'
import type { Logger } from '#core/base/logger'
import type { Store } from '#core/store/contract'
import type { StoreError } from '#core/store/errors'
import type { Embedder } from '../../model/embeddings/embedder.ts'
import type { EmbedQuestion } from '../../tools/embedded-question.ts'
import { refuseMailOfClients } from '../client-sessions/client-sessions.ts'
import { EmbeddingIndexer } from '../embeddings/indexer.ts'
import { questionEmbedder } from '../embeddings/question.ts'
import type { PeriodicTask } from '../periodic-task.ts'
import { auditedIntake } from './audited-intake.ts'
import { DamagedSessions } from './damaged-sessions.ts'
import { type ErasureParts, propagateErasure } from './erasure-propagation.ts'
import { callSweep, type RetentionDays, sentSweep, stagedSweep } from './retention.ts'
import { StoreHealth } from './store-health.ts'
import { unfinishedErasures } from './unfinished-erasures.ts'

interface LayeredStoreParts extends ErasureParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly audit: AuditWriter
  readonly retention: RetentionDays
  /** For search by meaning. */
  readonly embedder?: Embedder | undefined
}

/**
 * The store as a runtime uses it. Each layer adds one duty: detecting failing commits and damaged
 * rows, auditing intake, refusing mail that no process would read, and extending erasures to the notes and reminders made from the text. Its
 * upkeep also makes the embeddings.
 */
export class LayeredStore {
  readonly store: Store
  readonly embedQuestion: EmbedQuestion
  readonly #clock: Clock
  readonly #health: StoreHealth
  readonly #damaged: DamagedSessions
  readonly #sweeps: readonly PeriodicTask[]
  readonly #erasures: ReturnType<typeof unfinishedErasures>
  readonly #indexer: EmbeddingIndexer | undefined

  constructor(parts: LayeredStoreParts) {
    const { clock, logger, audit } = parts
    this.#clock = clock
    this.#health = new StoreHealth(clock, logger)
    this.#damaged = new DamagedSessions(logger)
    const heard = this.#damaged.heard(this.#health.heard(parts.store))
    const read = refuseMailOfClients(auditedIntake(heard, audit))
    this.store = propagateErasure({ ...parts, store: read })
    this.#sweeps = [
      stagedSweep({ store: this.store, clock, logger }),
      sentSweep({ ...parts, store: this.store }),
      callSweep({ ...parts, store: this.store }),
    ]
    this.#erasures = unfinishedErasures({ ...parts, store: this.store })
    const { embedder } = parts
    this.embedQuestion = questionEmbedder(embedder, clock)
    this.#indexer = embedder && new EmbeddingIndexer({ store: this.store, embedder, clock, logger })
  }

  /** Why commits currently fail; null: they do not. */
  get error(): StoreError | null {
    return this.#health.problem
  }

  get problems(): readonly string[] {
    return [...this.#damaged.problems, ...(this.#indexer?.problems ?? [])]
  }

  /** Checks for damage before the store is served. */
  async check(): Promise<void> {
    await this.#damaged.check(this.store, this.#clock)
  }

  startUpkeep(): void {
    for (const sweep of this.#sweeps) sweep.start()
    this.#erasures.start({ firstMs: 0 })
    this.#indexer?.start()
  }

  async stopUpkeep(): Promise<void> {
    await this.#indexer?.close()
    for (const sweep of this.#sweeps) await sweep.close()
    await this.#erasures.close()
  }

  async close(): Promise<void> {
    await this.#damaged.close()
    await this.#health.close()
  }
}
