import type { JsonObject, JsonValue } from '../../base/json.ts'
import type { AssistantPart, Message } from '../message.ts'
import { withParts } from '../same.ts'
import { textOf } from '../text.ts'
import { checkStrict } from './check/check-strict.ts'
import type { ProviderDialect } from './provider-dialect.ts'

export const strictDialect: ProviderDialect = {
  name: 'strict',
  write: formatStrict,
  check: checkStrict,
  accepts: { takesTurns: true, textOnly: true, prepare: asPlainTurns },
}

/** For templates without tools: calls become assistant text, results user text. */
function asPlainTurns(messages: readonly Message[]): readonly Message[] {
  const names = new Map<string, string>()
  return messages.map((message): Message => {
    if (message.role === 'assistant') {
      const parts = message.parts.map((part): AssistantPart => {
        if (part.type !== 'tool-call') return part
        names.set(part.id, part.name)
        return { type: 'text', text: textOf(part) }
      })
      return withParts(message, parts)
    }
    if (message.role !== 'tool') return message
    const parts = message.parts.map((part) => {
      const what = part.isError ? 'error from' : 'result of'
      const text = `[${what} ${part.name ?? names.get(part.callId) ?? 'a tool'}]\n${textOf(part)}`
      return { type: 'text' as const, text }
    })
    return { role: 'user', parts, synthetic: true }
  })
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
