/** The formats that conversation files come in. */
export const FORMAT_NAMES = [
  'openai-chat',
  'openai-responses',
  'anthropic',
  'ai-sdk',
  'claude-code',
  'codex',
  'pi',
  'hermes',
] as const

export type FormatName = (typeof FORMAT_NAMES)[number]

/** Also the formats that only libraries use, never files. */
export type CodecName = FormatName | 'gemini' | 'langchain'
