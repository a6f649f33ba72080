/** Who speaks how: `open.ts` opens the package of each, and `protocols/` has the form of its requests. */
export const PROVIDERS = [
  'openai-chat',
  'openai-responses',
  'codex',
  'anthropic',
  'google',
  'openai-compatible',
] as const

export type ProviderName = (typeof PROVIDERS)[number]
