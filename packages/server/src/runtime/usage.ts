import { DAY_MS } from '#core/base/clock'
import type { Reads } from '#core/store/contract'
import type { AttemptGrouping, AttemptSum, SumAttempts } from '#core/store/operational-rows'

/** Total usage of model calls, of turns and of auxiliary tasks. */
export interface ModelUsage {
  readonly calls: number
  /** Includes `cachedTokens`. */
  readonly inputTokens: number
  readonly outputTokens: number
  /** The input tokens that the provider read from its cache. */
  readonly cachedTokens: number
  /** Millionths of the operator's currency, for the calls with a known price. */
  readonly cost: number
  readonly unpricedCalls: number
}

/** `key`: a turn's number, the entry that a step followed, a session, an agent, or a day (UTC). */
export type UsageGroup = ModelUsage & { readonly key: string }

export interface UsageQuery {
  readonly by: AttemptGrouping
  readonly agent?: string
  readonly turn?: number
  readonly since?: number
  readonly limit: number
}

/** From millionths of the operator's currency; small amounts with more digits. */
export function amountText(millionths: number): string {
  const whole = millionths / 1_000_000
  return whole.toFixed(whole > 0 && whole < 0.1 ? 4 : 2)
}

export function modelUsageOf(sum: AttemptSum): ModelUsage {
  const { attempts: calls, unpriced: unpricedCalls, ...rest } = sum
  const { inputTokens, outputTokens, cachedTokens, cost } = rest
  return { calls, inputTokens, outputTokens, cachedTokens, cost, unpricedCalls }
}

export async function readUsage(
  store: Pick<Reads, 'groupAttempts'>,
  { since = 0, ...query }: UsageQuery & Pick<SumAttempts, 'sessionId'>,
): Promise<readonly UsageGroup[]> {
  const groups = await store.groupAttempts({ ...query, since })
  return groups.map(({ key, ...sum }) => ({ key, ...modelUsageOf(sum) }))
}

/** Days are in UTC, the same for every process of a store. */
export function dayStart(now: number): number {
  return now - (now % DAY_MS)
}
