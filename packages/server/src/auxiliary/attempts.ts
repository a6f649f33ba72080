import { randomUUID } from 'node:crypto'
import { operationId, type SessionId } from '#core/base/ids'
import type { AttemptSum } from '#core/store/operational-rows'
import type { ReadAttempts } from '#core/store/queries'
import type { AttemptRow } from '#core/store/tables/rows'
import type { CallUsage } from '../model/model.ts'
import { destinationOf, type ModelRoute } from '../model/routes/route.ts'
import { costOf, type Prices } from './prices.ts'

/**
 * The record of calls. Breakers, budgets and figures are read from it alone, so that they survive a
 * restart and hold for every process of the host.
 */
export interface Attempts {
  /** False: a record with this id exists, and nothing was written. */
  record(attempt: Attempt): Promise<boolean>
  /** Newest first. */
  read(query: AttemptQuery): Promise<readonly Attempt[]>
  /** The sum for one session, or for this host. */
  sum(query: { readonly sessionId?: SessionId; readonly since: number }): Promise<Spend>
}

/**
 * One call on one route, before the store adds host and agent. It contains no conversation text.
 */
export type Attempt = Omit<AttemptRow, 'host' | 'agent' | 'turn' | 'step'> &
  Partial<Pick<AttemptRow, 'turn' | 'step'>>

export interface AttemptQuery extends Omit<ReadAttempts, 'sessionId'> {
  readonly modelRoute: string
}

export type Spend = AttemptSum

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

export interface CallFacts {
  readonly task: string
  readonly route: ModelRoute
  readonly outcome: string
  /** Undefined: the request never reached the provider, which bills nothing. */
  readonly usage: CallUsage | undefined
  readonly sessionId: SessionId
  readonly at: number
  /** For a step's call; absent: an auxiliary call. */
  readonly turn?: number
  readonly step?: number
}

/** A recorded call, of a task or of a turn. */
export function attemptOf({ route, usage, ...facts }: CallFacts, prices?: Prices): Attempt {
  return {
    ...facts,
    id: operationId(randomUUID()),
    modelRoute: destinationOf(route),
    inputTokens: usage?.inputTokens ?? 0,
    outputTokens: usage?.outputTokens ?? 0,
    cachedTokens: usage?.cacheReadTokens ?? 0,
    cost: usage === undefined ? 0 : costOf(usage, route, prices),
  }
}
