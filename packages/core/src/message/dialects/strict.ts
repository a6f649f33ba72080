import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { Message } from '../message.ts'
import { textOf } from '../text.ts'

/** OpenAI's chat shape with text only, for local servers whose chat templates take nothing else. */
export function formatStrict(messages: readonly Message[]): JsonObject {
  const system = messages.filter((message) => message.role === 'system').map(textOf)
  const written: JsonValue[] =
    system.length > 0 ? [{ role: 'system', content: system.join('\n\n') }] : []
  for (const message of messages) {
    if (message.role !== 'system') written.push({ role: message.role, content: textOf(message) })
  }
  return { messages: written }
}
