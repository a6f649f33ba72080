import { KnownError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json.ts'
import type { SummaryFault } from '../judge/judge-summary.ts'
import type { SummaryRequest } from './prompt.ts'

/**
 * Thrown by a writer if the input exceeds its model's window. The range is then split further; the
 * same input is not sent again.
 */
export class WriterOverflowError extends KnownError {
  override readonly name = 'WriterOverflowError'
  readonly code = 'writer-overflow'
  readonly retryable = false
  /** Its model's window, input and output together, if known. */
  readonly limitTokens: number | undefined

  constructor(limitTokens?: number) {
    super('The model that writes summaries takes less than it was asked to read.')
    this.limitTokens = limitTokens
  }
}

/** Thrown by a writer that has tried everything. */
export class SummaryFailedError extends KnownError {
  override readonly name = 'SummaryFailedError'
  readonly code = 'summary-failed'
  readonly retryable = true
  /** A stable code. */
  readonly reason: string

  constructor(reason: string) {
    super(`No model wrote the summary (${reason}).`)
    this.reason = reason
  }

  /** Why the text is not a summary; undefined: it failed for another reason. */
  get fault(): string | undefined {
    return /^unusable:(.+)/.exec(this.reason)?.[1]
  }
}

export type SummaryWriter = (request: SummaryRequest, signal: AbortSignal) => Promise<SummaryReply>

export interface SummaryReply {
  readonly text: string
  /** Anything but `stop` is an incomplete summary and is refused. */
  readonly finish: 'stop' | 'length' | 'content-filter' | 'error' | 'unknown'
  /** The model, route and instructions that it was written with; kept with the handoff. */
  readonly provenance?: JsonObject
  /** Tries another way, because this text is not a summary; rejects if there is none. */
  readonly next?: (fault: SummaryFault) => Promise<SummaryReply>
}
