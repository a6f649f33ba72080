import { checkOneOf } from '../../base/option-checks.ts'
import { DIALECTS, type Dialect } from '../dialect.ts'
import { anthropicDialect } from './anthropic.ts'
import { geminiDialect } from './gemini.ts'
import { openaiChatDialect } from './openai-chat.ts'
import { openaiResponsesDialect } from './openai-responses.ts'
import type { ProviderDialect } from './provider-dialect.ts'
import { strictDialect } from './strict.ts'

const BY_NAME: { readonly [name in Dialect]: ProviderDialect } = {
  'openai-chat': openaiChatDialect,
  'openai-responses': openaiResponsesDialect,
  anthropic: anthropicDialect,
  gemini: geminiDialect,
  strict: strictDialect,
}

// Marked, so that a bundle that checks one format leaves out the others.
export const ALL_DIALECTS: readonly ProviderDialect[] = /* @__PURE__ */ Object.values(BY_NAME)

/** Throws `invalid-option` for an unknown name. */
export function dialectOf(name: Dialect): ProviderDialect {
  checkOneOf('dialect', name ?? null, DIALECTS)
  return BY_NAME[name]
}
