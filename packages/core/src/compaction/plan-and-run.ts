import type { Message } from '../message/message.ts'
import { measure } from '../tokens/measure.ts'
import { systemMessagesOf, withoutBodies } from './assemble.ts'
import type { RunCompaction } from './conclude.ts'
import type { CheckedRun, FailedRun, PipelineRequest } from './pipeline.ts'
import { ENVELOPE_TOKENS } from './plan/defaults.ts'
import {
  type CannotFitPlan,
  type CompactPlan,
  type KeepPlan,
  type PlanRequest,
  plan,
} from './plan/plan.ts'
import type { CompactResult } from './report/outcome.ts'
import type { SummaryWriter } from './summary/summary-writer.ts'

/** What the summary comes from, in place of the way to it. */
export interface RunRequest extends Omit<PipelineRequest, 'summarize'>, Pick<PlanRequest, 'when'> {
  /** A given summary; the writer is then not asked. */
  readonly summary?: string
  readonly summarize?: SummaryWriter
}

/** A run, with what makes a result of it: that is loaded with the rest. */
type EndedRun = (FailedRun | CheckedRun) & {
  conclude(compaction: RunCompaction): CompactResult
}

/**
 * Plans, and runs the rest only if the plan asks for it. Most conversations fit, so the rest is loaded
 * with the first one that does not, and what asks writers and judges summaries only if there is something
 * to ask or to judge. An agent has all of it from the start. Never rejects. Expects well paired messages
 * (`repairPairs`).
 */
export async function planAndRun(
  request: RunRequest,
): Promise<
  | { kind: 'unplanned'; plan: KeepPlan | CannotFitPlan }
  | { kind: 'unloaded'; plan: CompactPlan }
  | EndedRun
> {
  const { summary: given, summarize: writer, ...shared } = request
  const { messages, counters, pins = [], overheadTokens = 0, timings } = request
  const { countMessage, countTokens } = counters
  const forGiven = given === undefined ? undefined : await loaded(loadWriting)
  const summary = given && (forGiven?.readGiven(given) ?? given)
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
  const isDigest = given === undefined && writer === undefined
  const [rest, writing] = await Promise.all([
    loaded(() => import('./conclude.ts')),
    isDigest ? undefined : (forGiven ?? loaded(loadWriting)),
  ])
  if (rest === undefined || (writing === undefined && !isDigest))
    return { kind: 'unloaded', plan: planned }
  const summarize =
    summary !== undefined ? writing?.takeGiven(summary) : writer && writing?.askWriter(writer)
  // A writer called after an abort would never notice it.
  const run = request.signal?.aborted
    ? ({ kind: 'failed', plan: planned, error: request.signal.reason } as const)
    : await rest.carryOut(planned, { ...shared, ...(summarize && { summarize }) })
  return { ...run, conclude: (compaction) => rest.conclude(run, compaction) }
}

const loadWriting = () => import('./summary/write-summary.ts')

/** A page may be offline; the next call tries again. */
async function loaded<Module>(load: () => Promise<Module>): Promise<Module | undefined> {
  try {
    return await load()
  } catch {
    return undefined
  }
}
