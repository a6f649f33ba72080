/** The rule sets of the providers. `strict` requires alternating user and assistant messages. */
export const DIALECTS = [
  'openai-chat',
  'openai-responses',
  'anthropic',
  'gemini',
  'strict',
] as const

export type Dialect = (typeof DIALECTS)[number]
