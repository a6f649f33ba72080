import type { JsonValue } from '../base/json.ts'
import type { Conversation } from './codec.ts'
import { codecOf } from './formats/file-formats.ts'
import type { FormatName } from './formats/names.ts'

/** The conversation in its format: indented JSON, or a document per line; ends with a newline. */
export function writeConversation(conversation: Conversation): string {
  const codec = codecOf(conversation.format)
  const document = codec.format(conversation)
  if (codec.framing === 'json') return `${JSON.stringify(document, null, 2)}\n`
  return (document as readonly JsonValue[]).map((line) => `${JSON.stringify(line)}\n`).join('')
}

/**
 * The same messages in another format. The surrounding data (other request fields, a log's header)
 * belongs to the old format and is dropped.
 */
export function convertConversation(conversation: Conversation, to: FormatName): Conversation {
  if (conversation.format === to) return conversation
  codecOf(to) // Throws for an unknown name.
  const { messages, model, notes } = conversation
  return { format: to, messages, ...(model !== undefined && { model }), notes }
}
