import {
  type BudgetSettings,
  DEFAULT_SETTINGS,
  PRESETS,
  type PresetName,
  SECTION_SHARES,
  SECTION_TOKENS_MAX,
} from './defaults.ts'

/** Settings resolved to numbers for one model: when to compact, and how large the result may be. */
export interface Budget {
  readonly settings: BudgetSettings
  /** Above this a request cannot be sent. */
  readonly hardTokens: number
  /** From here on a compaction is due. */
  readonly softTokens: number
  /** The compacted context is at most this large. */
  readonly targetTokens: number
  readonly keepTokens: number
}

/** The defaults, then the preset, then the overrides. */
export function resolveBudget(
  overrides: Partial<BudgetSettings> = {},
  preset?: PresetName,
): Budget {
  const settings = {
    ...DEFAULT_SETTINGS,
    ...(preset === undefined ? {} : PRESETS[preset]),
    ...overrides,
  }
  const reserveTokens = Math.min(
    settings.outputTokensMax,
    20_000,
    Math.floor(settings.windowTokens / 10),
  )
  const hardTokens = settings.windowTokens - reserveTokens
  return {
    settings,
    hardTokens,
    softTokens: Math.round(settings.softShare * hardTokens),
    targetTokens: Math.min(
      settings.targetTokens ?? Math.round(settings.targetShare * hardTokens),
      hardTokens,
    ),
    keepTokens:
      settings.keepTokens ?? Math.min(SECTION_TOKENS_MAX.keep, Math.floor(hardTokens / 5)),
  }
}

export type ContextSection = keyof typeof SECTION_TOKENS_MAX

/** How much each section of the compacted context may take. */
export type Allotment = Readonly<Record<ContextSection, number>>

/** The budget of a handoff: every section but the tail. */
export function handoffTokensOf({ keep: _, ...sections }: Allotment): number {
  return Object.values(sections).reduce((sum, tokens) => sum + tokens, 0)
}

/** A handoff without a summary is refused, so some space is always left for it. */
const SUMMARY_SHARE_MIN = 0.15

const SECTIONS = Object.keys(SECTION_TOKENS_MAX) as ContextSection[]

/**
 * Divides `tokens` among the sections. Explicit requests of the caller come first; the others get
 * their share, up to their caps, and the space that capped sections leave is divided again.
 */
export function allot(
  tokens: number,
  { settings, keepTokens }: Budget,
  summaryTokens = settings.summaryTokens,
): Allotment {
  const asked: Partial<Record<ContextSection, number>> = {
    ...(settings.keepTokens !== undefined && { keep: settings.keepTokens }),
    ...(settings.userTokens !== undefined && { user: settings.userTokens }),
    ...(settings.ledgerTokens !== undefined && { ledger: settings.ledgerTokens }),
    ...(summaryTokens !== undefined && { summary: summaryTokens }),
  }
  const result = { keep: 0, user: 0, ledger: 0, summary: 0, files: 0, tasks: 0 }
  const summaryMin = asked.summary === undefined ? Math.floor(tokens * SUMMARY_SHARE_MIN) : 0
  let left = Math.max(0, tokens - summaryMin)
  // If even the explicit requests do not fit, the order is by value per token.
  for (const section of ['summary', 'ledger', 'user', 'keep'] as const) {
    const tokens = asked[section]
    if (tokens === undefined) continue
    result[section] = Math.min(tokens, left)
    left -= result[section]
  }
  left += Math.max(0, summaryMin)
  let sharing = SECTIONS.filter((section) => asked[section] === undefined)
  while (sharing.length > 0 && left > 0) {
    const weight = sharing.reduce((sum, section) => sum + SECTION_SHARES[section], 0)
    const capOf = (section: ContextSection) =>
      section === 'keep' ? keepTokens : SECTION_TOKENS_MAX[section]
    const capped = sharing.filter(
      (section) => capOf(section) <= (left * SECTION_SHARES[section]) / weight,
    )
    const resolved = capped.length > 0 ? capped : sharing
    const before = left
    for (const section of resolved) {
      const share = Math.floor((before * SECTION_SHARES[section]) / weight)
      result[section] = Math.min(capOf(section), share)
      left -= result[section]
    }
    sharing = capped.length > 0 ? sharing.filter((section) => !capped.includes(section)) : []
  }
  return result
}
