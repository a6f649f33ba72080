import type { SessionId } from '#core/base/ids'
import type { Logger } from '#core/base/logger'
import { RecoveringRoutes } from '#core/base/recovering-routes'
import { type Attempts, attemptOf } from '../../auxiliary/attempts.ts'
import { ANSWERED, isOfTheRoute, wordOf } from '../../auxiliary/breaker.ts'
import type { Prices } from '../../auxiliary/prices.ts'
import { explainOutcome, type Outcome } from '../../model/outcomes/outcome.ts'
import { calledRoute, destinationOf, type ModelRoute } from '../../model/routes/route.ts'
import type { CallRecord } from '../../turn/model-steps.ts'

/** The purpose of turn calls in the record of calls. */
export const TURN = 'turn'

export interface TurnCallsParts {
  readonly attempts: Attempts
  readonly prices: Prices | undefined
  readonly logger: Logger
  /** Wakes up to this many sessions that wait for the route; returns how many it woke. */
  readonly onModelBack: (route: string, count: number) => number
}

/**
 * Records the calls of turns beside those of tasks, so that their cost is known too. A route that
 * recovers wakes the turns that wait for a model. The log reports each reason for a route's failure
 * once, and its recovery.
 */
export class TurnCalls {
  readonly #parts: TurnCallsParts
  /** The last failure of each route, as far as this process has seen. */
  readonly #down = new Map<string, string>()
  readonly #writing = new Map<SessionId, Promise<unknown>>()
  readonly #recovering = new RecoveringRoutes()

  constructor(parts: TurnCallsParts) {
    this.#parts = parts
  }

  /**
   * Resolves when the call is recorded; the caller must await it. Waiting sessions are woken at
   * once.
   */
  record({ sessionId, turn, step, route, outcome, usage, at }: CallRecord): Promise<boolean> {
    const { attempts, prices } = this.#parts
    const isCalling = outcome.kind === 'finished' && outcome.finish === 'tool-calls'
    const word = isCalling ? ANSWERED : wordOf(outcome)
    const facts = { sessionId, turn, step, task: TURN, route, outcome: word, usage, at }
    const recorded = attempts.record(attemptOf(facts, prices))
    const writing = Promise.allSettled([this.#writing.get(sessionId), recorded]).then(() => {
      if (this.#writing.get(sessionId) === writing) this.#writing.delete(sessionId)
    })
    this.#writing.set(sessionId, writing)
    if (outcome.kind === 'finished') this.#noteUp(destinationOf(route))
    else if (outcome.kind !== 'interrupted') this.#noteDown(route, outcome, word)
    return recorded
  }

  /** Resolves when every call of the session so far is recorded or has failed to be. */
  async recorded(sessionId: SessionId): Promise<void> {
    await this.#writing.get(sessionId)
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
