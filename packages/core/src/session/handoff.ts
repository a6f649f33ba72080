import type { EntryNumber, OperationId } from '../base/ids.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import { assemble } from '../compaction/assemble.ts'
import { check } from '../compaction/check.ts'
import { findLayout } from '../compaction/layout.ts'
import { makeHandoff, type Setting } from '../compaction/make-handoff.ts'
import { allot } from '../compaction/plan/budget.ts'
import type { CompactPlan, Trigger } from '../compaction/plan/plan.ts'
import { redact } from '../compaction/redact/redact.ts'
import { REFUSALS } from '../compaction/report/outcome.ts'
import { stopwatch } from '../compaction/report/stopwatch.ts'
import type { SummaryWriter } from '../compaction/summary/summarize.ts'
import type { Handoff } from '../message/handoff.ts'
import type { Limits, OperationRow } from '../store/rows.ts'
import { budgetOf } from './context/budget.ts'
import type { Source } from './context/source.ts'
import type { SessionSettings } from './protocol/state.ts'

/**
 * The seam to whoever writes handoffs. `written` means complete and checked; every failure is a
 * value with a stable reason. The signal knows the deadline, loss of the lease, closing and being
 * superseded; nothing a person says reaches it.
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
  readonly limits: Limits
  readonly settings: SessionSettings
}

export type HandoffReply =
  | {
      readonly kind: 'written'
      readonly handoff: Handoff
      readonly tokens: number
      /** Which model on which route, with which instructions; kept beside the compaction. */
      readonly provenance?: JsonObject
    }
  | { readonly kind: 'failed'; readonly reason: string }

/** What the protocol is told of a handoff that was written. */
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

/** Handoffs through the compaction core: by a summary's writer, or without one as a digest. */
export function handoffWriter(
  counters: Setting['counters'],
  { summarize, breathe }: { summarize?: SummaryWriter } & Pick<Setting, 'breathe'> = {},
): HandoffWriter {
  return {
    async write(request, signal) {
      const { messages, focus, limits, settings } = request
      const budget = budgetOf(limits, settings)
      const plan = planFor(request)
      const setting: Setting = {
        options: {
          signal,
          ...(summarize !== undefined && { summarize }),
          ...(focus !== null && { focus }),
          ...(settings.prompt !== undefined && { prompt: settings.prompt }),
          ...(settings.sections !== undefined && { budget: settings.sections }),
        },
        budget,
        pins: [],
        counters,
        ...(breathe !== undefined && {
          breathe: async () => {
            await breathe()
            signal.throwIfAborted()
          },
        }),
      }
      let made: Awaited<ReturnType<typeof makeHandoff>>
      try {
        made = await makeHandoff(messages, plan, setting, stopwatch(undefined))
      } catch (error) {
        return { kind: 'failed', reason: signal.aborted ? 'aborted' : `writer: ${told(error)}` }
      }
      await breathe?.()
      const { handoff, reply } = made
      const after = assemble({ messages, plan, handoff, pins: [], ...counters })
      const verdict = check({
        before: messages,
        after,
        plan,
        hardTokens: budget.hardTokens,
        pins: [],
        finish: reply.finish,
        summaryTokensMax: limits.handoffTokens,
        ...counters,
      })
      const [violation] = verdict.violations
      if (violation !== undefined) return { kind: 'failed', reason: REFUSALS[violation.law] }
      const tokens = counters.countMessage({ role: 'handoff', handoff })
      return { kind: 'written', handoff, tokens }
    },
  }
}

function planFor(request: HandoffRequest): CompactPlan {
  const { messages, cut, open, operation, limits, settings } = request
  const budget = budgetOf(limits, settings)
  const { keepTokens: _, ...others } = budget.settings
  return {
    kind: 'compact',
    reason: 'requested',
    trigger: operation.trigger as Trigger,
    tokensBefore: 0,
    layout: findLayout(messages, 0),
    cut,
    open,
    incoming: messages.length,
    targetTokens: budget.hardTokens,
    allotment: allot(limits.handoffTokens, { ...budget, settings: { ...others, keepTokens: 0 } }),
  }
}

function told(error: unknown): string {
  return redact(error instanceof Error ? error.message : String(error)).slice(0, 200)
}
