import {
  checkBelowWindow,
  checkFunction,
  checkKeys,
  checkOneOf,
  checkSignal,
  checkString,
  checkTokens,
  invalidOption,
  show,
} from '../base/option-checks.ts'
import { ThroughlineError } from '../base/throughline-error.ts'
import { compactFor } from '../compaction/compact.ts'
import type { CompactOptions } from '../compaction/compact-options.ts'
import { resolveBudget } from '../compaction/plan/budget.ts'
import { type BudgetSettings, DEFAULT_SETTINGS } from '../compaction/plan/defaults.ts'
import type { CompactResult } from '../compaction/report/outcome.ts'
import type { CompactStats } from '../compaction/report/stats.ts'
import type { SummaryWriter } from '../compaction/summary/summary-writer.ts'
import { familyOf } from '../tokens/family.ts'
import {
  checkItems,
  type Format,
  type FormatInternals,
  type FormatShape,
  internalsOf,
} from './typed-formats/format.ts'

/** Writes a summary: ask any model with `system` and `prompt`, and return its text. */
export type Summarize = (
  request: { readonly system: string; readonly prompt: string; readonly maxTokens: number },
  signal: AbortSignal,
) => Promise<string | { readonly text: string; readonly isComplete: boolean }>

export interface CompactMessagesOptions {
  /**
   * The model's context window, input and output together. Required unless `targetTokens` is given.
   */
  readonly contextWindow?: number
  /** The result is at most this large. */
  readonly targetTokens?: number
  /** The longest answer that the model may write; space for it stays free. */
  readonly maxOutputTokens?: number
  /**
   * `needed` (default) compacts only a conversation that is too long; `always` also one that would
   * fit.
   */
  readonly when?: 'needed' | 'always'
  /** The model's name, so that tokens are estimated as it counts them. */
  readonly model?: string
  /** Counts the tokens of a text exactly, in place of the estimate. */
  readonly countTokens?: (text: string) => number
  /** What the summary should focus on. */
  readonly focus?: string
  /** Without it the summary is a digest, which needs no model. */
  readonly summarize?: Summarize
  /** Aborting rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

export interface CompactedFigures {
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** A sentence for people. */
  readonly explanation: string
  readonly warnings: readonly string[]
  readonly stats: CompactStats
}

/** `messages` can always be sent on: unless `kind` is `compacted`, it is the array that was given. */
export type Compacted<Message> = CompactedFigures & { readonly messages: Message[] } & (
    | { readonly kind: 'compacted'; readonly by: 'model' | 'digest' | 'clearing' }
    | {
        readonly kind: 'unchanged'
        readonly reason: 'fits' | 'too-short' | 'would-not-shrink' | 'already-compacted'
      }
    | {
        readonly kind: 'cannot-fit'
        readonly reason: 'system-too-large' | 'newest-too-large' | 'target-too-small'
        /** The smallest `targetTokens` that the conversation may fit. */
        readonly neededTokens: number
      }
    | {
        readonly kind: 'failed'
        readonly reason: 'summary-failed' | 'summary-incomplete' | 'summary-unsafe'
        /** What `summarize` threw. */
        readonly cause?: unknown
      }
  )

/**
 * Makes a conversation fit: the older part becomes a handoff from which any model can continue, the
 * newest part stays word for word. Messages come out as they went in, in the library's own types.
 *
 * Calling it on its own result changes nothing until the conversation grows. Throws only for misuse
 * (`ThroughlineError`) and when `signal` aborts; every other outcome is a value.
 *
 * ```ts
 * const { messages } = await compactMessages(openaiChat, history, { contextWindow: 128_000 })
 * ```
 */
export async function compactMessages<Shape extends FormatShape>(
  format: Format<Shape>,
  messages: readonly NoInfer<Shape['message']>[],
  options: CompactMessagesOptions,
): Promise<Compacted<Shape['message']>> {
  const internals = internalsOf(format)
  checkOptions(options)
  options.signal?.throwIfAborted()
  const { codec, dialect } = internals
  const conversation = codec.parse(checkItems(internals, messages, 'messages'))
  const caught: Caught = {}
  const settings = budgetOf(options)
  const result = await compactFor([dialect], conversation.messages, {
    ...compactOptions(options, internals, caught),
    budget: settings,
  })
  // An abort that came too late for the writer still counts.
  options.signal?.throwIfAborted()
  const { explanation, warnings, stats } = result
  const { tokensBefore, tokensAfter } = stats
  // One message of a format may be several of ours, and the other way round.
  const figures = (messagesAfter: number) => ({
    ...{ tokensBefore, tokensAfter, explanation, warnings },
    stats: { ...stats, messagesBefore: messages.length, messagesAfter },
  })
  if (result.outcome !== 'compacted') {
    const given = messages as Shape['message'][]
    const why = whyUnchanged(result, settings, caught)
    return { ...figures(given.length), messages: given, ...why }
  }
  // Loaded before, or nothing would have been compacted.
  const { normalizeFor } = await import('../compaction/conclude.ts')
  const legal = internals.legal?.(result.messages) ?? normalizeFor(dialect, result.messages)
  const written = codec.format({ ...conversation, messages: legal })
  const by = stats.by === undefined ? 'clearing' : stats.by === 'model' ? 'model' : 'digest'
  const after = written as Shape['message'][]
  return { ...figures(after.length), kind: 'compacted', by, messages: after }
}

const OPTIONS = [
  ...['contextWindow', 'targetTokens', 'maxOutputTokens', 'when', 'model', 'countTokens'],
  ...['focus', 'summarize', 'signal'],
]

function checkOptions(options: CompactMessagesOptions): void {
  checkKeys(options, OPTIONS)
  const { contextWindow, targetTokens, maxOutputTokens, when } = options
  checkTokens('contextWindow', contextWindow)
  checkTokens('targetTokens', targetTokens)
  checkTokens('maxOutputTokens', maxOutputTokens, 1)
  checkBelowWindow('targetTokens', targetTokens, contextWindow)
  checkBelowWindow('maxOutputTokens', maxOutputTokens, contextWindow)
  checkOneOf('when', when, ['needed', 'always'])
  checkString('model', options.model)
  checkString('focus', options.focus)
  checkSignal(options.signal)
  for (const name of ['countTokens', 'summarize'] as const) {
    if (options[name] !== undefined) checkFunction(name, options[name])
  }
  if (contextWindow === undefined && targetTokens === undefined) {
    throw invalidOption(
      'contextWindow',
      'Give "contextWindow", the model\'s window, or "targetTokens", the largest result.',
    )
  }
}

/** Without a window the target decides: a conversation above it is too long. */
function budgetOf(options: CompactMessagesOptions): Partial<BudgetSettings> {
  const { contextWindow, targetTokens, maxOutputTokens } = options
  const output = maxOutputTokens !== undefined && { outputTokensMax: maxOutputTokens }
  const target = targetTokens !== undefined && { targetTokens }
  if (contextWindow !== undefined) return { windowTokens: contextWindow, ...target, ...output }
  const windowTokens = Math.max(DEFAULT_SETTINGS.windowTokens, 2 * (targetTokens ?? 0))
  const { hardTokens } = resolveBudget({ windowTokens, ...output })
  return { windowTokens, ...target, ...output, softShare: (targetTokens ?? 0) / hardTokens }
}

interface Caught {
  error?: unknown
}

function compactOptions(
  options: CompactMessagesOptions,
  { family }: FormatInternals,
  caught: Caught,
): CompactOptions {
  const { when = 'needed', model, countTokens, focus, signal, summarize } = options
  return {
    when,
    family: model === undefined ? family : familyOf(model),
    ...(countTokens !== undefined && { countTokens }),
    ...(focus !== undefined && { focus }),
    ...(signal !== undefined && { signal }),
    ...(summarize !== undefined && { summarize: summaryWriter(summarize, caught) }),
  }
}

/** The writer for compaction. Its error is kept here, because compaction keeps only the message. */
export function summaryWriter(summarize: Summarize, caught: Caught = {}): SummaryWriter {
  return async ({ system, prompt, tokensMax }, signal) => {
    try {
      const written = await summarize({ system, prompt, maxTokens: tokensMax }, signal)
      if (typeof written === 'string') return { text: written, finish: 'stop' }
      if (typeof written?.text !== 'string') {
        throw new ThroughlineError(
          'reply-missing',
          `"summarize" returned ${show(written)}. Return the text of the summary, or { text, isComplete }.`,
          { at: 'summarize' },
        )
      }
      return { text: written.text, finish: written.isComplete ? 'stop' : 'length' }
    } catch (error) {
      caught.error = error
      throw error
    }
  }
}

const UNCHANGED: { readonly [reason: string]: 'fits' | 'too-short' | 'already-compacted' } = {
  fits: 'fits',
  'nothing-to-cut': 'too-short',
  'already-compacted': 'already-compacted',
}

const IN_THE_WAY: { readonly [reason: string]: 'system-too-large' | 'newest-too-large' } = {
  'fixed-part-too-large': 'system-too-large',
  'newest-message-too-large': 'newest-too-large',
}

const FAILURES: { readonly [reason: string]: 'summary-failed' | 'summary-incomplete' } = {
  'summary-failed': 'summary-failed',
  'incomplete-summary': 'summary-incomplete',
}

function whyUnchanged(
  { outcome, reason, plan }: CompactResult,
  settings: Partial<BudgetSettings>,
  { error }: Caught,
) {
  if (outcome === 'cannot-fit') {
    const missing = plan.kind === 'cannot-fit' ? plan.tokens - plan.available : plan.tokensBefore
    const neededTokens = resolveBudget(settings).targetTokens + missing
    return {
      kind: outcome,
      reason: IN_THE_WAY[reason] ?? 'target-too-small',
      neededTokens,
    } as const
  }
  if (outcome === 'refused') {
    const cause = error !== undefined && { cause: error }
    return { kind: 'failed', reason: FAILURES[reason] ?? 'summary-unsafe', ...cause } as const
  }
  return { kind: 'unchanged', reason: UNCHANGED[reason] ?? 'would-not-shrink' } as const
}
