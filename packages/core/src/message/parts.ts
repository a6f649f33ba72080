import type { JsonObject, JsonValue } from '../base/json.ts'
import type { CodecName } from './formats/names.ts'

/** The parts of messages, and the user's message, which a handoff preserves. */
export interface MessageBase {
  /** ISO 8601, if the source knows the time. */
  readonly at?: string
  readonly origin?: Origin
}

export interface UserMessage extends MessageBase {
  readonly role: 'user'
  readonly parts: readonly UserPart[]
  /** Written by a program in the user role (reminders, hooks, command output); never a request. */
  readonly synthetic?: true
  /** A client's summary, which replaces its older messages. */
  readonly isSummary?: true
  /** Contains a pin: stays at the front like system text, but ranks as a user message. */
  readonly pinned?: true
}

export type UserPart = TextPart | ImagePart | FilePart | OpaquePart
export type AssistantPart =
  | TextPart
  | ReasoningPart
  | ToolCallPart
  | ImagePart
  | FilePart
  | OpaquePart
export type ResultPart = TextPart | ImagePart | FilePart | OpaquePart
export type Part = UserPart | AssistantPart | ToolResultPart

export interface TextPart {
  readonly type: 'text'
  readonly text: string
  readonly origin?: Origin
}

export interface ImagePart {
  readonly type: 'image'
  readonly source: BlobSource
  readonly origin?: Origin
}

export interface FilePart {
  readonly type: 'file'
  readonly source: BlobSource
  readonly name?: string
  readonly origin?: Origin
}

export type BlobSource =
  | { readonly kind: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'id'; readonly id: string }

/**
 * The model's reasoning. `sealed` is the provider's item, sent back byte for byte or not at all.
 */
export interface ReasoningPart {
  readonly type: 'reasoning'
  readonly text: string
  readonly sealed?: { readonly provider: Provider; readonly value: JsonValue }
  readonly origin?: Origin
}

export interface ToolCallPart {
  readonly type: 'tool-call'
  readonly id: string
  readonly name: string
  readonly input: JsonValue
  /** The arguments as the model wrote them, kept if `JSON.stringify(input)` would differ. */
  readonly inputText?: string
  readonly origin?: Origin
}

export interface ToolResultPart {
  readonly type: 'tool-result'
  readonly callId: string
  readonly name?: string
  readonly output: readonly ResultPart[]
  readonly isError?: true
  /** The body was dropped to save space; `output` has a stub that says where the original is. */
  readonly cleared?: true
  readonly origin?: Origin
}

/** A provider's item that we do not read: kept in place, sent only to that provider. */
export interface OpaquePart {
  readonly type: 'opaque'
  readonly provider: Provider
  readonly value: JsonValue
  readonly origin?: Origin
}

export type Provider = 'openai' | 'anthropic' | 'google' | 'other'

/** What a codec needs to write a message or part back exactly as it was read. */
export interface Origin {
  readonly format: CodecName
  /** The index of the foreign item; neighbours with the same index came from one item. */
  readonly at: number
  /** Fields of the foreign item that our model lacks. */
  readonly fields?: JsonObject
  /** Which of several equivalent forms the source used, as words of the codec. */
  readonly shape?: string
  /** For a message made from several items: the other items. Its parts name their item by `at`. */
  readonly others?: readonly Origin[]
}
