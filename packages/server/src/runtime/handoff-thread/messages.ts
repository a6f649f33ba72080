import type { SummaryFault } from '#core/compaction/judge/judge-summary'
import {
  SummaryFailedError,
  type SummaryReply,
  WriterOverflowError,
} from '#core/compaction/summary/summary-writer'
import type { HandoffReply, HandoffRequest } from '#core/session/handoff'
import type { ModelFamily } from '#core/tokens/family'
import type { PreparedRequest } from '../../auxiliary/summary-rungs.ts'
import type { HandoffOrder } from '../client-sessions/write-digest.ts'

/** Messages between the event loop and the handoff thread: plain data only. */

/** One handoff to write; `asks`: the thread requests a summary, otherwise it writes a digest. */
export type HandoffJob =
  | { readonly kind: 'session'; readonly request: HandoffRequest; readonly family: ModelFamily }
  | { readonly kind: 'client'; readonly order: HandoffOrder }

export type ToThread =
  | { readonly kind: 'write'; call: number; readonly job: HandoffJob; readonly asks: boolean }
  | { readonly kind: 'answer'; call: number; readonly ask: number; readonly answer: SummaryAnswer }
  | { readonly kind: 'abort'; call: number }

export type FromThread =
  | { readonly kind: 'ask'; call: number; ask: number; readonly request: PreparedRequest }
  | { readonly kind: 'next'; call: number; ask: number; of: number; readonly fault: SummaryFault }
  | { readonly kind: 'done'; call: number; readonly reply: HandoffReply }

/** The outcome of a summary request. */
export type SummaryAnswer =
  | { readonly kind: 'reply'; readonly reply: SummaryReply; readonly hasNext: boolean }
  | { readonly kind: 'overflow'; readonly limitTokens: number | undefined }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'broken'; readonly message: string }

export function writtenAnswer({ next, ...reply }: SummaryReply): SummaryAnswer {
  return { kind: 'reply', reply, hasNext: next !== undefined }
}

export function failedAnswer(error: unknown): SummaryAnswer {
  if (error instanceof WriterOverflowError) {
    return { kind: 'overflow', limitTokens: error.limitTokens }
  }
  if (error instanceof SummaryFailedError) return { kind: 'failed', reason: error.reason }
  return { kind: 'broken', message: error instanceof Error ? error.message : String(error) }
}

export function errorOf(answer: Exclude<SummaryAnswer, { kind: 'reply' }>): Error {
  switch (answer.kind) {
    case 'overflow':
      return new WriterOverflowError(answer.limitTokens)
    case 'failed':
      return new SummaryFailedError(answer.reason)
    case 'broken':
      return new Error(answer.message)
  }
}
