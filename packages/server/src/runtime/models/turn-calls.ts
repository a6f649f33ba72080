import type { Logger } from '#core/base/logger'
import { RecoveringRoutes } from '#core/base/recovering-routes'
import { type Attempts, attemptOf } from '../../auxiliary/attempts.ts'
import { ANSWERED, isOfTheRoute, wordOf } from '../../auxiliary/breaker.ts'
import type { Prices } from '../../auxiliary/prices.ts'
import { destinationOf } from '../../model/routes/route.ts'
import type { CallRecord } from '../../turn/model-steps.ts'

/** What the conversation's own calls are called in the record of calls. */
export const TURN = 'turn'

export interface TurnCallsParts {
  readonly attempts: Attempts
  readonly prices: Prices | undefined
  readonly logger: Logger
  /** So many that wait for this route may try it now; gives how many there were. */
  readonly onModelBack: (route: string, count: number) => number
}

/**
 * The calls of turns stand in the same record as those of tasks: what they cost is told, too. A route
 * that answers again wakes whoever waits for a model. That one fails, and that it is back, is told in
 * the log, once each.
 */
export class TurnCalls {
  readonly #parts: TurnCallsParts
  /** Where calls failed last, as far as this process saw. */
  readonly #down = new Set<string>()
  readonly #recovering = new RecoveringRoutes()

  constructor(parts: TurnCallsParts) {
    this.#parts = parts
  }

  /** Resolves when it stands in the record; the caller owns that. Who waits is woken at once. */
  record({ sessionId, route, outcome, usage, at }: CallRecord): Promise<boolean> {
    const { attempts, prices } = this.#parts
    const isCalling = outcome.kind === 'finished' && outcome.finish === 'tool-calls'
    const word = isCalling ? ANSWERED : wordOf(outcome)
    const facts = { sessionId, task: TURN, route, outcome: word, usage, at }
    const recorded = attempts.record(attemptOf(facts, prices))
    if (outcome.kind === 'finished') this.#noteUp(destinationOf(route))
    else if (outcome.kind !== 'interrupted') this.#noteDown(destinationOf(route), word)
    return recorded
  }

  #noteUp(route: string): void {
    const { logger, onModelBack } = this.#parts
    if (this.#down.delete(route)) logger.info({ route }, 'model answers again')
    this.#recovering.answered(route, (count) => onModelBack(route, count))
  }

  #noteDown(route: string, outcome: string): void {
    if (isOfTheRoute(outcome) && !this.#down.has(route)) {
      this.#parts.logger.warn({ route, outcome }, 'model fails')
    }
    this.#down.add(route)
    this.#recovering.failed(route)
  }
}
