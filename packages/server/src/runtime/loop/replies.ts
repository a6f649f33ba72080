import { type Clock, pause } from '#core/base/clock'
import { KnownError } from '#core/base/errors'
import { entryNumber, type SessionId } from '#core/base/ids'
import type { JsonValue } from '#core/base/json'
import { LIST_MAX } from '#core/store/bounds'
import type { CommitReply, ReplyOutcome } from '#core/store/commits'
import type { Reads, Store } from '#core/store/contract'

export interface LoopCall {
  readonly id: string
  readonly name: string
  readonly input: JsonValue
  /** The same for every repetition of this call: hand it on where something takes a key. */
  readonly key: string
  readonly signal: AbortSignal
  done(output: string, outcome?: 'ok' | 'error'): void
}

/**
 * The turn was stopped, or somebody else holds the session now. Whether the answer was kept, the
 * transcript tells: its commit may have been on its way.
 */
export class SessionLostError extends KnownError {
  override readonly name = 'SessionLostError'
  readonly code = 'session-lost'
  readonly retryable = false
}

/**
 * Answers that wait to be durable, one per session. *waiting* until its commit is answered: without
 * calls it is then *durable*; with calls when the last of them was handed over, which the session
 * does only behind that commit. It is *lost* when the turn is stopped or the session taken over, and
 * when the session begins another answer before this one was settled.
 *
 * A commit whose outcome is unknown may have been done, may be done later, or is made again by the
 * session under the same operation; so the transcript itself is asked until it tells.
 */
interface Pending {
  readonly wanted: number
  readonly calls: LoopCall[]
  readonly resolve: (calls: readonly LoopCall[]) => void
  readonly reject: (error: SessionLostError) => void
  /** The commits by which the session tried to make it durable, the first and the newest. */
  first: CommitReply | null
  newest: CommitReply | null
  isChecking: boolean
  /** No commit of it can be taken any more: one look tells whether an earlier one was. */
  isOver: boolean
}

const ASK_AGAIN_MS = 200

export class LoopReplies {
  readonly #store: Pick<Reads, 'findSession' | 'readEntries'>
  readonly #clock: Clock
  readonly #pending = new Map<SessionId, Pending>()
  readonly #checks = new Set<Promise<void>>()
  readonly #closing = new AbortController()

  constructor(store: Pick<Reads, 'findSession' | 'readEntries'>, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Resolves with the calls to carry out; rejects with SessionLostError. */
  whenDurable(id: SessionId, wanted: number, signal: AbortSignal): Promise<readonly LoopCall[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly LoopCall[]>()
    const fresh = { calls: [], first: null, newest: null, isChecking: false, isOver: false }
    const pending: Pending = { wanted, resolve, reject, ...fresh }
    const older = this.#pending.get(id)
    if (older !== undefined) this.#lose(id, older)
    this.#pending.set(id, pending)
    signal.addEventListener('abort', () => this.#lose(id, pending), { once: true })
    return promise
  }

  /** False: nobody waits for this call. */
  offer(id: SessionId, call: LoopCall): boolean {
    const pending = this.#pending.get(id)
    if (pending === undefined) return false
    pending.calls.push(call)
    if (pending.calls.length === pending.wanted) this.#settle(id, pending)
    return true
  }

  /** The store as the session is to use it: what becomes of replies is heard here. */
  watched(store: Store): Store {
    return {
      ...store,
      commitReply: async (request) => {
        const { sessionId: id } = request.lease
        const pending = this.#pending.get(id)
        if (pending !== undefined) {
          pending.first ??= request
          pending.newest = request
        }
        try {
          const outcome = await store.commitReply(request)
          if (pending !== undefined) this.#heard(id, pending, outcome)
          return outcome
        } catch (error) {
          if (pending !== undefined) this.#ask(id, pending)
          throw error
        }
      },
      commitResults: async (request) => {
        const outcome = await store.commitResults(request)
        const { sessionId: id } = request.lease
        const pending = this.#pending.get(id)
        // Stopped between the reply and its calls: those are answered for, and none is carried out.
        if (pending !== undefined && outcome.kind === 'committed') this.#settle(id, pending)
        return outcome
      },
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    for (const [id, pending] of this.#pending) this.#lose(id, pending)
    await Promise.all(this.#checks)
  }

  #heard(id: SessionId, pending: Pending, outcome: ReplyOutcome): void {
    if (outcome.kind === 'committed') {
      if (pending.wanted === 0 || pending.newest?.ends !== undefined) this.#settle(id, pending)
    } else if (outcome.kind === 'superseded' && outcome.by !== 'tail') this.#lose(id, pending)
    else {
      if (outcome.kind === 'turn-over' || outcome.kind === 'calls-open') pending.isOver = true
      this.#ask(id, pending)
    }
  }

  #settle(id: SessionId, pending: Pending): void {
    if (this.#pending.get(id) === pending) this.#pending.delete(id)
    pending.resolve(pending.calls)
  }

  #lose(id: SessionId, pending: Pending): void {
    if (this.#pending.get(id) === pending) this.#pending.delete(id)
    const words =
      'The turn was stopped or taken over; whether the answer was kept, the transcript tells.'
    pending.reject(new SessionLostError(words))
  }

  #ask(id: SessionId, pending: Pending): void {
    if (pending.isChecking) return
    pending.isChecking = true
    const check = this.#checkUntilKnown(id, pending)
      // A store that is closed tells nothing more.
      .catch(() => this.#lose(id, pending))
      .finally(() => this.#checks.delete(check))
    this.#checks.add(check)
  }

  async #checkUntilKnown(id: SessionId, pending: Pending): Promise<void> {
    const { signal } = this.#closing
    while (this.#pending.get(id) === pending && !signal.aborted) {
      await pause(this.#clock, ASK_AGAIN_MS, signal)
      try {
        // With calls it is told by them; they come behind the commit, if there was one.
        const { wanted, isOver } = pending
        const isDurable = (wanted === 0 || isOver) && (await this.#isDurable(id, pending))
        if (isDurable && wanted === 0) this.#settle(id, pending)
        else if (isDurable) return
        else if (isOver) this.#lose(id, pending)
      } catch (error) {
        if (!(error instanceof KnownError) || !error.retryable) throw error
      }
    }
  }

  async #isDurable(id: SessionId, { first, newest }: Pending): Promise<boolean> {
    const session = await this.#store.findSession(id)
    if (first === null || newest === null || session === undefined) return false
    const from = entryNumber(first.tail.number + 1)
    const to = entryNumber(Math.min(session.tail, first.tail.number + LIST_MAX))
    const entries = to < from ? [] : await this.#store.readEntries({ sessionId: id, from, to })
    return entries.some(({ operation }) => operation === newest.operation)
  }
}
