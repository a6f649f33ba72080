import type { Message, OpaquePart, ReasoningPart } from '../message.ts'
import type { NameRule } from './rules.ts'

/**
 * What a provider accepts, where providers differ. It does not accept what its dialect leaves out, and a
 * program with one dialect bundles the answers of no other.
 */
export interface Accepted {
  /** Absent where no ids are sent: Gemini pairs by order and name. */
  readonly callId?: NameRule
  readonly toolName?: NameRule
  /** Refuses adjacent messages of one role, a first message not the user's, and late system text. */
  readonly takesTurns?: boolean
  /** A change to the whole conversation, before its parts are looked at. */
  readonly prepare?: (messages: readonly Message[]) => readonly Message[]
  /** The same after that. */
  readonly settle?: (messages: readonly Message[]) => readonly Message[]
  readonly reasoning?: (part: ReasoningPart) => boolean
  /** Reasoning alone is a reply; elsewhere it may belong to the next message. */
  readonly reasoningAlone?: boolean
  /** Items of a provider that our model does not read, by the place where they stand. */
  readonly fromUser?: (part: OpaquePart) => boolean
  readonly fromAssistant?: (part: OpaquePart) => boolean
  readonly inResult?: (part: OpaquePart) => boolean
  /** Arguments only as an object. */
  readonly objectInput?: boolean
  /** Chat servers accept a blank text beside other parts, and many replies with calls have one. */
  readonly blankText?: boolean
  /** Images and files in a reply; only Gemini's models reply with images. */
  readonly blobInReply?: boolean
  /** Neither images nor files. */
  readonly textOnly?: boolean
  /** Results are text; images in them go behind the results. */
  readonly textResults?: boolean
  /** No blank text in results, and the result of a failed call is text and not empty. */
  readonly strictResults?: boolean
  /** Sound and film. */
  readonly hears?: boolean
  /** All calls of a reply are in one message before their results. */
  readonly joinsCalls?: boolean
}
