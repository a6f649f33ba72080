import { type Clock, pause } from '../base/clock.ts'
import { KnownError } from '../base/errors.ts'
import type { RunnerId } from '../base/ids.ts'
import type { SettleReply } from '../store/commits.ts'
import type { Store } from '../store/contract.ts'
import type { ReplyRow } from '../store/tables/rows.ts'

/** A destination of replies: a chat platform, another agent's mailbox, a waiting HTTP request. */
export interface Edge {
  readonly name: string
  /** Sends once under the reply's key. An exception counts as failed. */
  send(reply: ReplyRow): Promise<{ kind: 'sent'; receipt: string } | SendFailure>
  /** How many it sends in parallel, each to another address. Default: 8. */
  readonly sendsMax?: number
  /** Current problems for the operator, one sentence each. */
  problems?(): readonly string[]
}

export interface SendFailure {
  readonly kind: 'failed'
  /** The receiver says when to retry; such a reply is never given up. */
  readonly retryAfterMs?: number
  /** The receiver will never accept it. */
  readonly isFinal?: true
}

const BACK_OFF_MAX = 6
const CLOSE_MS_MAX = 5_000
const SENDS_MAX = 8
/** Lost claims are searched for after this many rounds without a reply. */
const SEARCH_ROUNDS = 8

/**
 * The outbox: claims the oldest waiting replies of an edge, sends them in parallel, settles them.
 * Each is sent at least once, in order per address and one at a time; twice only if the process
 * ends between sending and settling. A settlement is repeated until it is answered: it names its
 * attempt and cannot be done twice (I31).
 */
export class Sender {
  readonly #store: Store
  readonly #clock: Clock
  readonly #edges: readonly Edge[]
  readonly #retryMs: number
  readonly #attemptsMax: number
  #emptyRounds = 0
  #isClosed = false
  readonly #running = new Map<string, Promise<void>>()

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

  /**
   * Sends everything that waits; skips an edge that is still busy. Rejects only because of a bug.
   */
  async run(claimant: RunnerId, mayAct: () => boolean): Promise<void> {
    const begun: Promise<void>[] = []
    for (const edge of this.#edges) {
      if (this.#running.has(edge.name)) continue
      const { name } = edge
      const sending = this.#drain(edge, claimant, mayAct).finally(() => this.#running.delete(name))
      this.#running.set(name, sending)
      begun.push(sending)
    }
    await Promise.all(begun)
  }

  /**
   * Claims nothing more, and waits for replies in progress, because an unsettled reply would be
   * sent again. The wait is bounded.
   */
  async close(): Promise<void> {
    this.#isClosed = true
    const over = Promise.withResolvers<void>()
    const cancel = this.#clock.after(CLOSE_MS_MAX, over.resolve)
    await Promise.race([Promise.allSettled(this.#running.values()), over.promise])
    cancel()
  }

  /** One worker claims replies; each reply it finds starts another worker, up to the limit. */
  async #drain(edge: Edge, claimant: RunnerId, mayAct: () => boolean): Promise<void> {
    const sending = new Map<string, Promise<void>>()
    const others: Promise<void>[] = []
    const failures: unknown[] = []
    const note = (error: unknown) => void failures.push(error)
    let active = 0
    const claimAndSend = async (): Promise<void> => {
      active++
      await claimAll().finally(() => active--)
    }
    const claimAll = async (): Promise<void> => {
      let isFirst = true
      while (mayAct() && !this.#isClosed) {
        const reply = await this.#claim(edge, claimant, () => active === 1)
        if (reply === null || !mayAct()) return
        if (isFirst && others.length + 1 < (edge.sendsMax ?? SENDS_MAX))
          others.push(claimAndSend().catch(note))
        isFirst = false
        // Two sessions may reply to one address.
        const before = sending.get(reply.address)
        const sent = (before ?? Promise.resolve()).then(() =>
          this.#send(edge, reply, claimant, mayAct),
        )
        sending.set(reply.address, sent)
        await sent
        if (sending.get(reply.address) === sent) sending.delete(reply.address)
      }
    }
    await claimAndSend().catch(note)
    // More may start in the meantime.
    for (const other of others) await other
    if (failures.length > 0) throw failures[0]
  }

  async #send(
    edge: Edge,
    reply: ReplyRow,
    claimant: RunnerId,
    mayAct: () => boolean,
  ): Promise<void> {
    if (!mayAct()) return
    const { sessionId, number, attempt } = reply
    const sent = await edge.send(reply).catch((): SendFailure => ({ kind: 'failed' }))
    const result = sent.kind === 'sent' ? sent : this.#putOff(sent, attempt)
    await this.#settle({ sessionId, number, attempt, claimant, result }, mayAct)
  }

  #putOff({ retryAfterMs, isFinal }: SendFailure, attempt: number) {
    const delayMs = retryAfterMs ?? this.#retryMs * 2 ** Math.min(attempt, BACK_OFF_MAX)
    const patience = retryAfterMs === undefined ? this.#attemptsMax : Number.MAX_SAFE_INTEGER
    return {
      kind: 'failed' as const,
      retryAt: this.#clock.now() + delayMs,
      attemptsMax: isFinal ? 0 : patience,
    }
  }

  /** A claim that seems lost may still be in flight. */
  async #claim(edge: Edge, claimant: RunnerId, isAlone: () => boolean): Promise<ReplyRow | null> {
    try {
      const at = this.#clock.now()
      const outcome = await this.#store.claimReply({ edge: edge.name, claimant, at })
      if (outcome.kind === 'claimed') return outcome.reply
      const isSearched = isAlone() && ++this.#emptyRounds % SEARCH_ROUNDS === 0
      return isSearched ? await this.#search(edge, claimant) : null
    } catch (error) {
      if (!(error instanceof KnownError)) throw error
      return null
    }
  }

  /**
   * Finds replies that the normal path misses: our claim whose answer never came, and a reply that
   * a jumped clock deferred too far.
   */
  async #search(edge: Edge, claimant: RunnerId): Promise<ReplyRow | null> {
    const waiting = await this.#store.listReplies({ state: 'waiting', limit: 1_000 })
    // In older stores the erased replies of deleted sessions still count as waiting.
    const here = waiting.filter((row) => row.edge === edge.name && row.body !== null)
    const ours = here.find((row) => row.claimant === claimant)
    if (ours !== undefined) return ours
    const latest = this.#clock.now() + this.#retryMs * 2 ** BACK_OFF_MAX
    const late = here.find((row) => row.dueAt > latest)
    if (late === undefined) return null
    const asked = { edge: edge.name, claimant, at: late.dueAt }
    const outcome = await this.#store.claimReply(asked)
    return outcome.kind === 'claimed' ? outcome.reply : null
  }

  async #settle(request: SettleReply, mayAct: () => boolean): Promise<void> {
    while (mayAct()) {
      try {
        await this.#store.settleReply(request)
        return
      } catch (error) {
        if (!(error instanceof KnownError)) throw error
      }
      await pause(this.#clock, this.#retryMs)
    }
  }
}
