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
 * The message model of this package. It belongs to no provider and to no SDK: codecs convert
 * foreign formats to it and back, dialects make the result valid for a provider.
 *
 * Always true: a value never changes after it is made; content that the model does not cover is
 * carried verbatim (`OpaquePart`, `Origin.fields`) and never interpreted.
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
  /** Cut off while it was written: it ends no turn, so its request is still open. */
  readonly isPartial?: true
  /** The reported usage of the call that made this message, if the source has it. */
  readonly usage?: Usage
}

/** The results of tool calls; always directly after the assistant message that made the calls. */
export interface ToolMessage extends MessageBase {
  readonly role: 'tool'
  readonly parts: readonly ToolResultPart[]
}

/** Replaces the compacted head of the conversation. Recognized by its role, never by its text. */
export interface HandoffMessage extends MessageBase {
  readonly role: 'handoff'
  readonly handoff: Handoff
}

/** Tokens as the provider reported them. `inputTokens` includes tokens read from a cache. */
export interface Usage {
  readonly inputTokens: number
  readonly outputTokens: number
}
