import { isArray, isObject, type JsonValue } from '#core/base/json'
import { findSecrets, redact } from '#core/compaction/redact/redact'
import { writeEnvelope } from '#core/message/handoff/envelope'
import type { Message, Part } from '#core/message/message'
import { textOf } from '#core/message/text'

/**
 * The messages with every secret of a known shape masked. A provider's encrypted items cannot be
 * masked and are left out; images stay.
 */
export function maskMessages(messages: readonly Message[]): readonly Message[] {
  return messages.map((message) => {
    // In text form, so that the user's messages that it quotes are masked too.
    const spoken = message.role === 'handoff' ? writeEnvelope(message.handoff) : message
    return { ...spoken, parts: spoken.parts.flatMap(maskPart) } as Message
  })
}

function maskPart(part: Part): readonly Part[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: redact(part.text) }]
    case 'tool-call': {
      const { type, id, name, input } = part
      return [{ type, id, name, input: maskJson(input) }]
    }
    case 'tool-result': {
      const { origin: _, ...rest } = part
      return [{ ...rest, output: rest.output.flatMap(maskPart) as typeof rest.output }]
    }
    case 'image':
    case 'file':
      return [part]
    case 'reasoning':
    case 'opaque':
      return []
  }
}

function maskJson(value: JsonValue): JsonValue {
  if (typeof value === 'string') return redact(value)
  if (isArray(value)) return value.map(maskJson)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      // The name of a field can identify a secret that the value alone does not.
      const isSecret = typeof item === 'string' && findSecrets(`${key}=${item}`).length > 0
      return [redact(key), isSecret ? '[secret:field]' : maskJson(item)]
    }),
  )
}

/** Whether the messages may be sent unchanged. */
export function isFreeOfSecrets(messages: readonly Message[]): boolean {
  return messages.every((message) => {
    const spoken = message.role === 'handoff' ? writeEnvelope(message.handoff) : message
    if (findSecrets(textOf(spoken)).length > 0) return false
    return spoken.parts.every((part) => part.type === 'text' || isClean(part))
  })
}

/** Other parts are checked as JSON, where a secret appears as in arguments. */
function isClean(part: Part): boolean {
  if (part.type === 'image' || part.type === 'file') return true
  return findSecrets(JSON.stringify(part)).length === 0
}
