import { isObject } from '../base/json.ts'
import { show } from '../base/option-checks.ts'
import { ThroughlineError } from '../base/throughline-error.ts'
import { ALL_DIALECTS } from '../message/dialects/all.ts'
import type { ProviderDialect } from '../message/dialects/provider-dialect.ts'
import { writeOutOtherHandoffs } from '../message/handoff/envelope.ts'
import type { Message } from '../message/message.ts'
import { repairPairs } from '../message/pairing.ts'
import { type CompactionVerdict, coveredUpTo } from './check.ts'
import { type CompactOptions, checkCompactOptions, prepare } from './compact-options.ts'
import type { CheckedRun } from './pipeline.ts'
import { planAndRun } from './plan-and-run.ts'
import { redact } from './redact/redact.ts'
import { type CompactResult, explain, REFUSALS, warnOfRepetition } from './report/outcome.ts'
import { buildStats, EMPTY_STATS, stopwatch } from './report/stats.ts'
import { SummaryFailedError } from './summary/summary-writer.ts'

/**
 * Turns any conversation into a smaller valid one. No content and no writer makes it throw: every
 * outcome is a value, and `messages` is always usable (the input, unless the outcome is
 * `compacted`). Rejects only when `signal` aborts, or when the messages are not of our model.
 * Calling it on its own result changes nothing until the conversation grows.
 */
export async function compact(
  messages: readonly Message[],
  options: CompactOptions = {},
): Promise<CompactResult> {
  checkCompactOptions(options)
  return await compactFor(ALL_DIALECTS, messages, options)
}

/** The same, for a program that sends the result only to these providers. */
export async function compactFor(
  dialects: readonly ProviderDialect[],
  messages: readonly Message[],
  options: CompactOptions,
): Promise<CompactResult> {
  checkModel(messages)
  const { messages: repaired, repairs } = repairPairs(messages)
  const before = writeOutOtherHandoffs(repaired)
  const warnings = repairs.map((repair) => repair.explanation)
  const timings = stopwatch(options.now)
  const request = { ...prepare(before, options), dialects, timings }
  const { counters, budget, trigger, overheadTokens } = request
  const first = await planAndRun(request)
  const fault =
    first.kind === 'failed' && first.error instanceof SummaryFailedError
      ? first.error.fault
      : undefined
  const { summarize: _, ...withoutWriter } = request
  const run = fault === undefined ? first : await planAndRun(withoutWriter)
  const { plan } = run
  if (fault !== undefined) warnings.push(UNUSABLE_WARNING(fault))

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
    const explanation = `The summary could not be written: ${redact(messageOf(run.error))}`
    return unchanged({ outcome: 'refused', reason: 'summary-failed', explanation })
  }
  const { made, after, verdict } = run
  const larger = (made?.reply.finish ?? 'stop') === 'stop' && whyLarger(run, before, request)
  if (larger) return unchanged({ outcome: 'kept', reason: 'would-not-shrink', explanation: larger })
  const [violation] = verdict.violations
  // An overlong summary was already shortened and cut, so nothing else can be made smaller.
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
      ...(made?.reply.fault ? [GIVEN_WARNING(made.reply.fault)] : []),
    ],
  }
}

/** Another library's messages look similar, and would be counted as empty. */
function checkModel(messages: readonly Message[]): void {
  if (!Array.isArray(messages)) {
    throw new ThroughlineError('wrong-format', `"messages" is ${show(messages)}, not an array.`, {
      at: 'messages',
    })
  }
  const wrong = messages.findIndex((message) => !isObject(message) || !isOfModel(message))
  if (wrong < 0) return
  throw new ThroughlineError(
    'wrong-format',
    `Message ${wrong} has neither "parts" nor "handoff": these are messages of a library. ` +
      'Use compactMessages with its format, or read them with readConversation first.',
    { at: `messages[${wrong}]` },
  )
}

function isOfModel(message: object): boolean {
  return 'parts' in message || 'handoff' in message
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

const UNUSABLE_WARNING = (fault: string) =>
  `The writer answered with a text that is no summary (${fault}); the digest takes its place.`

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
