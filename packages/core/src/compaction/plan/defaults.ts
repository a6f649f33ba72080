import {
  checkKeys,
  checkNumber,
  checkTokens,
  invalidOption,
  show,
} from '../../base/option-checks.ts'

/**
 * The default numbers of compaction, in one place. All are tokens unless the name says otherwise; a
 * caller overrides any of them, a preset several at once.
 */
export interface BudgetSettings {
  /** The model's context window, input and output together. */
  readonly windowTokens: number
  /** The longest answer the model may write; space for it is kept free. */
  readonly outputTokensMax: number
  /** Share of the usable window at which a compaction is due. */
  readonly softShare: number
  /** Share of the usable window that a compacted context may fill. */
  readonly targetShare: number
  /** Caps the whole compacted context; absent: `targetShare` decides. */
  readonly targetTokens?: number
  /** How much of the newest conversation stays word for word; absent: a fifth, at most 20,000. */
  readonly keepTokens?: number
  /** Messages at the start and at the end that stay word for word, whatever their size. */
  readonly protectFirst: number
  readonly protectLast: number
  /** The user's own words in the handoff. */
  readonly userTokens?: number
  readonly ledgerTokens?: number
  readonly summaryTokens?: number
  /** How much the model that writes the summary can read at once. */
  readonly summarizerWindowTokens?: number
}

/** For a model with a window of 200,000 tokens; set your own. */
export const DEFAULT_SETTINGS: BudgetSettings = {
  windowTokens: 200_000,
  outputTokensMax: 20_000,
  softShare: 0.75,
  targetShare: 0.35,
  protectFirst: 0,
  protectLast: 0,
}

/**
 * The behaviour of two well-known systems, as settings of our planner. Codex's cap of 20,000 tokens
 * for user messages applies to every preset here.
 */
export const PRESETS = {
  hermes: { softShare: 0.5, targetShare: 0.2, protectFirst: 3, protectLast: 20 },
  codex: { softShare: 0.9, keepTokens: 0 },
} satisfies Record<string, Partial<BudgetSettings>>

export type PresetName = keyof typeof PRESETS

const TOKENS = [
  ...['windowTokens', 'outputTokensMax', 'targetTokens', 'keepTokens', 'userTokens'],
  ...['ledgerTokens', 'summaryTokens', 'summarizerWindowTokens'],
] as const
const COUNTS = ['protectFirst', 'protectLast'] as const
const SHARES = ['softShare', 'targetShare'] as const

export function checkBudget(budget: Partial<BudgetSettings>): void {
  checkKeys(budget, [...TOKENS, ...COUNTS, ...SHARES], 'budget')
  checkTokens('budget.windowTokens', budget.windowTokens, 1)
  for (const name of TOKENS) checkTokens(`budget.${name}`, budget[name], 0)
  for (const name of COUNTS) {
    if (budget[name] !== undefined) checkNumber(`budget.${name}`, budget[name], 0)
  }
  for (const name of SHARES) {
    const share = budget[name]
    if (share === undefined || (share >= 0 && share <= 1)) continue
    throw invalidOption(`budget.${name}`, `"budget.${name}" is ${show(share)}. It is from 0 to 1.`)
  }
}

/** The most that each section of a compacted context takes if all fit. */
export const SECTION_TOKENS_MAX = {
  keep: 20_000,
  user: 20_000,
  ledger: 2_000,
  summary: 8_000,
  files: 800,
  tasks: 800,
} as const

/**
 * Shares of a small budget. The ledger's share is larger than its cap would suggest: per token it
 * keeps more of what the agent later uses than any other section (bench/retention).
 */
export const SECTION_SHARES = {
  keep: 0.3,
  user: 0.14,
  ledger: 0.24,
  summary: 0.24,
  files: 0.04,
  tasks: 0.04,
} as const

/** The envelope's own text: header, preamble, section titles. */
export const ENVELOPE_TOKENS = 190
