import type { APIMessage } from 'discord.js'
import { type Clock, pause } from '#core/base/clock'
import { errorKind } from '../chat/error-kind.ts'

/**
 * The messages of one channel, in order and complete. Discord sends a message once and takes no
 * acknowledgment; it repeats missed messages only if the connection can be resumed. So the
 * channel's history serves as the durable queue: a feed that may have missed a message, or could
 * not store one in time, continues reading after the last message that it took.
 *
 * A message is taken when `take` resolved; until then it is tried again. Messages that were already
 * taken are skipped; taking them again would be harmless.
 */
export interface FeedTerms {
  readonly clock: Clock
  /** The message after which to begin; earlier ones were durable before this process started. */
  mark(): Promise<string>
  /** At most 100 messages after `after`, oldest first. */
  read(after: string): Promise<readonly APIMessage[]>
  take(event: FeedEvent): Promise<void>
  /** Null: it has recovered. */
  report(problem: string | null): void
}

export interface FeedEvent {
  readonly kind: 'message' | 'edit'
  readonly message: APIMessage
}

export const PAGE = 100
const PAGES_MAX = 50
const QUEUE_MAX = 500
const RECENT_MAX = 1_000
const WAIT_MS = 500
const WAIT_MS_MAX = 30_000
const NOT_TAKEN = 'Messages wait, because they cannot be stored'

export class Feed {
  readonly #terms: FeedTerms
  readonly #recent = new Set<string>()
  readonly #ended = new AbortController()
  #queue: FeedEvent[] = []
  #mark: string | undefined
  // Messages from before this process started are still unread.
  #isBehind = true
  #running: Promise<void> | null = null

  constructor(terms: FeedTerms) {
    this.#terms = terms
  }

  push(event: FeedEvent): void {
    // Messages beyond the bound are found in the history; an edit beyond it is seen there too,
    // unless its message was taken before.
    if (this.#queue.length < QUEUE_MAX) this.#queue.push(event)
    else this.#isBehind = true
    this.#run()
  }

  /** Call this when messages may have been missed. */
  catchUp(): void {
    this.#isBehind = true
    this.#run()
  }

  /** Takes no further message. */
  async close(): Promise<void> {
    this.#ended.abort()
    await this.#running
  }

  #run(): void {
    if (this.#ended.signal.aborted) return
    this.#running ??= this.#drain().finally(() => {
      this.#running = null
      // Messages that arrived since the last read.
      if (this.#isBehind || this.#queue.length > 0) this.#run()
    })
  }

  async #drain(): Promise<void> {
    let waitMs = WAIT_MS
    while (!this.#ended.signal.aborted) {
      try {
        if (this.#isBehind) await this.#readOn()
        const [event] = this.#queue
        if (event === undefined) return
        await this.#take(event)
        this.#queue.shift()
        if (waitMs > WAIT_MS) this.#terms.report(null)
        waitMs = WAIT_MS
      } catch (error) {
        // Waiting loses nothing: the history keeps the messages.
        this.#terms.report(`${NOT_TAKEN} (${errorKind(error)})`)
        await pause(this.#terms.clock, waitMs, this.#ended.signal)
        waitMs = Math.min(WAIT_MS_MAX, waitMs * 2)
      }
    }
  }

  async #readOn(): Promise<void> {
    this.#mark ??= await this.#terms.mark()
    this.#isBehind = false
    try {
      for (let page = 0; ; page++) {
        const messages = await this.#terms.read(this.#mark)
        for (const message of messages) {
          if (this.#ended.signal.aborted) return
          await this.#take({ kind: 'message', message })
        }
        if (messages.length < PAGE) return
        if (page + 1 < PAGES_MAX) continue
        const count = PAGES_MAX * PAGE
        this.#terms.report(
          `A channel has more than ${count} missed messages; the rest is not read.`,
        )
        return
      }
    } catch (error) {
      this.#isBehind = true
      throw error
    }
  }

  async #take(event: FeedEvent): Promise<void> {
    const { id } = event.message
    if (event.kind === 'edit') return await this.#terms.take(event)
    if (this.#recent.has(id)) return
    await this.#terms.take(event)
    this.#recent.add(id)
    if (this.#recent.size > RECENT_MAX) {
      for (const oldest of this.#recent) {
        this.#recent.delete(oldest)
        break
      }
    }
    if (this.#mark === undefined || isLater(id, this.#mark)) this.#mark = id
  }
}

/** Ids are numbers that rise with time, too large for `Number`. */
export function isLater(id: string, than: string): boolean {
  return id.length === than.length ? id > than : id.length > than.length
}
