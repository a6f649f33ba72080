import type { JsonObject, JsonValue } from '../../base/json.ts'
import { checkOneOf } from '../../base/option-checks.ts'
import { DIALECTS, type Dialect } from '../dialect.ts'
import type { Message } from '../message.ts'
import { textOf } from '../text.ts'
import { anthropicDialect } from './anthropic.ts'
import { checkStrict } from './check/check-strict.ts'
import { geminiDialect } from './gemini.ts'
import { openaiChatDialect } from './openai-chat.ts'
import { openaiResponsesDialect } from './openai-responses.ts'
import type { ProviderDialect } from './provider-dialect.ts'

const BY_NAME: { readonly [name in Dialect]: ProviderDialect } = {
  'openai-chat': openaiChatDialect,
  'openai-responses': openaiResponsesDialect,
  anthropic: anthropicDialect,
  gemini: geminiDialect,
  strict: { name: 'strict', write: formatStrict, check: checkStrict },
}

// Marked, so that a bundle that checks one format leaves out the others.
export const ALL_DIALECTS: readonly ProviderDialect[] = /* @__PURE__ */ Object.values(BY_NAME)

/** Throws `invalid-option` for an unknown name. */
export function dialectOf(name: Dialect): ProviderDialect {
  checkOneOf('dialect', name ?? null, DIALECTS)
  return BY_NAME[name]
}

/** OpenAI's chat shape, text only, for local servers whose templates accept nothing else. */
function formatStrict(messages: readonly Message[]): JsonObject {
  const system = messages.filter((message) => message.role === 'system').map(textOf)
  const written: JsonValue[] =
    system.length > 0 ? [{ role: 'system', content: system.join('\n\n') }] : []
  for (const message of messages) {
    if (message.role !== 'system') written.push({ role: message.role, content: textOf(message) })
  }
  return { messages: written }
}
