import { isObject } from '../base/json.ts'
import { show } from '../base/option-checks.ts'
import { ThroughlineError } from '../base/throughline-error.ts'
import { ALL_DIALECTS } from '../message/dialects/all.ts'
import type { ProviderDialect } from '../message/dialects/provider-dialect.ts'
import { writeOutOtherHandoffs } from '../message/handoff/envelope.ts'
import type { Message } from '../message/message.ts'
import { repairPairs } from '../message/pairing.ts'
import { type CompactOptions, checkCompactOptions, prepare } from './compact-options.ts'
import { planAndRun } from './plan-and-run.ts'
import { type CompactResult, explain } from './report/outcome.ts'
import { stopwatch } from './report/stats.ts'
import { unchanged } from './report/unchanged.ts'
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
  const { budget, trigger } = request
  const first = await planAndRun(request)
  const fault =
    first.kind === 'failed' && first.error instanceof SummaryFailedError
      ? first.error.fault
      : undefined
  const { summarize: _, ...withoutWriter } = request
  const run = fault === undefined ? first : await planAndRun(withoutWriter)
  const { plan } = run
  if (fault !== undefined) warnings.push(UNUSABLE_WARNING(fault))
  const compaction = { messages, plan, trigger, timings, warnings }
  if (run.kind === 'unplanned') return unchanged(compaction, explain(run.plan, budget))
  if (run.kind !== 'checked') options.signal?.throwIfAborted()
  if (run.kind === 'unloaded') {
    return unchanged(compaction, {
      outcome: 'refused',
      reason: 'summary-failed',
      explanation: 'The code that compacts could not be loaded; the next call tries again.',
    })
  }
  return run.conclude({ ...compaction, before, request })
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

const UNUSABLE_WARNING = (fault: string) =>
  `The writer answered with a text that is no summary (${fault}); the digest takes its place.`
