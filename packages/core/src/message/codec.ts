import type { JsonValue } from '../base/json.ts'
import type { CodecName, FormatName } from './format-name.ts'
import type { Message } from './message.ts'

/**
 * A conversation as it was read: our messages, and the shape around them (bare array, request
 * object, JSON lines) so that the same shape can be written again.
 */
export interface Conversation<Name extends CodecName = FormatName> {
  readonly format: Name
  readonly messages: readonly Message[]
  /** The request object's other fields (model, tools…), untouched; absent for a bare array or lines. */
  readonly wrapper?: Wrapper
  /** The lines of a log that describe the session (its id, its folder), untouched. */
  readonly header?: readonly JsonValue[]
  /** The model that was used last, where the source says so. */
  readonly model?: string
  /** Repairs and omissions while reading, for people. */
  readonly notes: readonly string[]
}

export interface Wrapper {
  /** The field of the messages: `messages` or `input`. */
  readonly key: 'messages' | 'input'
  readonly fields: { readonly [key: string]: JsonValue }
}

/**
 * One foreign format. Both directions are pure. Law: `format(parse(x))` is `x` again, unknown
 * fields and opaque items included.
 */
export interface Codec<Name extends CodecName = FormatName> {
  readonly name: Name
  /** JSON lines (one document per line) or one JSON document. */
  readonly framing: 'json' | 'lines'
  /** `undefined` when the document can be this format; else the reason why not, for people. */
  reject(document: JsonValue): string | undefined
  /** A reason to prefer another format if none was named. Called only if not rejected. */
  doubt?(document: JsonValue): string | undefined
  parse(document: JsonValue): Conversation<Name>
  /** The document (for `lines`: an array with one value per line). Handoffs are written as envelopes. */
  format(conversation: Conversation<Name>): JsonValue
}
