import type { OperationId, SessionId } from '../base/ids.ts'

/**
 * The record of calls beside the conversation. Breakers, budgets and figures are all read from it
 * and from nothing else, so that they survive a restart and hold for every process of the host.
 */
export interface Attempts {
  record(attempt: Attempt): Promise<void>
  /** Newest first. */
  read(query: AttemptQuery): Promise<readonly Attempt[]>
  /** Of one session, or of this host. */
  sum(query: { readonly sessionId?: SessionId; readonly since: number }): Promise<Spend>
}

/** One call on one route. No word of a conversation or of a provider stands in it. */
export interface Attempt {
  readonly id: OperationId
  readonly sessionId: SessionId
  readonly task: string
  readonly modelRoute: string
  /** `answered`, `interrupted`, or what went wrong, in a fixed word. */
  readonly outcome: string
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  /** In millionths of the currency that prices are in; null where no price is known. */
  readonly cost: number | null
  readonly at: number
}

export interface AttemptQuery {
  readonly modelRoute: string
  readonly since: number
  readonly limit: number
}

export interface Spend {
  readonly attempts: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  readonly cost: number
  /** Attempts of which nobody knows what they cost. */
  readonly unpriced: number
}

export const NOTHING_SPENT: Spend = {
  attempts: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  cost: 0,
  unpriced: 0,
}

export function addSpend(a: Spend, b: Spend): Spend {
  return {
    attempts: a.attempts + b.attempts,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    cost: a.cost + b.cost,
    unpriced: a.unpriced + b.unpriced,
  }
}

export function spendOf({ inputTokens, outputTokens, cachedTokens, cost }: Attempt): Spend {
  const priced = { cost: cost ?? 0, unpriced: cost === null ? 1 : 0 }
  return { attempts: 1, inputTokens, outputTokens, cachedTokens, ...priced }
}

const ROWS_MAX = 10_000

/** For programs that keep no store: bounded, and gone with the process. */
export class MemoryAttempts implements Attempts {
  #rows: Attempt[] = []

  async record(attempt: Attempt): Promise<void> {
    this.#rows.push(attempt)
    if (this.#rows.length > ROWS_MAX) this.#rows = this.#rows.slice(-ROWS_MAX / 2)
  }

  async read({ modelRoute, since, limit }: AttemptQuery): Promise<readonly Attempt[]> {
    const found = this.#rows.filter((row) => row.modelRoute === modelRoute && row.at >= since)
    return found.toReversed().slice(0, limit)
  }

  async sum(query: { readonly sessionId?: SessionId; readonly since: number }): Promise<Spend> {
    const { sessionId, since } = query
    return this.#rows
      .filter((row) => row.at >= since && (sessionId ?? row.sessionId) === row.sessionId)
      .map(spendOf)
      .reduce(addSpend, NOTHING_SPENT)
  }
}
