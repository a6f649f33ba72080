/** The effect of a compaction on the provider's prompt cache, and when it has paid off. */
export interface CacheEffect {
  /** Tokens of the cached prefix that later calls can no longer use. */
  readonly lostTokens: number
  /** Tokens that the next call sends uncached: the new context without the shared prefix. */
  readonly rewrittenTokens: number
  /** Model calls until it is cheaper than not compacting; null: the context did not shrink. */
  readonly breakEvenCalls: number | null
  /** The same in turns, by the number of calls per turn so far. */
  readonly breakEvenTurns: number | null
}

/**
 * Prices relative to one uncached input token, as the large providers charge: a tenth to read from
 * the cache, a quarter more to write to it, five times as much for output.
 */
const CACHE_READ = 0.1
const CACHE_WRITE = 1.25
const OUTPUT = 5

export function cacheEffect(figures: {
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** The prefix that both contexts share: system text and pins. */
  readonly sharedTokens: number
  /** The tokens used to write the handoff. */
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
