import {
  checkFunction,
  checkKeys,
  checkOneOf,
  checkSignal,
  checkString,
} from '../base/option-checks.ts'
import type { Task } from '../message/handoff/handoff.ts'
import { lastModel } from '../message/last-model.ts'
import type { Message, SystemMessage } from '../message/message.ts'
import { textOf } from '../message/text.ts'
import { messageCounter } from '../tokens/count.ts'
import { estimateText } from '../tokens/estimate.ts'
import { familyOf, MODEL_FAMILIES, type ModelFamily } from '../tokens/family.ts'
import { type CountTokens, checkedCounter } from './counters.ts'
import { resolveBudget } from './plan/budget.ts'
import { type BudgetSettings, checkBudget, PRESETS, type PresetName } from './plan/defaults.ts'
import type { Trigger } from './plan/plan.ts'
import type { SummaryWriter } from './summary/summary-writer.ts'

export interface CompactOptions {
  /** Settings to start from; `budget` overrides them one by one. */
  readonly preset?: PresetName
  readonly budget?: Partial<BudgetSettings>
  /** Which model's tokens are counted; absent: the model that the conversation names. */
  readonly family?: ModelFamily
  /** An exact counter instead of the family's estimate. */
  readonly countTokens?: CountTokens
  /** Why it is requested; `preflight` keeps the newest request in full. Default: `manual`. */
  readonly trigger?: Trigger
  /** `needed` checks the threshold first; `always` (the default) also compacts what would fit. */
  readonly when?: 'always' | 'needed'
  /** What the summary should focus on. */
  readonly focus?: string
  /** Replaces the built-in instructions to the summary's writer. */
  readonly prompt?: string
  /** Texts that every context contains byte for byte, in the system role. */
  readonly pins?: readonly string[]
  /** The open task list; absent: the newest one that the conversation shows. */
  readonly tasks?: readonly Task[]
  /** Tokens sent beside the messages, such as tool schemas. */
  readonly overheadTokens?: number
  /** A summary written elsewhere; its secrets are masked, and other sections give way to it. */
  readonly summary?: string
  /**
   * Writes the summary; without it and without `summary`, the digest does, which needs no model.
   * The reply is checked: if it is not a summary, the writer is asked once more, and then the
   * digest takes its place.
   */
  readonly summarize?: SummaryWriter
  /** Warn from this compaction of a conversation on; default 2. */
  readonly warnFrom?: number
  /** Passed to the writer; aborting it rejects the promise. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: { stage: 'summary'; done: number; of: number }) => void
  /** A clock for `stats.timingsMs`; without it nothing is timed. */
  readonly now?: () => number
}

const OPTIONS = [
  ...['preset', 'budget', 'family', 'countTokens', 'trigger', 'when', 'focus', 'prompt', 'pins'],
  ...['tasks', 'overheadTokens', 'summary', 'summarize', 'warnFrom', 'signal', 'onProgress', 'now'],
]

/** A misspelt or impossible option would otherwise change the result silently. */
export function checkCompactOptions(options: CompactOptions): void {
  checkKeys(options, OPTIONS)
  checkBudget(options.budget ?? {})
  checkOneOf('preset', options.preset, Object.keys(PRESETS))
  checkOneOf('family', options.family, MODEL_FAMILIES)
  checkOneOf('when', options.when, ['always', 'needed'])
  checkString('focus', options.focus)
  checkString('summary', options.summary)
  checkSignal(options.signal)
  for (const name of ['countTokens', 'summarize', 'onProgress', 'now'] as const) {
    if (options[name] !== undefined) checkFunction(name, options[name])
  }
}

/** Fills in the options that the caller left open. */
export function prepare(messages: readonly Message[], options: CompactOptions) {
  const { countTokens } = options
  const count = countTokens && checkedCounter(countTokens)
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
      countTokens: count ?? ((text: string) => estimateText(text, family)),
      countMessage: messageCounter(family, count),
    },
    overheadTokens: options.overheadTokens ?? 0,
  }
}
