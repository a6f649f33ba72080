import { show } from '../../base/option-checks.ts'
import { ThroughlineError } from '../../base/throughline-error.ts'
import type { Codec } from '../codec.ts'
import { aiSdkFormat } from './ai-sdk/ai-sdk.ts'
import { anthropicFormat } from './anthropic/anthropic.ts'
import { claudeCodeFormat } from './claude-code/claude-code.ts'
import { codexFormat } from './codex/codex.ts'
import { hermesFormat } from './hermes/hermes.ts'
import type { FormatName } from './names.ts'
import { openaiChatFormat } from './openai-chat/openai-chat.ts'
import { openaiResponsesFormat } from './openai-responses/openai-responses.ts'
import { piFormat } from './pi/pi.ts'

/** In the order in which they are tried: if several fit, the most common comes first. */
export const CODECS: readonly Codec[] = [
  openaiChatFormat,
  openaiResponsesFormat,
  anthropicFormat,
  aiSdkFormat,
  claudeCodeFormat,
  codexFormat,
  piFormat,
  hermesFormat,
]

/** The codec of a format; throws for an unknown name. */
export function codecOf(name: FormatName): Codec {
  const codec = CODECS.find((each) => each.name === name)
  if (codec !== undefined) return codec
  const known = CODECS.map((each) => each.name).join(', ')
  throw new ThroughlineError(
    'unknown-format',
    `There is no format ${show(name)}. The formats are ${known}.`,
    { at: 'format' },
  )
}
