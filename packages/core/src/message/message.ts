import type { JsonObject, JsonValue } from '../base/json.ts'
import type { FormatName } from './codec.ts'
import type { Handoff } from './handoff.ts'

/**
 * The message model everything here speaks. It belongs to no provider and to no SDK's major
 * version: codecs bring foreign formats in and out, dialects make the result legal for a provider.
 *
 * Always true: a value is never changed after it was made; what we do not understand is carried
 * along verbatim (`OpaquePart`, `Origin.fields`) and never interpreted.
 */
export const MESSAGE_VERSION = 1

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage | HandoffMessage

interface MessageBase {
  /** When it was said, ISO 8601, where the source knows. */
  readonly at?: string
  readonly origin?: Origin
}

export interface SystemMessage extends MessageBase {
  readonly role: 'system'
  readonly parts: readonly (TextPart | OpaquePart)[]
}

export interface UserMessage extends MessageBase {
  readonly role: 'user'
  readonly parts: readonly UserPart[]
  /** Written by a program in the user's place (reminders, hooks, command output): never an ask. */
  readonly synthetic?: true
  /** Holds a pin: it stays in front, as system text does, with the rank of a user's message. */
  readonly pinned?: true
}

export interface AssistantMessage extends MessageBase {
  readonly role: 'assistant'
  readonly parts: readonly AssistantPart[]
  readonly model?: string
  /** What the provider billed for the call that made this message, where the source knows. */
  readonly usage?: Usage
}

/** The results of tool calls; always directly behind the assistant message that made the calls. */
export interface ToolMessage extends MessageBase {
  readonly role: 'tool'
  readonly parts: readonly ToolResultPart[]
}

/** Stands for the compacted head of the conversation. Known by its role, never by its text. */
export interface HandoffMessage extends MessageBase {
  readonly role: 'handoff'
  readonly handoff: Handoff
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

/** What the model thought. `sealed` is the provider's own item, put back byte for byte or not at all. */
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

/** Tokens as the provider reported them. `inputTokens` includes what was read from a cache. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
}

/** What a codec needs to write a message or part back exactly as it was read. */
export interface Origin {
  readonly format: FormatName
  /** Which item of the foreign conversation this came from; neighbours with one number were one item. */
  readonly at: number
  /** Fields of the foreign item that our model has no word for. */
  readonly fields?: JsonObject
  /** Which of several equivalent spellings the source used, in the codec's own words. */
  readonly shape?: string
  /** A message that was several items: the further ones. Its parts then say by `at` where they were. */
  readonly others?: readonly Origin[]
}
