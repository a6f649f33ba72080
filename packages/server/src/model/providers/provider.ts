import type { JsonValue } from '#core/base/json'
import type { Complaint } from '#core/message/dialects/provider-error'
import type { CallUsage, ToolSpec } from '../model.ts'
import type { FinishReason } from '../outcomes/outcome.ts'
import type { Effort, ModelRoute } from '../routes/route.ts'

/**
 * What this folder gives to the rest of `model/`: the providers' packages, at their specification
 * interface, in our own words. It is the only folder that imports them; each is loaded only where
 * a route needs it. Their errors and warnings are read here and never handed on.
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
  /** Whether the package is to hand on each event of the wire, too. */
  readonly wantsEvents: boolean
}

export interface ProviderStream {
  /**
   * Hands over every part; settles behind the last one. Never rejects. Where `take` gives a promise,
   * the next part waits for it. One call only.
   */
  run(take: (part: ProviderPart) => Promise<void> | undefined): Promise<void>
  cancel(): void
}

export type ProviderPart =
  /** One event of the wire as it came; only where the call wants them. */
  | { readonly kind: 'event'; readonly event: JsonValue }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'note'; readonly code: string }
  | { readonly kind: 'complaint'; readonly complaint: Complaint }
  | { readonly kind: 'unparsable' }
  | {
      readonly kind: 'finish'
      readonly finish: FinishReason | 'broken'
      readonly raw?: string
      readonly usage?: CallUsage
      readonly contextTokens?: number
    }
