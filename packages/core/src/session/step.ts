import type { SessionId } from '../base/ids.ts'
import type { JsonValue } from '../base/json.ts'
import type { AssistantMessage, Message, ToolCallPart } from '../message/message.ts'

/**
 * One step as the session sees it: a context goes in, what the model said comes out. A step commits
 * nothing and never throws for what a provider does; failure is one of its outcomes, and an abort is
 * answered with what was said until then.
 */
export interface StepRunner {
  run(request: StepRequest, signal: AbortSignal): Promise<StepOutcome>
}

export interface StepRequest {
  readonly sessionId: SessionId
  readonly agent: string
  /** The fence of the lease it runs under: tells two attempts at one step apart. */
  readonly fence: number
  readonly turn: number
  /** The context was built from entries 1..upto. */
  readonly upto: number
  readonly context: readonly Message[]
}

export type StepOutcome =
  | { readonly kind: 'replied'; readonly message: AssistantMessage; readonly tokens: number }
  /** Aborted; `message` is null when nothing was said. */
  | {
      readonly kind: 'interrupted'
      readonly message: AssistantMessage | null
      readonly tokens: number
    }
  /** The provider counted more tokens than it takes; where it says how many, here as we count. */
  | { readonly kind: 'overflow'; readonly limitTokens?: number }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryable: boolean }
  /** No model was asked: a limit on spending is reached. The turn waits until a person continues it. */
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
  /** The entry that holds the call. */
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

/** The renderer's version stands in every step record, so that old contexts can be built again. */
export const RENDERER = 'context-2'

export function callsOf(message: AssistantMessage): readonly ToolCallPart[] {
  return message.parts.filter((part) => part.type === 'tool-call')
}

/** Identifies a call: the same in every repetition. */
export function callKey(sessionId: SessionId, entry: number, call: string): string {
  return `${sessionId}-${entry}-${call}`
}
