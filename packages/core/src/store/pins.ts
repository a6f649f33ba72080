import type { Limits } from './tables/rows.ts'

export const PINS_MAX = 64

/**
 * Whether a pin fits. Used by the rule that sets it and by callers that check in advance. Settings
 * (system text, tool descriptions) share the space with the pins.
 */
export function pinBudget(
  { pins, settingsTokens, limits }: PinnedParts,
  added: { readonly name: string; readonly tokens: number },
): { readonly fits: boolean; readonly tokensAfter: number; readonly limit: number } {
  const others = [...pins].filter(([name]) => name !== added.name)
  const tokensAfter = others.reduce(
    (sum, [, tokens]) => sum + tokens,
    settingsTokens + added.tokens,
  )
  const limit = limits.pinTokens
  return { fits: tokensAfter <= limit && others.length < PINS_MAX, tokensAfter, limit }
}

export interface PinnedParts {
  /** Tokens per pin name. */
  readonly pins: Iterable<readonly [name: string, tokens: number]>
  readonly settingsTokens: number
  readonly limits: Pick<Limits, 'pinTokens'>
}
