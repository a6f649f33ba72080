import type { EntryNumber, OperationId } from '../base/ids.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import type { Counters } from '../compaction/counters.ts'
import { type PipelineRequest, runPipelineOn } from '../compaction/pipeline.ts'
import type { Trigger } from '../compaction/plan/plan.ts'
import { redact } from '../compaction/redact/redact.ts'
import { REFUSALS } from '../compaction/report/outcome.ts'
import { SummaryFailedError, type SummaryWriter } from '../compaction/summary/summary-writer.ts'
import { askWriter } from '../compaction/summary/write-summary.ts'
import { ALL_DIALECTS } from '../message/dialects/all.ts'
import type { Handoff } from '../message/handoff/handoff.ts'
import type { Limits, OperationRow } from '../store/tables/rows.ts'
import { budgetOf } from './context/budget.ts'
import type { Source } from './context/source.ts'
import type { SessionSettings } from './settings.ts'

/**
 * The interface to the writer of handoffs. `written` means complete and checked; every failure is a
 * value with a stable reason. The signal aborts at the deadline, on loss of the lease, on closing
 * and when superseded, but never because of a person's message.
 */
export interface HandoffWriter {
  write(request: HandoffRequest, signal: AbortSignal): Promise<HandoffReply>
}

export interface HandoffRequest {
  readonly agent: string
  /** Identity by value: session, operation, fence and base are the claimed ones. */
  readonly operation: OperationRow
  readonly focus: string | null
  /** System text, the newest handoff that a model wrote, the range to cover, the tail. */
  readonly messages: Source['messages']
  readonly cut: Source['cut']
  readonly open: Source['open']
  /** The handoff refers to messages by these numbers. */
  readonly entries: Source['entries']
  readonly limits: Limits
  readonly settings: SessionSettings
}

export type HandoffReply =
  | {
      readonly kind: 'written'
      readonly handoff: Handoff
      readonly tokens: number
      /** Model, route and instructions; stored with the compaction. */
      readonly provenance?: JsonObject
    }
  | { readonly kind: 'failed'; readonly reason: string }

/** The protocol's view of a written handoff. */
export function written(
  operation: OperationId,
  reply: Extract<HandoffReply, { kind: 'written' }>,
  carries: readonly EntryNumber[],
) {
  const { handoff, tokens, provenance } = reply
  return {
    kind: 'handoff written',
    operation,
    body: handoff as unknown as JsonValue,
    tokens,
    carries,
    ...(provenance !== undefined && { provenance }),
  } as const
}

/** Handoffs through the compaction pipeline: by a summary's writer, or without one as a digest. */
export function handoffWriter(
  counters: Counters,
  {
    summarize,
    ...tools
  }: Pick<PipelineRequest, 'breathe'> & { readonly summarize?: SummaryWriter } = {},
): HandoffWriter {
  const writing = summarize && { summarize: askWriter(summarize) }
  return {
    async write({ messages, cut, open, entries, operation, focus, limits, settings }, signal) {
      const range = { cut, open, entries, handoffTokens: limits.handoffTokens }
      const run = await runPipelineOn(range, {
        ...tools,
        ...writing,
        dialects: ALL_DIALECTS,
        messages,
        trigger: operation.trigger as Trigger,
        budget: budgetOf(limits, settings),
        counters,
        signal,
        userTokens: settings.sections?.userTokens,
        ...(focus !== null && { focus }),
        ...(settings.prompt !== undefined && { prompt: settings.prompt }),
      })
      if (run.kind === 'failed') return { kind: 'failed', reason: reasonOf(run.error, signal) }
      const { made, verdict } = run
      const [violation] = verdict.violations
      if (violation !== undefined) return { kind: 'failed', reason: REFUSALS[violation.law] }
      const { handoff, reply } = made
      const tokens = counters.countMessage({ role: 'handoff', handoff })
      const { provenance } = reply
      return { kind: 'written', handoff, tokens, ...(provenance !== undefined && { provenance }) }
    },
  }
}

function reasonOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'aborted'
  if (error instanceof SummaryFailedError) return error.reason
  const message = error instanceof Error ? error.message : String(error)
  return `writer: ${redact(message).slice(0, 200)}`
}
