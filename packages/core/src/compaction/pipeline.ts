import type { ProviderDialect } from '../message/dialects/provider-dialect.ts'
import type { Message, SystemMessage } from '../message/message.ts'
import { assemble } from './assemble.ts'
import { type CompactionVerdict, check } from './check.ts'
import { type HandoffWork, yieldTurn } from './handoff-work.ts'
import { earlierHandoff, type MadeHandoff, makeHandoff } from './make-handoff.ts'
import { handoffTokensOf } from './plan/budget.ts'
import { type ClaimedRange, type CompactPlan, planRange, type Trigger } from './plan/plan.ts'
import { makeSpaceForWords } from './plan/word-space.ts'
import { digestSummary, type WriteSummary } from './summary/digest-summary.ts'

/**
 * plan → summary → handoff → assembly → check: the only place that orders the steps of a
 * compaction. `compact` runs it on any conversation that its plan wants compacted, a session on the
 * range that it has claimed.
 */
export interface PipelineRequest extends Omit<HandoffWork, 'plan' | 'earlier'> {
  readonly trigger: Trigger
  /** Without it the summary is a digest. */
  readonly summarize?: WriteSummary
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

/** The rest of a compaction that the plan asks for. Never rejects. */
export async function carryOut(
  plan: CompactPlan,
  request: PipelineRequest,
): Promise<FailedRun | CheckedRun> {
  const hasHead = plan.cut > plan.layout.headFrom
  return hasHead ? await replaceHead(plan, request) : assembleAndCheck(plan, request)
}

/** For a range chosen by the caller. Never rejects. */
export async function runPipelineOn(
  range: ClaimedRange,
  request: PipelineRequest,
): Promise<FailedRun | (CheckedRun & { readonly made: MadeHandoff })> {
  return await replaceHead(planRange(request.messages, range, request), request)
}

async function replaceHead(planned: CompactPlan, request: PipelineRequest) {
  const { messages, counters, budget, summarize } = request
  const earlier = earlierHandoff(messages, planned)
  const sizes = { messages, plan: planned, ...earlier, ...counters }
  const isDigest = summarize === undefined
  const plan = isDigest ? makeSpaceForWords(sizes, budget.settings) : planned
  const work = { ...request, plan, ...earlier }
  let made: MadeHandoff
  try {
    if (isDigest) await yieldTurn(work)
    const summary = await (summarize ?? digestSummary)(work)
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
