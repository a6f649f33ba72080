import type { Handoff } from './handoff/handoff.ts'
import type {
  AssistantPart,
  MessageBase,
  OpaquePart,
  TextPart,
  ToolResultPart,
  UserMessage,
} from './parts.ts'

export type {
  AssistantPart,
  BlobSource,
  FilePart,
  ImagePart,
  OpaquePart,
  Origin,
  Part,
  Provider,
  ReasoningPart,
  ResultPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  UserMessage,
  UserPart,
} from './parts.ts'

/**
 * The message model everything here speaks. It belongs to no provider and to no SDK's major
 * version: codecs bring foreign formats in and out, dialects make the result legal for a provider.
 *
 * Always true: a value is never changed after it was made; what we do not understand is carried
 * along verbatim (`OpaquePart`, `Origin.fields`) and never interpreted.
 */
export const MESSAGE_VERSION = 1

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage | HandoffMessage

export interface SystemMessage extends MessageBase {
  readonly role: 'system'
  readonly parts: readonly (TextPart | OpaquePart)[]
}

export interface AssistantMessage extends MessageBase {
  readonly role: 'assistant'
  readonly parts: readonly AssistantPart[]
  readonly model?: string
  /** The reported usage of the call that made this message, if the source has it. */
  readonly usage?: Usage
}

/** The results of tool calls; always directly behind the assistant message that made the calls. */
export interface ToolMessage extends MessageBase {
  readonly role: 'tool'
  readonly parts: readonly ToolResultPart[]
}

/** Replaces the compacted head of the conversation. Recognised by its role, never by its text. */
export interface HandoffMessage extends MessageBase {
  readonly role: 'handoff'
  readonly handoff: Handoff
}

/** Tokens as the provider reported them. `inputTokens` includes what was read from a cache. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
}
