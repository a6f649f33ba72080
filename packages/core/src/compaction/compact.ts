import { writeOutOtherHandoffs } from '../message/envelope.ts'
import type { Handoff, Task } from '../message/handoff.ts'
import { lastModel } from '../message/last-model.ts'
import type { Message } from '../message/message.ts'
import { repairPairs } from '../message/pairing.ts'
import { textOf } from '../message/text.ts'
import { messageCounter } from '../tokens/count.ts'
import { estimateText } from '../tokens/estimate.ts'
import { familyOf, type ModelFamily } from '../tokens/family.ts'
import { measure, tokensBetween } from '../tokens/measure.ts'
import { assemble, systemMessagesOf, withoutBodies } from './assemble.ts'
import { check, type Verdict } from './check.ts'
import type { CountTokens } from './counters.ts'
import { ENVELOPE_TOKENS, type Made, makeHandoff, type Setting } from './make-handoff.ts'
import { handoffTokensOf, resolveBudget } from './plan/budget.ts'
import type { BudgetSettings, PresetName } from './plan/defaults.ts'
import { plan, type Trigger } from './plan/plan.ts'
import type { Preserved } from './plan/preserve.ts'
import { redact } from './redact/redact.ts'
import { type CompactResult, explain, REFUSALS, warnOfRepetition } from './report/outcome.ts'
import { buildStats, EMPTY_STATS } from './report/stats.ts'
import { stopwatch } from './report/stopwatch.ts'
import { cleanSummary } from './summary/prompt.ts'
import type { SummaryWriter } from './summary/summarize.ts'

/**
 * Any conversation in, a smaller valid one out. The parts are pure (plan, assemble, check…); this is
 * the one place that puts them in order and waits for the summary's writer.
 */
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
  const paired = writeOutOtherHandoffs(repaired)
  const warnings = repairs.map((repair) => repair.explanation)
  const setting = prepare(paired, options)
  const { counters, budget, pins } = setting
  const sumTokens = (list: readonly Message[]) =>
    list.reduce((sum, message) => sum + counters.countMessage(message), 0)
  const trigger = options.trigger ?? 'manual'
  const timings = stopwatch(options.now)

  const measured = measure(paired, counters.countMessage)
  const held = systemMessagesOf(paired, 0, paired.length)
  const middle = held.filter((message, index) => paired[index] !== message)
  const planned = plan(measured, {
    budget,
    trigger,
    when: options.when ?? 'always',
    ...(setting.summary !== undefined && {
      summaryTokens: counters.countTokens(setting.summary) + ENVELOPE_TOKENS,
    }),
    overheadTokens: (options.overheadTokens ?? 0) + sumTokens(pins),
    carriedTokens: sumTokens(middle),
    countBare: (message) => counters.countMessage(withoutBodies(message)),
  })
  timings.lap('plan')

  const unchanged = (
    result: Pick<CompactResult, 'outcome' | 'reason' | 'explanation'> & { verdict?: Verdict },
  ): CompactResult => ({
    ...result,
    messages,
    plan: planned,
    stats: {
      ...EMPTY_STATS,
      trigger,
      tokensBefore: planned.tokensBefore,
      tokensAfter: planned.tokensBefore,
      messagesBefore: messages.length,
      messagesAfter: messages.length,
      timingsMs: timings.laps,
    },
    warnings,
  })
  if (planned.kind !== 'compact') return unchanged(explain(planned, budget))

  let handoff: Handoff | undefined
  let made: Made | undefined
  if (planned.cut > planned.layout.headFrom) {
    try {
      made = await makeHandoff(paired, planned, setting, timings)
    } catch (error) {
      options.signal?.throwIfAborted()
      const explanation = `The summary could not be written: ${redact(messageOf(error))}.`
      return unchanged({ outcome: 'refused', reason: 'summary-failed', explanation })
    }
    handoff = made.handoff
    const covered = tokensBetween(measured, planned.layout.fixedTo, planned.cut)
    if (
      made.reply.finish === 'stop' &&
      counters.countMessage({ role: 'handoff', handoff }) >= covered
    ) {
      const explanation = `The handoff would not be smaller than the ${covered} tokens it covers.`
      return unchanged({ outcome: 'kept', reason: 'would-not-shrink', explanation })
    }
  }
  const after = assemble({
    messages: paired,
    plan: planned,
    ...(handoff !== undefined && { handoff }),
    pins,
    ...counters,
  })
  const tokensAfter = sumTokens(after) + (options.overheadTokens ?? 0)
  // What was clipped or carried along can outweigh what was won.
  if ((made?.reply.finish ?? 'stop') === 'stop' && tokensAfter >= planned.tokensBefore) {
    const explanation = `The result would not be smaller than the ${planned.tokensBefore} tokens there are.`
    return unchanged({ outcome: 'kept', reason: 'would-not-shrink', explanation })
  }
  timings.lap('assemble')
  const verdict = check({
    before: paired,
    after,
    plan: planned,
    hardTokens: budget.hardTokens,
    overheadTokens: options.overheadTokens ?? 0,
    pins,
    ...(made !== undefined && { finish: made.reply.finish }),
    summaryTokensMax: handoffTokensOf(planned.allotment),
    ...counters,
  })
  timings.lap('check')
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

  const covered = planned.cut - planned.layout.headFrom
  return {
    outcome: 'compacted',
    reason: planned.reason,
    explanation:
      handoff === undefined
        ? 'Large tool results were shortened; no handoff was needed.'
        : `${covered} messages went into a handoff, ${paired.length - planned.cut} stay word for word.`,
    messages: after,
    plan: planned,
    verdict,
    stats: {
      ...buildStats({
        before: paired,
        after,
        plan: planned,
        handoff,
        dropped: made?.preserved.dropped ?? 0,
        overheadTokens: options.overheadTokens ?? 0,
        counters,
      }),
      messagesBefore: messages.length,
      timingsMs: timings.laps,
    },
    warnings: [
      ...warnings,
      ...warnOfRepetition(handoff?.compactions ?? 0, options.warnFrom),
      ...warnOfSilence(made?.preserved),
      ...(made?.reply.isCut ? [CUT_WARNING] : []),
    ],
  }
}

const CUT_WARNING =
  'The summary was still too long after one request to shorten it, so it was cut between its points.'

/** The user's words are the last thing that anybody expects to miss. */
function warnOfSilence(preserved: Preserved | undefined): string[] {
  if (preserved === undefined || preserved.messages.length > 0 || preserved.dropped === 0) return []
  return [
    `None of the user's ${preserved.dropped} requests fitted word for word; a larger target keeps them.`,
  ]
}

function prepare(messages: readonly Message[], options: CompactOptions): Setting {
  const family = options.family ?? familyOf(lastModel(messages))
  const systemTexts = new Set(
    messages.filter((message) => message.role === 'system').map((message) => textOf(message)),
  )
  return {
    options,
    ...(options.summary !== undefined && { summary: redact(cleanSummary(options.summary)) }),
    budget: resolveBudget(options.budget, options.preset),
    pins: (options.pins ?? [])
      .filter((text) => !systemTexts.has(text))
      .map((text) => ({ role: 'system', parts: [{ type: 'text', text }] })),
    counters: {
      countTokens: options.countTokens ?? ((text) => estimateText(text, family)),
      countMessage: messageCounter(family, options.countTokens),
    },
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
