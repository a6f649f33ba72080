/** What a compaction did to the provider's prompt cache, and when the smaller context has paid for it. */
export interface CacheEffect {
  /** The cached beginning that no later call can use. */
  readonly lostTokens: number
  /** What the next call sends anew: the new context but for the beginning that stayed. */
  readonly rewrittenTokens: number
  /** How many model calls later it was cheaper than going on; null: the context did not shrink. */
  readonly breakEvenCalls: number | null
  /** The same in turns, by how many calls a turn took so far. */
  readonly breakEvenTurns: number | null
}

/**
 * In prices of one uncached input token, as the large providers charge: a tenth for what is read from
 * the cache, a quarter more for what is written to it, five times as much for output.
 */
const CACHE_READ = 0.1
const CACHE_WRITE = 1.25
const OUTPUT = 5

export function cacheEffect(figures: {
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** The beginning that both contexts share: system text and pins. */
  readonly sharedTokens: number
  /** What writing the handoff took. */
  readonly spent: {
    readonly inputTokens: number
    readonly cachedTokens: number
    readonly outputTokens: number
  }
  readonly callsPerTurn: number
}): CacheEffect {
  const { tokensBefore, tokensAfter, sharedTokens, spent, callsPerTurn } = figures
  const rewrittenTokens = Math.max(0, tokensAfter - sharedTokens)
  const uncached = Math.max(0, spent.inputTokens - spent.cachedTokens)
  const summary = uncached + spent.cachedTokens * CACHE_READ + spent.outputTokens * OUTPUT
  const once = summary + rewrittenTokens * (CACHE_WRITE - CACHE_READ)
  const savedByCall = (tokensBefore - tokensAfter) * CACHE_READ
  const calls = savedByCall > 0 ? Math.ceil(once / savedByCall) : null
  return {
    lostTokens: Math.max(0, tokensBefore - sharedTokens),
    rewrittenTokens,
    breakEvenCalls: calls,
    breakEvenTurns: calls === null ? null : Math.ceil(calls / Math.max(1, callsPerTurn)),
  }
}
