import type { SessionId } from '../../base/ids.ts'
import { LIST_MAX } from '../bounds.ts'
import type { StoreChange } from '../rules/ruling.ts'
import type { Connections } from './connections/connections.ts'
import { indexInPostgres, unindexedInPostgres } from './word-index.ts'

/** Links a long chain in pieces: 5,000 links take about a tenth of a second. */
export const CHAIN = { text: 'select chain_audit(5000) as more', values: [] }
/** Which store this is, and how far its chain has come. */
export const CHAIN_END = {
  text: 'select id, commits, hash from store join chain using (one) where one = 1',
  values: [],
}
const DELAY_MS = 100

/**
 * Work after commits: the audit chain and the search index. No caller waits for it, and the next
 * reader completes it, so only speed depends on it.
 */
export class Maintenance {
  readonly #connections: Connections
  readonly #onChained: () => Promise<void> | undefined
  readonly #unindexed = new Set<SessionId>()
  #mayMiss = true
  #unchained = false
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> | undefined
  #closed = false

  constructor(connections: Connections, onChained: () => Promise<void> | undefined) {
    this.#connections = connections
    this.#onChained = onChained
    this.#work = this.#findUnindexed().then(() => this.#keepSoon())
  }

  add(change: StoreChange): void {
    for (const { sessionId } of change.entries ?? []) this.#unindexed.add(sessionId)
    if ((change.audit ?? []).length > 0) this.#unchained = true
    this.#keepSoon()
  }

  #keepSoon(): void {
    if (this.#closed || (this.#unindexed.size === 0 && !this.#unchained)) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#work = this.#keep()
    }, DELAY_MS)
    this.#timer.unref()
  }

  async #findUnindexed(): Promise<void> {
    try {
      const found = await unindexedInPostgres(this.#connections)
      for (const id of found) this.#unindexed.add(id)
      this.#mayMiss = found.length === LIST_MAX
    } catch {
      // Found again when the store is next opened, and read directly until then.
    }
  }

  /** One piece of the chain, and one batch of each session in turn. */
  async #keep(): Promise<void> {
    await this.#work
    try {
      const [chained] = await this.#connections.query(CHAIN)
      this.#unchained = chained?.['more'] === true
      await this.#onChained()
      for (const id of [...this.#unindexed]) {
        if (this.#closed) return
        await this.#index(id)
      }
      // An upgrade that empties the index leaves more sessions than one query finds.
      if (this.#mayMiss && this.#unindexed.size === 0) await this.#findUnindexed()
    } catch {
      // The server is unreachable or gave up; the next commit starts this again.
      return
    }
    this.#keepSoon()
  }

  /** Unmarked first: an append during the batch marks the session again. */
  async #index(id: SessionId): Promise<void> {
    this.#unindexed.delete(id)
    let isMore = true
    try {
      isMore = await indexInPostgres(this.#connections, id)
    } finally {
      if (isMore) this.#unindexed.add(id)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#work
  }
}
