import { type Clock, pause } from '#core/base/clock'
import { KnownError } from '#core/base/errors'
import { entryNumber, type SessionId } from '#core/base/ids'
import type { Logger } from '#core/base/logger'
import { LIST_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import { DamagedRowError, StoreClosedError } from '#core/store/errors'
import { packVectors } from '#core/store/search/meaning/packed-vectors'
import { cutPassages } from '#core/store/search/passages'
import { isSearched, searchedText } from '#core/store/search/words'
import type { Entry } from '#core/store/tables/rows'
import { type Embedder, EmbeddingError } from '../../model/embeddings/embedder.ts'

/** Texts of one request; no provider takes fewer than 100. */
const TEXTS_MAX = 64
const ENTRIES_MAX = 64
/** Between two requests, so that an old store does not keep the host and the writer busy. */
const REST_MS = 50
/** After something was written, so that what is said together is sent together. */
const GATHER_MS = 1_000
const RETRY_MS = 1_000
const RETRY_MS_MAX = 300_000
const REQUEST_MS = 60_000

interface IndexerParts {
  readonly store: Pick<Store, 'readUnembedded' | 'readEntries' | 'putVectors' | 'watch'>
  readonly embedder: Embedder
  readonly clock: Clock
  readonly logger: Logger
  readonly random?: () => number
}

/**
 * Embeds the passages of new and old entries in the background, one bounded request after the other.
 * The store knows how far each session has come, so a restarted process continues there. If several
 * processes embed at once, the store keeps what comes first.
 */
export class EmbeddingIndexer {
  readonly #parts: IndexerParts
  readonly #closing = new AbortController()
  /** Damaged ones, until the process restarts. */
  readonly #skipped = new Set<SessionId>()
  #changed = Promise.withResolvers<void>()
  #unwatch = () => {}
  #going: Promise<void> = Promise.resolve()
  #dimension: number | undefined
  #left = 0
  #problem: string | null = null

  constructor(parts: IndexerParts) {
    this.#parts = parts
  }

  /** For operators: why nothing is embedded at the moment. */
  get problems(): readonly string[] {
    if (this.#problem === null) return []
    return [
      `Embeddings: ${this.#problem}; ${this.#left} entries wait, and search finds words alone`,
    ]
  }

  start(): void {
    this.#unwatch = this.#parts.store.watch(() => this.#changed.resolve())
    this.#going = this.#run()
  }

  async close(): Promise<void> {
    this.#unwatch()
    this.#closing.abort()
    this.#changed.resolve()
    await this.#going
  }

  async #run(): Promise<void> {
    const { clock, logger } = this.#parts
    const { host } = this.#parts.embedder
    const { signal } = this.#closing
    for (let failures = 0; !signal.aborted; ) {
      // Before the read, so that no change is missed.
      this.#changed = Promise.withResolvers<void>()
      try {
        const isMore = await this.#embedSome(signal)
        if (failures > 0) logger.info({ host }, 'embedding again')
        failures = 0
        this.#problem = null
        if (isMore) await pause(clock, REST_MS, signal)
        else {
          await this.#changed.promise
          await pause(clock, GATHER_MS, signal)
        }
      } catch (error) {
        if (signal.aborted || error instanceof StoreClosedError) return
        failures++
        this.#problem = error instanceof KnownError ? error.message : `${host} did not answer`
        // Its message and not the error: what a library throws may hold a text.
        if (failures === 1) logger.warn({ problem: this.#problem }, 'entries not embedded')
        await pause(clock, this.#delayMs(failures), signal)
      }
    }
  }

  #delayMs(failures: number): number {
    const { random = Math.random } = this.#parts
    return Math.min(RETRY_MS * 2 ** (failures - 1), RETRY_MS_MAX) * (0.75 + random() / 2)
  }

  /** Embeds the next entries of one session. False: nothing is left. */
  async #embedSome(signal: AbortSignal): Promise<boolean> {
    const { store, embedder } = this.#parts
    const { model } = embedder
    const { sessions, entries: left } = await store.readUnembedded({ model, limit: LIST_MAX })
    if (left < this.#left && left === 0) this.#parts.logger.info({ model }, 'all entries embedded')
    this.#left = left
    const next = sessions.find(({ sessionId }) => !this.#skipped.has(sessionId))
    if (next === undefined) return false
    const { sessionId, after } = next
    const last = entryNumber(Math.min(next.upto, after + ENTRIES_MAX))
    const read = await this.#read(sessionId, after + 1, last)
    if (read === null) return true
    const batch = firstOfAll(read.map((entry) => ({ entry, texts: textsOf(entry) })))
    const upto = batch.at(-1)?.entry.number ?? last
    const vectors = await this.#vectorsOf(batch, signal)
    const dimension = await this.#dimensionOf(vectors, signal)
    await store.putVectors({
      ...{ sessionId, model, dimension, after, upto },
      vectors: vectors.map(({ number, of }) => ({ number, bytes: packVectors(of, dimension) })),
    })
    return true
  }

  async #read(sessionId: SessionId, from: number, to: number): Promise<readonly Entry[] | null> {
    try {
      const range = { from: entryNumber(from), to: entryNumber(to) }
      return await this.#parts.store.readEntries({ sessionId, ...range })
    } catch (error) {
      if (!(error instanceof DamagedRowError)) throw error
      this.#skipped.add(sessionId)
      return null
    }
  }

  async #vectorsOf(
    batch: readonly Texts[],
    signal: AbortSignal,
  ): Promise<
    readonly { readonly number: Entry['number']; readonly of: readonly Float32Array[] }[]
  > {
    const texts = batch.flatMap((each) => each.texts)
    try {
      const vectors = await this.#embed(texts, signal)
      let end = 0
      return batch.flatMap(({ entry: { number }, texts: own }) => {
        end += own.length
        return own.length === 0 ? [] : [{ number, of: vectors.slice(end - own.length, end) }]
      })
    } catch (error) {
      if (!(error instanceof EmbeddingError && error.isRefusal)) throw error
      if (batch.length > 1) {
        const each = []
        for (const one of batch) each.push(...(await this.#vectorsOf([one], signal)))
        return each
      }
      // Is it this text, or would the host refuse every one?
      await this.#embed([PROBE], signal)
      const number = batch[0]?.entry.number
      this.#parts.logger.warn({ entry: number, problem: error.message }, 'entry not embedded')
      return []
    }
  }

  async #embed(texts: readonly string[], signal: AbortSignal): Promise<readonly Float32Array[]> {
    const vectors: Float32Array[] = []
    for (let from = 0; from < texts.length; from += TEXTS_MAX) {
      const page = texts.slice(from, from + TEXTS_MAX)
      const late = AbortSignal.timeout(REQUEST_MS)
      vectors.push(...(await this.#parts.embedder.embed(page, AbortSignal.any([signal, late]))))
    }
    return vectors
  }

  /** Entries without text still need to be marked as embedded by a model of some dimension. */
  async #dimensionOf(
    vectors: readonly { readonly of: readonly Float32Array[] }[],
    signal: AbortSignal,
  ): Promise<number> {
    this.#dimension = vectors[0]?.of[0]?.length ?? this.#dimension
    this.#dimension ??= (await this.#embed([PROBE], signal))[0]?.length ?? 1
    return this.#dimension
  }
}

const PROBE = 'text'

interface Texts {
  readonly entry: Entry
  readonly texts: readonly string[]
}

function textsOf(entry: Entry): readonly string[] {
  return isSearched(entry) ? cutPassages(searchedText(entry)) : []
}

/** As many entries as fit one request, at least one. */
function firstOfAll(entries: readonly Texts[]): readonly Texts[] {
  let count = 0
  const end = entries.findIndex(({ texts }, at) => {
    count += texts.length
    return at > 0 && count > TEXTS_MAX
  })
  return end === -1 ? entries : entries.slice(0, end)
}
