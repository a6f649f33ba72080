import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { openaiResponsesFormat } from '../formats/openai-responses/openai-responses.ts'
import { checkOpenaiResponses } from './check/check-openai-responses.ts'
import { type ProviderDialect, writeWith } from './provider-dialect.ts'

export const openaiResponsesDialect: ProviderDialect = {
  name: 'openai-responses',
  write: (messages) => {
    const wire = writeWith(openaiResponsesFormat, 'input', messages)
    const { input } = wire as { readonly input?: readonly JsonValue[] }
    return input === undefined ? wire : { ...wire, input: input.map(withoutNotes) }
  },
  check: checkOpenaiResponses,
}

/** Codex adds this field to the items in its files; the API refuses unknown fields. */
const CODEX_NOTES = 'internal_chat_message_metadata_passthrough'

function withoutNotes(item: JsonValue): JsonValue {
  if (!isObject(item) || !(CODEX_NOTES in item)) return item
  const { [CODEX_NOTES]: _notes, ...rest }: JsonObject = item
  return rest
}
