import type { PutNoteOutcome } from '#core/store/operational-rows'
import type { KindCount } from './hermes/import/kinds.ts'

/**
 * What an import did, with every row of the foreign store in exactly one place:
 *
 *   rows in = brought now + there before + copies + without words + left behind
 */
export interface ImportReport {
  readonly format: 'throughline-import'
  readonly version: 1
  readonly path: string
  readonly isDryRun: boolean
  readonly profiles: readonly ProfileReport[]
  /** Profiles that could not be brought, or not to their end. */
  readonly unread: readonly UnreadProfile[]
}

export interface UnreadProfile {
  readonly name: string
  readonly store: string
  readonly problem: string
}

export interface ProfileReport {
  readonly name: string
  readonly store: string
  /** What is counted: rows of a store, or lines of logs. */
  readonly unit: 'row' | 'line'
  readonly agent: string
  readonly remarks: readonly string[]
  readonly conversations: readonly ConversationReport[]
  readonly rows: RowCount
  /** Null: lines of logs are not counted so. */
  readonly kinds: KindCount | null
  readonly routes: readonly RouteReport[]
  readonly settings: readonly SettingNote[]
  /** The settings that have a counterpart, as YAML; empty: none. */
  readonly proposal: string
  readonly memories: readonly MemoryNote[]
  readonly leftBehind: readonly LeftBehind[]
}

export interface RowCount {
  /** As the foreign store counts them. */
  readonly in: number
  readonly brought: number
  readonly before: number
  readonly copies: number
  /** Lines of a log that only the program reads. */
  readonly silent: number
  readonly left: number
}

export interface ConversationReport {
  /** The id of its first session there. */
  readonly rootId: string
  readonly sessionId: string
  /** All its ids there, oldest first. */
  readonly ids: readonly string[]
  readonly title: string | null
  readonly outcome: ImportOutcome
  readonly rows: RowCount
  readonly kinds?: KindCount
  readonly messages: number
  readonly compactions: number
  /** Taken back by the user; kept beside the conversation. */
  readonly rewound: number
  /** Rows delivered after a closing, put back in their place by time. */
  readonly restored: readonly number[]
  /** Entries that no row says: the one about where it comes from. */
  readonly made: number
  /** Every difference between what was there and what is here. */
  readonly differences: readonly string[]
}

export type ImportOutcome =
  | 'new'
  | 'continued'
  | 'unchanged'
  | 'taken'
  | 'gone'
  | 'held'
  | 'in-use'
  | 'unreadable'

export interface RouteReport {
  readonly key: string
  readonly sessionId: string
  readonly route: { readonly channel: string; readonly address: string } | null
  readonly outcome: 'pointed' | 'unchanged' | 'taken' | 'nowhere' | 'not-brought' | 'torn'
}

export interface SettingNote {
  readonly key: string
  readonly value: string
  /** Our key, where there is one. */
  readonly becomes: string | null
  readonly note: string
}

export interface MemoryNote {
  readonly file: string
  readonly id: string
  readonly outcome: PutNoteOutcome['kind'] | 'unchanged' | 'would-note'
}

export interface LeftBehind {
  readonly what: string
  readonly path: string
  readonly advice: string
}

export function addUp(counts: readonly RowCount[]): RowCount {
  const sum = (key: keyof RowCount) => counts.reduce((total, count) => total + count[key], 0)
  return {
    in: sum('in'),
    brought: sum('brought'),
    before: sum('before'),
    copies: sum('copies'),
    silent: sum('silent'),
    left: sum('left'),
  }
}

/** Rows that are in no place, or in two; 0 or the import was not right. */
export function unaccounted({ in: given, ...placed }: RowCount): number {
  return Object.values(placed).reduce((rest, count) => rest - count, given)
}
