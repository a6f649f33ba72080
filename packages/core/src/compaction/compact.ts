import { writeOutOtherHandoffs } from '../message/handoff/envelope.ts'
import type { Task } from '../message/handoff/handoff.ts'
import { lastModel } from '../message/last-model.ts'
import type { Message, SystemMessage } from '../message/message.ts'
import { repairPairs } from '../message/pairing.ts'
import { textOf } from '../message/text.ts'
import { messageCounter } from '../tokens/count.ts'
import { estimateText } from '../tokens/estimate.ts'
import { familyOf, type ModelFamily } from '../tokens/family.ts'
import { type CompactionVerdict, coveredUpTo } from './check.ts'
import type { CountTokens } from './counters.ts'
import { type CheckedRun, runPipeline } from './pipeline.ts'
import { resolveBudget } from './plan/budget.ts'
import type { BudgetSettings, PresetName } from './plan/defaults.ts'
import type { Trigger } from './plan/plan.ts'
import { redact } from './redact/redact.ts'
import { type CompactResult, explain, REFUSALS, warnOfRepetition } from './report/outcome.ts'
import { buildStats, EMPTY_STATS, stopwatch } from './report/stats.ts'
import { cleanSummary } from './summary/prompt.ts'
import type { SummaryWriter } from './summary/summarize.ts'

/** Any conversation in, a smaller valid one out. */
export interface CompactOptions {
  /** Settings to start from; `budget` overrides them one by one. */
  readonly preset?: PresetName
  readonly budget?: Partial<BudgetSettings>
  /** Which model's tokens are counted; absent: the model that the conversation names. */
  readonly family?: ModelFamily
  /** An exact counter instead of the family's estimate. */
  readonly countTokens?: CountTokens
  /** Why it is asked for; `preflight` holds the newest request back in full. `manual` if not given. */
  readonly trigger?: Trigger
  /** `needed` asks the threshold first; `always` (the default) compacts also what would fit. */
  readonly when?: 'always' | 'needed'
  /** What the summary should give special attention to. */
  readonly focus?: string
  /** Replaces the built-in instructions to the summary's writer. */
  readonly prompt?: string
  /** Texts that every context holds byte for byte, at system rank. */
  readonly pins?: readonly string[]
  /** The open task list; absent: the newest one that the conversation shows. */
  readonly tasks?: readonly Task[]
  /** Tokens of what is sent beside the messages, such as tool schemas. */
  readonly overheadTokens?: number
  /** A summary written elsewhere; only secrets are masked, and the other sections make way for it. */
  readonly summary?: string
  /** Writes the summary; without it and without `summary`, the digest does, which needs no model. */
  readonly summarize?: SummaryWriter
  /** From which compaction of a conversation on each one comes with a warning; 2 if not given. */
  readonly warnFrom?: number
  /** Handed to the writer; aborting it rejects. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: { stage: 'summary'; done: number; of: number }) => void
  /** A clock for `stats.timingsMs`; without it no times are taken. */
  readonly now?: () => number
}

/**
 * Never throws for what a conversation holds or a writer does: every outcome is a value, and
 * `messages` is always usable, the input again unless the outcome is `compacted`. Rejects only when
 * `signal` aborts. Calling it again on its own result changes nothing until more has been said.
 */
export async function compact(
  messages: readonly Message[],
  options: CompactOptions = {},
): Promise<CompactResult> {
  const { messages: repaired, repairs } = repairPairs(messages)
  const before = writeOutOtherHandoffs(repaired)
  const warnings = repairs.map((repair) => repair.explanation)
  const timings = stopwatch(options.now)
  const request = { ...prepare(before, options), timings }
  const { counters, budget, trigger, overheadTokens } = request
  const run = await runPipeline(request)
  const { plan } = run

  const unchanged = (
    result: Pick<CompactResult, 'outcome' | 'reason' | 'explanation'> & {
      verdict?: CompactionVerdict
    },
  ): CompactResult => ({
    ...result,
    messages,
    plan,
    stats: {
      ...EMPTY_STATS,
      trigger,
      tokensBefore: plan.tokensBefore,
      tokensAfter: plan.tokensBefore,
      messagesBefore: messages.length,
      messagesAfter: messages.length,
      timingsMs: timings.laps,
    },
    warnings,
  })
  if (run.kind === 'unplanned') return unchanged(explain(run.plan, budget))
  if (run.kind === 'failed') {
    options.signal?.throwIfAborted()
    const explanation = `The summary could not be written: ${redact(messageOf(run.error))}.`
    return unchanged({ outcome: 'refused', reason: 'summary-failed', explanation })
  }
  const { made, after, verdict } = run
  const larger = (made?.reply.finish ?? 'stop') === 'stop' && whyLarger(run, before, request)
  if (larger) return unchanged({ outcome: 'kept', reason: 'would-not-shrink', explanation: larger })
  const [violation] = verdict.violations
  // An overlong summary was already shortened and cut: nothing else can be made smaller.
  if (violation?.law === 'I13') {
    const explanation = `No result fits the target: ${violation.detail}.`
    return unchanged({ outcome: 'cannot-fit', reason: 'target-too-small', explanation, verdict })
  }
  if (violation !== undefined) {
    const explanation = `The result was refused and nothing changed: ${violation.detail}.`
    const reason = REFUSALS[violation.law]
    return unchanged({ outcome: 'refused', reason, explanation, verdict })
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
        overheadTokens,
        counters,
      }),
      messagesBefore: messages.length,
      timingsMs: timings.laps,
    },
    warnings: [
      ...warnings,
      ...warnOfRepetition(made?.handoff.compactions ?? 0, options.warnFrom),
      ...warnOfSilence(made?.preserved),
      ...(made?.reply.isCut ? [CUT_WARNING] : []),
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
  // What was clipped or carried along can outweigh what was won.
  if (tokensAfter < plan.tokensBefore) return undefined
  return `The result would not be smaller than the ${plan.tokensBefore} tokens there are.`
}

const CUT_WARNING =
  'The summary was still too long after one request to shorten it, so it was cut between its points.'

/** The user's words are the last thing that anybody expects to miss. */
function warnOfSilence(preserved: Required<CheckedRun>['made']['preserved'] | undefined): string[] {
  if (preserved === undefined || preserved.messages.length > 0 || preserved.dropped === 0) return []
  return [
    `None of the user's ${preserved.dropped} requests fitted word for word; a larger target keeps them.`,
  ]
}

function prepare(messages: readonly Message[], options: CompactOptions) {
  const { countTokens, summary } = options
  const family = options.family ?? familyOf(lastModel(messages))
  const systemTexts = new Set(
    messages.filter((message) => message.role === 'system').map((message) => textOf(message)),
  )
  const pins = (options.pins ?? []).filter((text) => !systemTexts.has(text))
  return {
    ...options,
    messages,
    trigger: options.trigger ?? 'manual',
    when: options.when ?? 'always',
    budget: resolveBudget(options.budget, options.preset),
    userTokens: options.budget?.userTokens,
    pins: pins.map((text): SystemMessage => ({ role: 'system', parts: [{ type: 'text', text }] })),
    counters: {
      countTokens: countTokens ?? ((text: string) => estimateText(text, family)),
      countMessage: messageCounter(family, countTokens),
    },
    overheadTokens: options.overheadTokens ?? 0,
    summary: summary === undefined ? undefined : redact(cleanSummary(summary)),
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
