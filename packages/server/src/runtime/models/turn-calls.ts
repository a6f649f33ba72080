import type { Clock } from '#core/base/clock'
import type { SessionId } from '#core/base/ids'
import type { Logger } from '#core/base/logger'
import { RecoveringRoutes } from '#core/base/recovering-routes'
import type { Store } from '#core/store/contract'
import { type Attempt, type Attempts, attemptOf } from '../../auxiliary/attempts.ts'
import { ANSWERED, isOfTheRoute, wordOf } from '../../auxiliary/breaker.ts'
import type { Prices } from '../../auxiliary/prices.ts'
import { explainOutcome, type Outcome } from '../../model/outcomes/outcome.ts'
import { calledRoute, destinationOf, type ModelRoute } from '../../model/routes/route.ts'
import type { CallRecord } from '../../turn/model-steps.ts'

/** The purpose of turn calls in the record of calls. */
export const TURN = 'turn'

/** A commit follows its model call at once; after this time none will come. */
const HELD_MS = 5_000

export interface TurnCallsParts {
  readonly attempts: Attempts & { readonly host: string }
  readonly clock: Clock
  readonly prices: Prices | undefined
  readonly logger: Logger
  /** Wakes up to this many sessions that wait for the route; returns how many it woke. */
  readonly onModelBack: (route: string, count: number) => number
}

interface HeldCall {
  readonly attempt: Attempt
  readonly cancel: () => void
}

/**
 * Records the calls of turns beside those of tasks, so that their cost is known too. A call that was
 * answered is held until its step is committed and recorded by that commit, or alone if none comes. A route that
 * recovers wakes the turns that wait for a model. The log reports each reason for a route's failure
 * once, and its recovery.
 */
export class TurnCalls {
  readonly #parts: TurnCallsParts
  /** The last failure of each route, as far as this process has seen. */
  readonly #down = new Map<string, string>()
  readonly #writing = new Map<SessionId, Promise<unknown>>()
  readonly #held = new Map<SessionId, HeldCall>()
  readonly #recovering = new RecoveringRoutes()

  constructor(parts: TurnCallsParts) {
    this.#parts = parts
  }

  /** Rejects if the call cannot be recorded. Waiting sessions are woken at once. */
  async record({ sessionId, turn, step, route, outcome, usage, at }: CallRecord): Promise<void> {
    const isCalling = outcome.kind === 'finished' && outcome.finish === 'tool-calls'
    const word = isCalling ? ANSWERED : wordOf(outcome)
    const facts = { sessionId, turn, step, task: TURN, route, outcome: word, usage, at }
    const attempt = attemptOf(facts, this.#parts.prices)
    const earlier = this.#recordHeld(sessionId)
    const recorded = outcome.kind === 'finished' ? this.#hold(attempt) : this.#write(attempt)
    if (outcome.kind === 'finished') this.#noteUp(destinationOf(route))
    else if (outcome.kind !== 'interrupted') this.#noteDown(route, outcome, word)
    await Promise.all([earlier, recorded])
  }

  /** Resolves when every call of the session so far is recorded or has failed to be. */
  async recorded(sessionId: SessionId): Promise<void> {
    await this.#recordHeld(sessionId)?.catch(() => {})
    await this.#writing.get(sessionId)
  }

  /** The same, but for the answered call, which the commit of its step records. */
  async recordedButLast(sessionId: SessionId): Promise<void> {
    await this.#writing.get(sessionId)
  }

  /** A store whose commits of steps record the calls that are held for them. */
  through(store: Store): Store {
    return {
      ...store,
      commitReply: async (request) => {
        const { sessionId } = request.lease
        const held = this.#held.get(sessionId)
        if (held === undefined) return await store.commitReply(request)
        const attempt = { ...held.attempt, host: this.#parts.attempts.host }
        const outcome = await store.commitReply({ ...request, attempt })
        if (outcome.kind === 'committed') this.#drop(sessionId, held)
        return outcome
      },
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([...this.#held.keys()].map((id) => this.recorded(id)))
  }

  #hold(attempt: Attempt): void {
    const { sessionId } = attempt
    const cancel = this.#parts.clock.after(HELD_MS, () => void this.recorded(sessionId))
    this.#held.set(sessionId, { attempt, cancel })
  }

  #drop(sessionId: SessionId, held: HeldCall): void {
    held.cancel()
    if (this.#held.get(sessionId) === held) this.#held.delete(sessionId)
  }

  #recordHeld(sessionId: SessionId): Promise<boolean> | undefined {
    const held = this.#held.get(sessionId)
    if (held === undefined) return undefined
    this.#drop(sessionId, held)
    return this.#write(held.attempt)
  }

  #write(attempt: Attempt): Promise<boolean> {
    const { sessionId } = attempt
    const recorded = this.#parts.attempts.record(attempt)
    const writing = Promise.allSettled([this.#writing.get(sessionId), recorded]).then(() => {
      if (this.#writing.get(sessionId) === writing) this.#writing.delete(sessionId)
    })
    this.#writing.set(sessionId, writing)
    return recorded
  }

  #noteUp(route: string): void {
    const { logger, onModelBack } = this.#parts
    if (this.#down.delete(route)) logger.info({ route }, 'model answers again')
    this.#recovering.answered(route, (count) => onModelBack(route, count))
  }

  #noteDown(route: ModelRoute, outcome: Outcome, word: string): void {
    const destination = destinationOf(route)
    const isKnown = this.#down.get(destination) === word
    this.#down.set(destination, word)
    this.#recovering.failed(destination)
    if (isKnown || !isOfTheRoute(word)) return
    const reason = explainOutcome(outcome, calledRoute(route))
    this.#parts.logger.warn({ route: destination, outcome: word, reason }, 'model fails')
  }
}
