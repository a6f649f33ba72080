import type { JsonObject, JsonValue } from '#core/base/json'
import type { AssistantMessage, Message } from '#core/message/message'
import type { Deadlines } from './connections/deadlines.ts'
import type { Outcome } from './outcomes/outcome.ts'
import type { Effort, ModelRoute } from './routes/route.ts'

/**
 * The interface of a model for the rest of the system. A call is a stream of pieces whose last
 * piece is always `end`, with the outcome: nothing here throws or rejects, and text before a
 * failure is kept. No type, error or warning of a provider's package crosses this interface,
 * because their error objects contain the whole prompt.
 */
export interface Model {
  readonly route: ModelRoute
  /**
   * One attempt. Nothing is sent before the first piece is read. Leaving the loop early closes the
   * connection.
   */
  stream(request: ModelRequest, options: CallOptions): ModelStream
  /** Reads the credential again; returns whether it has changed. */
  renew(): Promise<boolean>
}

export type ModelStream = AsyncIterable<StreamPiece>

export interface ModelRequest {
  /** Any list of messages; forms that the provider would refuse are corrected here. */
  readonly messages: readonly Message[]
  readonly tools?: readonly ToolSpec[]
  readonly outputTokensMax?: number
  readonly effort?: Effort
  /** The same for all calls that share a prefix; also sets the provider's cache marks. */
  readonly cacheKey?: string
  /**
   * Requests the provider's own compaction of the conversation instead of an answer, if the
   * provider has one. It is returned as an opaque part of the reply.
   */
  readonly compaction?: { readonly instructions: string }
}

export interface ToolSpec {
  readonly name: string
  readonly description?: string
  /** JSON Schema, sent unchanged. */
  readonly inputSchema: JsonObject
}

export interface CallOptions {
  /** The purpose of the call. Calls of different purposes never share a connection. */
  readonly purpose: string
  /** Ends the call as `interrupted`; text that has arrived is still delivered. */
  readonly signal: AbortSignal
  readonly deadlines: Deadlines
  /** Use a connection that no call has used before. */
  readonly isFresh?: true
}

export type StreamPiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  /** Sent only for a finished answer, just before its end: a cut stream can leave half an input. */
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: string }
  /** A provider's item that is neither text, reasoning nor a call, unchanged. */
  | { readonly kind: 'item'; readonly value: JsonValue }
  /** Something to count: a fixed word, never content. */
  | { readonly kind: 'note'; readonly code: string }
  /** The text so far belongs to a failed try; the answer starts over. */
  | {
      readonly kind: 'retry'
      readonly after: Outcome
      readonly delayMs: number
      /** The route of the next attempt. */
      readonly route: string
    }
  | EndPiece

export interface EndPiece {
  readonly kind: 'end'
  readonly outcome: Outcome
  /** The reply, complete or partial; null if there is none. */
  readonly reply: AssistantMessage | null
  /** The usage, as far as the provider reported it. */
  readonly usage?: CallUsage
  /**
   * The size of the context as the provider counted it. It differs from the billed input if an
   * answer took several iterations, each of which is billed.
   */
  readonly contextTokens?: number
}

export interface CallUsage {
  /** Includes tokens read from and written to a cache. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
  /** The cost reported by the provider, in millionths of its currency. */
  readonly cost?: number
}
