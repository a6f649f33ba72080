import type { JsonValue } from '#core/base/json'
import type { ReportedError } from '#core/message/dialects/provider-error'
import type { CallUsage, ToolSpec } from '../model.ts'
import type { FinishReason } from '../outcomes/outcome.ts'
import type { Effort, ModelRoute } from '../routes/route.ts'

/**
 * The interface of this folder: the providers' packages, used through their specification and
 * translated to our types. Only this folder imports them, and each is loaded only if a route needs
 * it. Their errors and warnings are read here and never passed on.
 */
export interface ProviderCall {
  readonly route: ModelRoute
  readonly credential: string
  /** Placeholder for the conversation, as the text of one user message. */
  readonly placeholder: string
  readonly fetch: typeof fetch
  readonly headers: { readonly [name: string]: string }
  readonly tools: readonly ToolSpec[]
  readonly outputTokensMax?: number
  readonly effort?: Effort
  readonly cacheKey?: string
  readonly compaction?: { readonly instructions: string }
  /** Whether the package also passes on each raw event. */
  readonly wantsEvents: boolean
}

export interface ProviderStream {
  /**
   * Delivers every part and resolves after the last one. Never rejects. If `take` returns a
   * promise, the next part waits for it. Call it once.
   */
  run(take: (part: ProviderPart) => Promise<void> | undefined): Promise<void>
  cancel(): void
}

export type ProviderPart =
  /** One raw event; only if the call requests them. */
  | { readonly kind: 'event'; readonly event: JsonValue }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  /** A piece of a call's input; the calls themselves come from the events. */
  | { readonly kind: 'tool-input'; readonly text: string }
  | { readonly kind: 'note'; readonly code: string }
  | { readonly kind: 'complaint'; readonly complaint: ReportedError }
  | { readonly kind: 'unparsable' }
  | {
      readonly kind: 'finish'
      readonly finish: FinishReason | 'broken'
      readonly raw?: string
      readonly usage?: CallUsage
      readonly contextTokens?: number
    }
