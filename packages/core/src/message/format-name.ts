/** The formats people have conversations in. */
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

/** Formats of libraries, which no file is in, beside those of files. */
export type CodecName = FormatName | 'gemini'
