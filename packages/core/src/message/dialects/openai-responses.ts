import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import { openaiResponsesFormat } from '../formats/openai-responses/openai-responses.ts'
import { sameFamilyOrigin } from '../formats/origin.ts'
import type { OpaquePart } from '../message.ts'
import { checkOpenaiResponses } from './check/check-openai-responses.ts'
import { withoutLooseReasoning } from './loose-reasoning.ts'
import { isOutputItem, withoutBrokenItems } from './openai-items.ts'
import { itemType, type ProviderDialect, writeWith } from './provider-dialect.ts'
import { OPENAI_NAME } from './rules.ts'

export const openaiResponsesDialect: ProviderDialect = {
  name: 'openai-responses',
  write: (messages) => {
    const wire = writeWith(openaiResponsesFormat, 'input', messages)
    const { input } = wire as { readonly input?: readonly JsonValue[] }
    return input === undefined ? wire : { ...wire, input: input.map(withoutNotes) }
  },
  check: checkOpenaiResponses,
  accepts: {
    callId: OPENAI_NAME,
    toolName: OPENAI_NAME,
    prepare: withoutBrokenItems,
    settle: (messages) => withoutLooseReasoning(messages, (part) => !isOutputItem(part)),
    reasoning: ({ sealed }) => sealed?.provider === 'openai',
    reasoningAlone: true,
    fromUser: (part) =>
      isKindred(part) && ['input_image', 'input_file', 'input_audio'].includes(itemType(part)),
    // `withoutBrokenItems` decides which items go back; it needs the whole conversation.
    fromAssistant: () => true,
    inResult: (part) => itemType(part) !== '' && isKindred(part),
  },
}

function isKindred(part: OpaquePart): boolean {
  return sameFamilyOrigin(part, 'openai-responses') !== undefined
}

/** Codex adds this field to the items in its files; the API refuses unknown fields. */
const CODEX_NOTES = 'internal_chat_message_metadata_passthrough'

function withoutNotes(item: JsonValue): JsonValue {
  if (!isObject(item) || !(CODEX_NOTES in item)) return item
  const { [CODEX_NOTES]: _notes, ...rest }: JsonObject = item
  return rest
}
