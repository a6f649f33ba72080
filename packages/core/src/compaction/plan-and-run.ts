import type { Message } from '../message/message.ts'
import { measure } from '../tokens/measure.ts'
import { systemMessagesOf, withoutBodies } from './assemble.ts'
import type { CheckedRun, FailedRun, PipelineRequest } from './pipeline.ts'
import { ENVELOPE_TOKENS } from './plan/defaults.ts'
import { type CannotFitPlan, type KeepPlan, type PlanRequest, plan } from './plan/plan.ts'
import type { SummaryWriter } from './summary/summary-writer.ts'

/** What the summary comes from, in place of the way to it. */
export interface RunRequest extends Omit<PipelineRequest, 'summarize'>, Pick<PlanRequest, 'when'> {
  /** A given summary, unwrapped and with secrets masked; the writer is then not asked. */
  readonly summary?: string | undefined
  readonly summarize?: SummaryWriter
}

/**
 * Plans, and runs the rest only if the plan asks for it. Most conversations fit, so the rest is loaded
 * with the first one that does not, and what asks writers and judges summaries only if there is something
 * to ask or to judge. An agent has all of it from the start. Never rejects. Expects well paired messages
 * (`repairPairs`).
 */
export async function planAndRun(
  request: RunRequest,
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
  const { summarize: writer, ...shared } = request
  const isDigest = summary === undefined && writer === undefined
  try {
    const [{ carryOut }, writing] = await Promise.all([
      import('./pipeline.ts'),
      isDigest ? undefined : import('./summary/write-summary.ts'),
    ])
    // A writer called after this would never notice the abort.
    request.signal?.throwIfAborted()
    const summarize =
      summary !== undefined ? writing?.takeGiven(summary) : writer && writing?.askWriter(writer)
    return await carryOut(planned, { ...shared, ...(summarize && { summarize }) })
  } catch (error) {
    // A page may be offline; the next call tries again.
    return { kind: 'failed', plan: planned, error }
  }
}
