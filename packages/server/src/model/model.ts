import type { JsonObject, JsonValue } from '#core/base/json'
import type { AssistantMessage, Message } from '#core/message/message'
import type { Deadlines } from './connections/deadlines.ts'
import type { Outcome } from './outcomes/outcome.ts'
import type { Effort, ModelRoute } from './routes/route.ts'

/**
 * All that the rest of the system knows of a model. A call is a stream of pieces whose last piece is
 * always `end` and says how it went: nothing here throws, nothing rejects, and what was said before a
 * failure stays said. No type, error or warning of a provider's package passes this line; their
 * error objects carry the whole prompt.
 */
export interface Model {
  readonly route: ModelRoute
  /**
   * One try. Nothing is sent before the first piece is asked for. Leaving the loop early closes the
   * connection.
   */
  stream(request: ModelRequest, options: CallOptions): ModelStream
  /** Reads the credential again; returns whether it has changed. */
  renew(): Promise<boolean>
}

export type ModelStream = AsyncIterable<StreamPiece>

export interface ModelRequest {
  /** Any list of messages: what the provider would refuse for its form is put right here. */
  readonly messages: readonly Message[]
  readonly tools?: readonly ToolSpec[]
  readonly outputTokensMax?: number
  readonly effort?: Effort
  /** The same for all calls that share a beginning; sets the provider's cache marks too. */
  readonly cacheKey?: string
  /**
   * Asks the provider for its own compaction of the conversation instead of an answer; only where
   * the provider has one. It comes as an opaque part of the reply.
   */
  readonly compaction?: { readonly instructions: string }
}

export interface ToolSpec {
  readonly name: string
  readonly description?: string
  /** JSON Schema; goes out as it is. */
  readonly inputSchema: JsonObject
}

export interface CallOptions {
  /** The purpose of the call. Calls of different purposes never share a connection. */
  readonly purpose: string
  /** Ends the call as `interrupted`; what has arrived until then is still delivered. */
  readonly signal: AbortSignal
  readonly deadlines: Deadlines
  /** On a connection that no call has used before. */
  readonly isFresh?: true
}

export type StreamPiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  /** Only of a finished answer, just before its end: a cut stream can leave half an input. */
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly input: string }
  /** An item of the provider's that is no text, thought or call, as it came. */
  | { readonly kind: 'item'; readonly value: JsonValue }
  /** Something to count; a fixed word, never content. */
  | { readonly kind: 'note'; readonly code: string }
  /** The text so far belongs to a failed try; the answer starts over. */
  | {
      readonly kind: 'retry'
      readonly after: Outcome
      readonly delayMs: number
      /** Where the next try goes. */
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
   * How large the provider found the context. Not the same as the input billed: an answer in several
   * iterations is billed for each.
   */
  readonly contextTokens?: number
}

export interface CallUsage {
  /** Includes what was read from and written to a cache. */
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cacheReadTokens?: number
  readonly cacheWriteTokens?: number
  readonly reasoningTokens?: number
  /** The cost reported by the provider, in millionths of its currency. */
  readonly cost?: number
}
