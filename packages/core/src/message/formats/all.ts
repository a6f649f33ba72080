import type { Codec, FormatName } from '../codec.ts'
import { aiSdk } from './ai-sdk/ai-sdk.ts'
import { anthropic } from './anthropic/anthropic.ts'
import { claudeCode } from './claude-code/claude-code.ts'
import { codex } from './codex/codex.ts'
import { hermes } from './hermes/hermes.ts'
import { openaiChat } from './openai-chat/openai-chat.ts'
import { openaiResponses } from './openai-responses/openai-responses.ts'
import { pi } from './pi/pi.ts'

/** In the order in which they are tried: where several fit, the commonest comes first. */
export const CODECS: readonly Codec[] = [
  openaiChat,
  openaiResponses,
  anthropic,
  aiSdk,
  claudeCode,
  codex,
  pi,
  hermes,
]

/** The codec of a format; throws for a name that is none. */
export function codecOf(name: FormatName): Codec {
  const codec = CODECS.find((each) => each.name === name)
  if (codec === undefined) throw new TypeError(`no codec is called ${name}`)
  return codec
}
