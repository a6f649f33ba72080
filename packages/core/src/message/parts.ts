import type { JsonObject, JsonValue } from '../base/json.ts'
import type { CodecName } from './format-name.ts'

/** What messages are made of, and the user's message, which a handoff preserves. */
export interface MessageBase {
  /** When it was said, ISO 8601, where the source knows. */
  readonly at?: string
  readonly origin?: Origin
}

export interface UserMessage extends MessageBase {
  readonly role: 'user'
  readonly parts: readonly UserPart[]
  /** Written by a program in the user's place (reminders, hooks, command output): never an ask. */
  readonly synthetic?: true
  /** Holds a pin: it stays in front, as system text does, with the rank of a user's message. */
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
 * The model's reasoning. `sealed` is the provider's own item, returned byte for byte or not at all.
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
  /** The arguments as the model wrote them, kept when `JSON.stringify(input)` would not give them. */
  readonly inputText?: string
  readonly origin?: Origin
}

export interface ToolResultPart {
  readonly type: 'tool-result'
  readonly callId: string
  readonly name?: string
  readonly output: readonly ResultPart[]
  readonly isError?: true
  /** The body was dropped to make room; `output` holds a stub that says where the original is. */
  readonly cleared?: true
  readonly origin?: Origin
}

/** A provider's item that we do not read: kept in place, rendered for its own provider only. */
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
  /** Which item of the foreign conversation this came from; neighbours with one number were one item. */
  readonly at: number
  /** Fields of the foreign item that our model has no word for. */
  readonly fields?: JsonObject
  /** Which of several equivalent spellings the source used, in the codec's own words. */
  readonly shape?: string
  /** A message that was several items: the further ones. Its parts then say by `at` where they were. */
  readonly others?: readonly Origin[]
}
