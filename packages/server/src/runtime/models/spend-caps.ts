import type { Clock } from '#core/base/clock'
import type { MailNumber, SessionId } from '#core/base/ids'
import { LIST_MAX } from '#core/store/bounds'
import type { Store } from '#core/store/contract'
import type { AttemptSum } from '#core/store/operational-rows'
import type { Limit } from '../../auxiliary/allowance.ts'
import { dayStart } from '../usage.ts'

/**
 * How much turns may spend: one turn, a session in its lifetime, the sessions of one agent in a
 * day, all sessions of the store in a day. Auxiliary tasks count for the last three, too.
 */
export interface SpendLimits {
  readonly turn?: Limit
  readonly session?: Limit
  readonly agent?: Limit
  readonly day?: Limit
}

export interface SpendingTurn {
  readonly sessionId: SessionId
  readonly agent: string
  readonly turn: number
}

/** The control item with which a person continues a turn that paused at a limit. */
const PAST_LIMIT = 'continue'

/**
 * Checked before each model call of a turn, so that a turn exceeds a limit by one call at most.
 * Spending is read from the store, so the limits hold for all processes and survive a restart. A
 * person who continues a session allows it the same amount once more, from then on.
 */
export class SpendCaps {
  readonly #store: Pick<Store, 'sumAttempts' | 'listMail'>
  readonly #clock: Clock
  readonly #limits: SpendLimits

  constructor(
    store: Pick<Store, 'sumAttempts' | 'listMail'>,
    clock: Clock,
    limits: SpendLimits = {},
  ) {
    this.#store = store
    this.#clock = clock
    this.#limits = limits
  }

  /**
   * Why no model may be called now, for the person who decides whether to continue; null: it may.
   */
  async reasonToPause(turn: SpendingTurn): Promise<string | null> {
    const reached = await this.#reached(turn, null)
    if (reached === null) return null
    const continuedAt = await this.#continuedAt(turn.sessionId)
    return continuedAt === null ? reached : await this.#reached(turn, continuedAt)
  }

  async #reached(
    { sessionId, agent, turn }: SpendingTurn,
    continuedAt: number | null,
  ): Promise<string | null> {
    const since = continuedAt ?? 0
    const today = dayStart(this.#clock.now())
    // Continuing this session does not extend the limits shared with other sessions.
    const own = continuedAt !== null && continuedAt >= today ? { sessionId, since } : null
    const scopes = [
      ['turn', 'This turn', { sessionId, turn, since }],
      ['session', 'This session', { sessionId, since }],
      ['agent', `The agent ${agent}`, own ?? { agent, since: today }],
      ['day', 'All sessions together', own ?? { since: today }],
    ] as const
    for (const [name, who, query] of scopes) {
      const limit = this.#limits[name]
      if (limit?.tokens === undefined && limit?.cost === undefined) continue
      const spent = exceeded(await this.#store.sumAttempts(query), limit)
      if (spent === null) continue
      const when = name === 'agent' || name === 'day' ? ' today' : ''
      const again = continuedAt === null ? '' : ' since it was last continued'
      return `${who} spent ${spent}${when}${again} (limits.spend.${name}).`
    }
    return null
  }

  /** When a person last continued the session past a limit. */
  async #continuedAt(sessionId: SessionId): Promise<number | null> {
    let newest: number | null = null
    let after = 0 as MailNumber
    for (;;) {
      const query = { sessionId, lane: 'control', after, limit: LIST_MAX } as const
      const page = await this.#store.listMail(query)
      for (const { control, state, at } of page) {
        if (control === PAST_LIMIT && state !== 'withdrawn') newest = at
      }
      if (page.length < LIST_MAX) return newest
      after = page.at(-1)?.number ?? after
    }
  }
}

/** Null: below the limit. */
function exceeded(sum: AttemptSum, { tokens, cost }: Limit): string | null {
  const spent = sum.inputTokens + sum.outputTokens
  if (tokens !== undefined && spent >= tokens) {
    return `${spent.toLocaleString('en')} of ${tokens.toLocaleString('en')} tokens`
  }
  if (cost === undefined || sum.cost < cost) return null
  return `${money(sum.cost)} of ${money(cost)}`
}

function money(millionths: number): string {
  return (millionths / 1_000_000).toFixed(2)
}
