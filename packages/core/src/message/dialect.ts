/** The rule sets that providers hold a request against. `strict` is user/assistant alternation. */
export const DIALECTS = [
  'openai-chat',
  'openai-responses',
  'anthropic',
  'gemini',
  'strict',
] as const

export type Dialect = (typeof DIALECTS)[number]
