import type { PutNoteOutcome } from '#core/store/operational-rows'
import type { KindCount } from './hermes/import/kinds.ts'

/**
 * What an import did. Every row of the foreign store is counted in exactly one place:
 *
 *   rows in = brought now + there before + copies + without words + left behind
 */
export interface ImportReport {
  readonly format: 'throughline-import'
  readonly version: 1
  readonly path: string
  readonly isDryRun: boolean
  readonly profiles: readonly ProfileReport[]
  /** Profiles that could not be imported, or not completely. */
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
  /** Null for logs, whose lines are not counted this way. */
  readonly kinds: KindCount | null
  readonly routes: readonly RouteReport[]
  readonly settings: readonly SettingNote[]
  /** The settings that have a counterpart, as YAML; may be empty. */
  readonly proposal: string
  readonly memories: readonly MemoryNote[]
  readonly leftBehind: readonly LeftBehind[]
}

export interface RowCount {
  /** The foreign store's own count. */
  readonly in: number
  readonly brought: number
  readonly before: number
  readonly copies: number
  /** Lines of a log that only the program reads. */
  readonly silent: number
  readonly left: number
}

export interface ConversationReport {
  /** The id of its first session in the foreign store. */
  readonly rootId: string
  readonly sessionId: string
  /** All its ids in the foreign store, oldest first. */
  readonly ids: readonly string[]
  readonly title: string | null
  readonly outcome: ImportOutcome
  readonly rows: RowCount
  readonly kinds?: KindCount
  readonly messages: number
  readonly compactions: number
  /** Taken back by the user; kept outside the conversation. */
  readonly rewound: number
  /** Rows delivered after a closing, sorted back in by time. */
  readonly restored: readonly number[]
  /** Entries that bring no row: the one that records the origin, a change to the other side of a fork. */
  readonly made: number
  /** Every difference between the source and the imported session. */
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
  /** Our key, if there is one. */
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

/** Rows counted nowhere or twice; any value but 0 means that the import is wrong. */
export function unaccounted({ in: given, ...placed }: RowCount): number {
  return Object.values(placed).reduce((rest, count) => rest - count, given)
}
