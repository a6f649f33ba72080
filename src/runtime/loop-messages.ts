import { KnownError } from '../base/errors.ts'
import type { JsonValue } from '../base/json.ts'
import type { FormatName } from '../message/codec.ts'
import { codecOf } from '../message/codecs/all.ts'
import type { Message, Part } from '../message/message.ts'

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
export function readMessage(
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
