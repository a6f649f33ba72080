import type { Clock } from '../base/clock.ts'
import { KnownError } from '../base/errors.ts'
import type { RunnerId } from '../base/ids.ts'
import type { SettleReply, Store } from '../store/contract.ts'
import { OutcomeUnknownError } from '../store/errors.ts'
import type { ReplyRow } from '../store/rows.ts'

/** Where replies leave: a chat platform, another agent's mailbox, a waiting HTTP request. */
export interface Edge {
  readonly name: string
  /** Sends once under the reply's key. What it throws counts as failed. */
  send(reply: ReplyRow): Promise<{ kind: 'sent'; receipt: string } | { kind: 'failed' }>
}

const BACK_OFF_MAX = 6
const OVERDUE_ROUNDS = 16

/**
 * The outbox: claims the oldest waiting reply of an edge, sends it, settles it. Each is sent at
 * least once, in order per address; twice only if the process ends between sending and settling.
 * A claim whose answer was lost is found among the rows that name us; a settlement is repeated
 * until it is answered, because it names its attempt and cannot be done twice (I31).
 */
export class Sender {
  readonly #store: Store
  readonly #clock: Clock
  readonly #edges: readonly Edge[]
  readonly #retryMs: number
  readonly #attemptsMax: number
  #emptyRounds = 0
  readonly #running = new Set<string>()
  /** Edges where a claim may have been made that we do not know of. */
  readonly #unsure = new Set<string>()

  constructor(parts: {
    readonly store: Store
    readonly clock: Clock
    readonly edges: readonly Edge[]
    readonly retryMs: number
    readonly attemptsMax: number
  }) {
    this.#store = parts.store
    this.#clock = parts.clock
    this.#edges = parts.edges
    this.#retryMs = parts.retryMs
    this.#attemptsMax = parts.attemptsMax
  }

  /** Sends everything that waits, one after another per edge; returns at once. */
  run(claimant: RunnerId, mayAct: () => boolean): void {
    for (const edge of this.#edges) {
      if (this.#running.has(edge.name)) continue
      this.#running.add(edge.name)
      void this.#drain(edge, claimant, mayAct).finally(() => this.#running.delete(edge.name))
    }
  }

  async #drain(edge: Edge, claimant: RunnerId, mayAct: () => boolean): Promise<void> {
    while (mayAct()) {
      const reply = await this.#claim(edge, claimant)
      if (reply === null || !mayAct()) return
      const { sessionId, number, attempt } = reply
      const sent = await edge.send(reply).catch(() => ({ kind: 'failed' }) as const)
      const result =
        sent.kind === 'sent'
          ? sent
          : {
              kind: 'failed' as const,
              retryAt: this.#clock.now() + this.#retryMs * 2 ** Math.min(attempt, BACK_OFF_MAX),
              attemptsMax: this.#attemptsMax,
            }
      await this.#settle({ sessionId, number, attempt, claimant, result }, mayAct)
    }
  }

  async #claim(edge: Edge, claimant: RunnerId): Promise<ReplyRow | null> {
    try {
      const lost = await this.#findLost(edge, claimant)
      if (lost !== null) return lost
      const at = this.#clock.now()
      const outcome = await this.#store.claimReply({ edge: edge.name, claimant, at })
      if (outcome.kind === 'claimed') return outcome.reply
      return ++this.#emptyRounds % OVERDUE_ROUNDS === 0 ? await this.#overdue(edge, claimant) : null
    } catch (error) {
      // The next round looks for it among the rows that name us.
      if (error instanceof OutcomeUnknownError) this.#unsure.add(edge.name)
      else if (!(error instanceof KnownError)) throw error
      return null
    }
  }

  /** A reply that waits longer than any of us would make it was put off by a clock that jumped. */
  async #overdue(edge: Edge, claimant: RunnerId): Promise<ReplyRow | null> {
    const waiting = await this.#store.listReplies({ state: 'waiting', limit: 100 })
    const latest = this.#clock.now() + this.#retryMs * 2 ** BACK_OFF_MAX
    const late = waiting.find((row) => row.edge === edge.name && row.dueAt > latest)
    if (late === undefined) return null
    const asked = { edge: edge.name, claimant, at: late.dueAt }
    const outcome = await this.#store.claimReply(asked)
    return outcome.kind === 'claimed' ? outcome.reply : null
  }

  async #findLost(edge: Edge, claimant: RunnerId): Promise<ReplyRow | null> {
    if (!this.#unsure.has(edge.name)) return null
    const waiting = await this.#store.listReplies({ state: 'waiting', limit: 1_000 })
    const ours = waiting.find((row) => row.claimant === claimant && row.edge === edge.name)
    if (ours === undefined) this.#unsure.delete(edge.name)
    return ours ?? null
  }

  async #settle(request: SettleReply, mayAct: () => boolean): Promise<void> {
    while (mayAct()) {
      try {
        await this.#store.settleReply(request)
        return
      } catch (error) {
        if (!(error instanceof KnownError)) throw error
      }
      await new Promise<void>((resolve) => void this.#clock.after(this.#retryMs, resolve))
    }
  }
}
