import type { SessionId } from '../base/ids.ts'
import type { JsonValue } from '../base/json.ts'
import type { AssistantMessage, Message, ToolCallPart } from '../message/message.ts'

/**
 * One step as the session sees it: a context goes in, the model's reply comes out. A step commits
 * nothing and never throws because of a provider; failure is one of its outcomes, and an abort
 * returns the reply so far.
 */
export interface StepRunner {
  run(request: StepRequest, signal: AbortSignal): Promise<StepOutcome>
}

export interface StepRequest {
  readonly sessionId: SessionId
  readonly agent: string
  /** The fence of its lease, which distinguishes two attempts at one step. */
  readonly fence: number
  readonly turn: number
  /** The context was built from entries 1..upto. */
  readonly upto: number
  /** The session has a title. */
  readonly isTitled?: boolean
  readonly context: readonly Message[]
  /** The context shows an unanswered message with its two ends only. */
  readonly isShortened?: boolean
}

export type StepOutcome =
  | { readonly kind: 'replied'; readonly message: AssistantMessage; readonly tokens: number }
  /** Aborted; `message` is null if the model wrote nothing. */
  | {
      readonly kind: 'interrupted'
      readonly message: AssistantMessage | null
      readonly tokens: number
    }
  /**
   * The context exceeded the provider's window. `limitTokens` is the reported limit, in our counts.
   */
  | { readonly kind: 'overflow'; readonly limitTokens?: number }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryable: boolean }
  /**
   * No model was called, because a spending limit is reached. The turn waits until a person
   * continues it.
   */
  | { readonly kind: 'paused'; readonly reason: string }

/** What the agent can do. Called only for calls that are already in the transcript. */
export interface ToolRunner {
  /** Whether a call whose outcome is unknown may be made again under the same key. */
  isRepeatable(name: string): boolean
  run(request: ToolRequest, signal: AbortSignal): Promise<ToolOutcome>
}

export interface ToolRequest {
  readonly sessionId: SessionId
  readonly agent: string
  readonly turn: number
  /** The entry that contains the call. */
  readonly entry: number
  readonly call: ToolCallPart
  /** The same for every repetition of this call: session, entry and call. */
  readonly key: string
}

export interface ToolOutcome {
  readonly outcome: 'ok' | 'error' | 'interrupted'
  readonly output: JsonValue
  readonly tokens: number
}

/** Every step record has the renderer's version, so that old contexts can be rebuilt. */
export const RENDERER = 'context-2'

export function callsOf(message: AssistantMessage): readonly ToolCallPart[] {
  return message.parts.filter((part) => part.type === 'tool-call')
}

/** Identifies a call: the same in every repetition. */
export function callKey(sessionId: SessionId, entry: number, call: string): string {
  return `${sessionId}-${entry}-${call}`
}
