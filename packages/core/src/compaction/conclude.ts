import type { Message } from '../message/message.ts'
import { coveredUpTo } from './check.ts'
import type { CompactOptions, prepare } from './compact-options.ts'
import type { CheckedRun, FailedRun } from './pipeline.ts'
import { redact } from './redact/redact.ts'
import { buildStats } from './report/build-stats.ts'
import { type CompactResult, REFUSALS, warnOfRepetition } from './report/outcome.ts'
import { type Compaction, unchanged } from './report/unchanged.ts'

/** With `conclude`, all that only a conversation needs that must be compacted; loaded with the first one. */
export { normalizeFor } from '../message/dialects/normalize.ts'
export { carryOut } from './pipeline.ts'

export interface RunCompaction extends Compaction {
  /** The messages as they were planned. */
  readonly before: readonly Message[]
  readonly request: ReturnType<typeof prepare> & Pick<CompactOptions, 'warnFrom'>
}

/** The result of a run. */
export function conclude(run: FailedRun | CheckedRun, compaction: RunCompaction): CompactResult {
  const { messages, before, request, plan, timings, warnings } = compaction
  if (run.kind === 'failed') {
    const explanation = `The summary could not be written: ${redact(messageOf(run.error))}`
    return unchanged(compaction, { outcome: 'refused', reason: 'summary-failed', explanation })
  }
  const { made, after, verdict } = run
  const larger = (made?.reply.finish ?? 'stop') === 'stop' && whyLarger(run, before, request)
  if (larger) {
    const reason = 'would-not-shrink'
    return unchanged(compaction, { outcome: 'kept', reason, explanation: larger })
  }
  const [violation] = verdict.violations
  // An overlong summary was already shortened and cut, so nothing else can be made smaller.
  if (violation?.law === 'I13') {
    const [outcome, reason] = ['cannot-fit', 'target-too-small'] as const
    const explanation = `No result fits the target: ${violation.detail}.`
    return unchanged(compaction, { outcome, reason, explanation, verdict })
  }
  if (violation !== undefined) {
    const explanation = `The result was refused and nothing changed: ${violation.detail}.`
    const reason = REFUSALS[violation.law]
    return unchanged(compaction, { outcome: 'refused', reason, explanation, verdict })
  }

  const { cut, layout, reason } = run.plan
  return {
    outcome: 'compacted',
    reason,
    explanation:
      made === undefined
        ? 'Large tool results were shortened; no handoff was needed.'
        : `${cut - layout.headFrom} messages went into a handoff, ${before.length - cut} stay word for word.`,
    messages: after,
    plan,
    verdict,
    stats: {
      ...buildStats({
        before,
        after,
        plan: run.plan,
        handoff: made?.handoff,
        dropped: made?.preserved.dropped ?? 0,
        overheadTokens: request.overheadTokens,
        counters: request.counters,
      }),
      messagesBefore: messages.length,
      timingsMs: timings.laps,
    },
    warnings: [
      ...warnings,
      ...warnOfRepetition(made?.handoff.compactions ?? 0, request.warnFrom),
      ...warnOfSilence(made?.preserved),
      ...(made?.reply.isCut ? [CUT_WARNING] : []),
      ...(made?.reply.fault ? [GIVEN_WARNING(made.reply.fault)] : []),
    ],
  }
}

function whyLarger(
  { plan, made, after }: CheckedRun,
  before: readonly Message[],
  { counters: { countMessage }, overheadTokens }: ReturnType<typeof prepare>,
): string | undefined {
  if (made !== undefined) {
    const tokens = countMessage({ role: 'handoff', handoff: made.handoff })
    const covered = coveredUpTo(tokens, before, plan, countMessage)
    if (covered <= tokens) {
      return `The handoff would not be smaller than the ${covered} tokens it covers.`
    }
  }
  const tokensAfter = after.reduce((sum, each) => sum + countMessage(each), overheadTokens)
  // Clipped or carried parts can outweigh the savings.
  if (tokensAfter < plan.tokensBefore) return undefined
  return `The result would not be smaller than the ${plan.tokensBefore} tokens there are.`
}

const CUT_WARNING =
  'The summary was still too long after one request to shorten it, so it was cut between its points.'

const GIVEN_WARNING = (fault: string) => `The given summary does not read like one (${fault}).`

/** Users expect least of all that their own words are missing. */
function warnOfSilence(preserved: Required<CheckedRun>['made']['preserved'] | undefined): string[] {
  if (preserved === undefined || preserved.messages.length > 0 || preserved.dropped === 0) return []
  return [
    `None of the user's ${preserved.dropped} requests fitted word for word; a larger target keeps them.`,
  ]
}

/** The error's message, worded as the end of a sentence. */
function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.endsWith('.') ? text : `${text}.`
}
