import { KnownError } from '#core/base/errors'
import type { JsonValue } from '#core/base/json'
import type { FormatName } from '#core/message/format-name'
import { codecOf } from '#core/message/formats/all'
import type { Message, Part } from '#core/message/message'

export class MessageError extends KnownError {
  override readonly name = 'MessageError'
  readonly code = 'invalid-message'
  readonly retryable = false
}

export function writeMessages(
  format: FormatName,
  messages: readonly Message[],
): readonly JsonValue[] {
  return codecOf(format).format({ format, messages, notes: [] }) as readonly JsonValue[]
}

/** One answer may be several items in some formats; together they are one message of ours. */
export function readLoopMessage(
  format: FormatName,
  value: JsonValue | readonly JsonValue[],
  role: 'user' | 'assistant',
): Message {
  const document = Array.isArray(value) ? value : [value]
  const problem = codecOf(format).reject(document)
  if (problem !== undefined) {
    throw new MessageError(`Expected a message in the format ${format}: ${problem}`)
  }
  const { messages } = codecOf(format).parse(document as JsonValue)
  const ours = messages.filter((message) => message.role === role)
  const [first] = ours
  if (first === undefined || ours.length !== messages.length) {
    throw new MessageError(`Expected one ${role} message in the format ${format}.`)
  }
  const parts = ours.flatMap((message): readonly Part[] =>
    message.role === 'handoff' ? [] : message.parts,
  )
  return { ...first, parts } as Message
}
