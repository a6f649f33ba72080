import type { JsonObject } from '../base/json.ts'
import type { BudgetSettings } from '../compaction/plan/defaults.ts'
import { WARN_FROM } from '../compaction/report/outcome.ts'
import type { BusyPolicy, Limits } from '../store/tables/rows.ts'

/** Settings of the operator. Times are in milliseconds. */
export interface SessionSettings {
  readonly debounceMs: number
  /** Collected mail is delivered after this long, however much still arrives. */
  readonly collectMsMax: number
  /** How long an idle session is kept before its lease is released. */
  readonly lingerMs: number
  /** A session that is idle for this long is compacted if that is worthwhile; null: never. */
  readonly idleCompactionMs: number | null
  readonly retryMs: number
  readonly retryMsMax: number
  /** A turn whose model is down is tried again after this long, then doubling. */
  readonly modelRetryMs: number
  readonly modelRetryMsMax: number
  /** A turn whose holder was lost more often than this, without a step in between, is given up. */
  readonly lossesMax: number
  /** Attempts at a handoff by a model per session and window, digests not counted (I27). */
  readonly attemptsPerWindow: number
  readonly attemptWindowMs: number
  /**
   * When the next step does not fit: install a digest at once and let a model rewrite it in the
   * background, or wait for the model.
   */
  readonly atHardLimit: 'digest' | 'wait'
  readonly softShare: number
  readonly targetShare: number
  /** Sizes of a handoff's sections and protected messages, if they differ from the defaults. */
  readonly sections?: SectionSettings
  /** Replaces the built-in instructions for summaries. */
  readonly prompt?: string
  /** People are warned of repeated compaction from the n-th one of a session on; 0: never. */
  readonly warnFrom: number
}

export type SectionSettings = Partial<
  Pick<
    BudgetSettings,
    'keepTokens' | 'protectFirst' | 'protectLast' | 'userTokens' | 'ledgerTokens' | 'summaryTokens'
  >
>

export const SESSION_SETTINGS: SessionSettings = {
  debounceMs: 1_500,
  collectMsMax: 15_000,
  lingerMs: 30_000,
  idleCompactionMs: 30 * 60_000,
  retryMs: 500,
  retryMsMax: 60_000,
  modelRetryMs: 30_000,
  modelRetryMsMax: 10 * 60_000,
  // A kill says little against a turn: a machine that is short of memory may kill several in a row.
  lossesMax: 12,
  attemptsPerWindow: 8,
  attemptWindowMs: 10 * 60_000,
  atHardLimit: 'digest',
  softShare: 0.75,
  targetShare: 0.35,
  warnFrom: WARN_FROM,
}

/**
 * An agent's settings as configured. They enter a session as an entry, between two turns, because
 * the context is folded from entries and from nothing else (decision 1).
 */
export interface WantedSettings {
  readonly limits: Limits
  /** Absent: the session keeps its policy. */
  readonly policy?: BusyPolicy
  /** Contains the system text under `system`, and the other settings of a step. */
  readonly body: JsonObject & { readonly system: string }
  /** The tokens of the body in every context: the system text and the tool descriptions. */
  readonly tokens: number
}
