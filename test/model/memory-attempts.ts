import type { OperationId, SessionId } from '../../packages/core/src/base/ids.ts'
import {
  type Attempt,
  type AttemptQuery,
  type Attempts,
  addSpend,
  NOTHING_SPENT,
  type Spend,
  spendOf,
} from '../../packages/server/src/auxiliary/attempts.ts'

/** A record of calls without a store. */
export class MemoryAttempts implements Attempts {
  readonly #rows = new Map<OperationId, Attempt>()

  async record(attempt: Attempt): Promise<boolean> {
    if (this.#rows.has(attempt.id)) return false
    this.#rows.set(attempt.id, attempt)
    return true
  }

  async read({ modelRoute, task, since, limit }: AttemptQuery): Promise<readonly Attempt[]> {
    return [...this.#rows.values()]
      .filter((row) => row.modelRoute === modelRoute && row.at >= since)
      .filter((row) => (task ?? row.task) === row.task)
      .toReversed()
      .slice(0, limit)
  }

  async sum(query: { readonly sessionId?: SessionId; readonly since: number }): Promise<Spend> {
    const { sessionId, since } = query
    return [...this.#rows.values()]
      .filter((row) => row.at >= since && (sessionId ?? row.sessionId) === row.sessionId)
      .map(spendOf)
      .reduce(addSpend, NOTHING_SPENT)
  }
}
