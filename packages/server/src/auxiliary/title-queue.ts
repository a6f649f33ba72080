import type { SessionId } from '#core/base/ids'

/**
 * When many sessions begin together, their titles must not take the store and the model from first
 * answers that are still awaited.
 */
export const TITLES_AT_ONCE = 8

/** Titles that are being written, and those that wait; each session has one of each at most. */
export class TitleQueue {
  readonly #writing = new Set<SessionId>()
  readonly #waiting = new Map<SessionId, () => Promise<void>>()

  /** Resolves once this caller has nothing to write any more; rejects if one of its titles fails. */
  async write(sessionId: SessionId, work: () => Promise<void>): Promise<void> {
    this.#waiting.set(sessionId, work)
    const failures: unknown[] = []
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      const [id, run] = next
      await run().catch((error: unknown) => failures.push(error))
      this.#writing.delete(id)
    }
    if (failures.length > 0) throw failures[0]
  }

  /** Those that wait are dropped; the next answer asks again. */
  close(): void {
    this.#waiting.clear()
  }

  #take(): readonly [SessionId, () => Promise<void>] | undefined {
    if (this.#writing.size >= TITLES_AT_ONCE) return undefined
    for (const next of this.#waiting) {
      const [id] = next
      if (this.#writing.has(id)) continue
      this.#waiting.delete(id)
      this.#writing.add(id)
      return next
    }
    return undefined
  }
}
