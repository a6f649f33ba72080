import type { JsonValue } from '../base/json.ts'
import type { CodecName, FormatName } from './formats/names.ts'
import type { Message } from './message.ts'

/**
 * A conversation as it was read: our messages, and the shape around them (bare array, request
 * object, JSON lines) so that the same shape can be written again.
 */
export interface Conversation<Name extends CodecName = FormatName> {
  readonly format: Name
  readonly messages: readonly Message[]
  /** Other fields of the request object (model, tools…); absent for a bare array or lines. */
  readonly wrapper?: Wrapper
  /** Lines of a log that describe the session (its id, its folder), unchanged. */
  readonly header?: readonly JsonValue[]
  /** The model used last, if the source names it. */
  readonly model?: string
  /** What was repaired or left out while reading, as sentences for people. */
  readonly notes: readonly string[]
}

export interface Wrapper {
  /** The field that contains the messages: `messages` or `input`. */
  readonly key: 'messages' | 'input'
  readonly fields: { readonly [key: string]: JsonValue }
}

/**
 * One foreign format. Both directions are pure. Law: `format(parse(x))` equals `x`, including
 * unknown fields and opaque items.
 */
export interface Codec<Name extends CodecName = FormatName> {
  readonly name: Name
  /** JSON lines (one document per line) or one JSON document. */
  readonly framing: 'json' | 'lines'
  /** `undefined` if the document may be in this format; otherwise why not, for people. */
  reject(document: JsonValue): string | undefined
  /** A reason to prefer another format when the caller names none. Called only if not rejected. */
  doubt?(document: JsonValue): string | undefined
  parse(document: JsonValue): Conversation<Name>
  /** The document (for `lines`, an array with one value per line). Writes handoffs as envelopes. */
  format(conversation: Conversation<Name>): JsonValue
}
