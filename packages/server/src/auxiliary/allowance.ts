import type { SessionId } from '#core/base/ids'
import { type Attempts, addSpend, NOTHING_SPENT, type Spend } from './attempts.ts'

/**
 * How much auxiliary calls may spend in any span of `windowMs`. The limit is hard: a call that
 * could exceed it is not made. Running calls count with their largest possible cost, so that
 * parallel calls cannot exceed it together.
 */
export interface AllowanceLimits {
  readonly windowMs: number
  readonly session?: Limit
  readonly host?: Limit
}

export interface Limit {
  /** Input and output together. */
  readonly tokens?: number
  /** In millionths of the currency. Calls without a known price do not count. */
  readonly cost?: number
}

/** Per day, and more than any normal session needs: stops a loop, but not a long conversation. */
export const ALLOWANCE: AllowanceLimits = {
  windowMs: 24 * 3_600_000,
  session: { tokens: 20_000_000 },
  host: { tokens: 200_000_000 },
}

export type Exceeded = `${'session' | 'host'}-${'tokens' | 'cost'}`

/** The largest possible cost of one call. */
export interface Expected {
  readonly sessionId: SessionId
  readonly tokens: number
  readonly cost: number
}

export type Reservation =
  | { readonly kind: 'reserved'; readonly release: () => void }
  | { readonly kind: 'exceeded'; readonly which: Exceeded }

export class Allowance {
  readonly #attempts: Attempts
  readonly #limits: AllowanceLimits
  readonly #open = new Set<Expected>()

  constructor(attempts: Attempts, limits: AllowanceLimits) {
    this.#attempts = attempts
    this.#limits = limits
  }

  /**
   * Never rejects: an unreadable record counts as zero, and this process's running calls always
   * count.
   */
  async reserve(expected: Expected, now: number): Promise<Reservation> {
    const { sessionId } = expected
    // Counted as running before anything is read, so that concurrent requests see each other.
    this.#open.add(expected)
    const since = now - this.#limits.windowMs
    const [ofSession, ofHost] = await Promise.all([
      this.#spent(this.#limits.session, { sessionId, since }),
      this.#spent(this.#limits.host, { since }),
    ])
    const isOwn = (each: Expected) => each.sessionId === sessionId
    const which =
      this.#exceeded('session', ofSession, [...this.#open].filter(isOwn)) ??
      this.#exceeded('host', ofHost, [...this.#open])
    const release = () => void this.#open.delete(expected)
    if (which === undefined) return { kind: 'reserved', release }
    release()
    return { kind: 'exceeded', which }
  }

  async #spent(limit: Limit | undefined, query: Parameters<Attempts['sum']>[0]): Promise<Spend> {
    if (limit === undefined) return NOTHING_SPENT
    return await this.#attempts.sum(query).catch(() => NOTHING_SPENT)
  }

  #exceeded(
    whose: 'session' | 'host',
    spent: Spend,
    open: readonly Expected[],
  ): Exceeded | undefined {
    const { tokens, cost } = this.#limits[whose] ?? {}
    const sum = open.reduce(
      (total, each) =>
        addSpend(total, { ...NOTHING_SPENT, inputTokens: each.tokens, cost: each.cost }),
      spent,
    )
    if (tokens !== undefined && sum.inputTokens + sum.outputTokens > tokens)
      return `${whose}-tokens`
    return cost !== undefined && sum.cost > cost ? `${whose}-cost` : undefined
  }
}
