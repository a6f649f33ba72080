import type { ProviderDialect } from '../message/dialects/provider-dialect.ts'
import type { Message, SystemMessage } from '../message/message.ts'
import { measure } from '../tokens/measure.ts'
import { assemble, systemMessagesOf, withoutBodies } from './assemble.ts'
import { type CompactionVerdict, check } from './check.ts'
import {
  earlierHandoff,
  type HandoffWork,
  type MadeHandoff,
  makeHandoff,
  yieldTurn,
} from './make-handoff.ts'
import { handoffTokensOf } from './plan/budget.ts'
import {
  type CannotFitPlan,
  type ClaimedRange,
  type CompactPlan,
  type KeepPlan,
  type PlanRequest,
  plan,
  planRange,
  type Trigger,
} from './plan/plan.ts'
import { ENVELOPE_TOKENS, writeSummary } from './summary/write-summary.ts'

/**
 * plan → summary → handoff → assembly → check: the only place that orders the steps of a
 * compaction. `compact` runs it on any conversation, a session on the range that it has claimed.
 */
export interface PipelineRequest extends Omit<HandoffWork, 'plan' | 'earlier'> {
  readonly trigger: Trigger
  /** The providers whose rules the result must satisfy. */
  readonly dialects: readonly ProviderDialect[]
  readonly pins?: readonly SystemMessage[]
  readonly overheadTokens?: number
}

/** The summary's writer failed, or the signal aborted. */
export interface FailedRun {
  readonly kind: 'failed'
  readonly plan: CompactPlan
  readonly error: unknown
}

export interface CheckedRun {
  readonly kind: 'checked'
  readonly plan: CompactPlan
  /** Absent if clipping the tail was enough. */
  readonly made?: MadeHandoff
  readonly after: readonly Message[]
  readonly verdict: CompactionVerdict
}

/** Never rejects. Expects well paired messages (`repairPairs`). */
export async function runPipeline(
  request: PipelineRequest & Pick<PlanRequest, 'when'>,
): Promise<{ kind: 'unplanned'; plan: KeepPlan | CannotFitPlan } | FailedRun | CheckedRun> {
  const { messages, counters, summary, pins = [], overheadTokens = 0, timings } = request
  const { countMessage, countTokens } = counters
  const sumTokens = (list: readonly Message[]) =>
    list.reduce((sum, message) => sum + countMessage(message), 0)
  const held = systemMessagesOf(messages, 0, messages.length)
  const planned = plan(measure(messages, countMessage), {
    ...request,
    ...(summary !== undefined && { summaryTokens: countTokens(summary) + ENVELOPE_TOKENS }),
    overheadTokens: overheadTokens + sumTokens(pins),
    carriedTokens: sumTokens(held.filter((message, index) => messages[index] !== message)),
    countBare: (message) => countMessage(withoutBodies(message)),
  })
  timings?.lap('plan')
  if (planned.kind !== 'compact') return { kind: 'unplanned', plan: planned }
  const hasHead = planned.cut > planned.layout.headFrom
  return hasHead ? await carryOut(planned, request) : assembleAndCheck(planned, request)
}

/** For a range chosen by the caller. Never rejects. */
export async function runPipelineOn(
  range: ClaimedRange,
  request: PipelineRequest,
): Promise<FailedRun | (CheckedRun & { readonly made: MadeHandoff })> {
  return await carryOut(planRange(request.messages, range, request), request)
}

async function carryOut(plan: CompactPlan, request: PipelineRequest) {
  const work = { ...request, plan, ...earlierHandoff(request.messages, plan) }
  let made: MadeHandoff
  try {
    const summary = await writeSummary(work)
    await yieldTurn(work)
    made = await makeHandoff(work, summary)
    await yieldTurn(work)
  } catch (error) {
    return { kind: 'failed', plan, error } as const
  }
  return { ...assembleAndCheck(plan, request, made), made }
}

function assembleAndCheck(
  plan: CompactPlan,
  { messages, budget, dialects, counters, pins = [], overheadTokens = 0, timings }: PipelineRequest,
  made?: MadeHandoff,
): CheckedRun {
  const shared = { plan, pins, ...counters }
  const after = assemble({ messages, ...shared, ...(made && { handoff: made.handoff }) })
  timings?.lap('assemble')
  const verdict = check({
    ...shared,
    before: messages,
    after,
    hardTokens: budget.hardTokens,
    dialects,
    overheadTokens,
    ...(made && { finish: made.reply.finish }),
    summaryTokensMax: handoffTokensOf(plan.allotment),
  })
  timings?.lap('check')
  return { kind: 'checked', plan, after, verdict }
}
