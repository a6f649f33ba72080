import type { EntryNumber } from '../base/ids.ts'
import type { JsonValue } from '../base/json.ts'
import type { Fenced } from './commits.ts'
import type { Appended, Superseded } from './outcomes.ts'
import type { CompactionBy, InputLane, ResultOutcome } from './tables/rows.ts'

/**
 * History from another store, appended after the session's entries. Each entry keeps its own time.
 */
export interface AdoptEntries extends Fenced {
  readonly entries: readonly AdoptedEntry[]
}
export type AdoptedEntry = {
  /** The row in the other store, or null if the entry has no row there. */
  readonly row: number | null
  readonly at: number
  readonly body: JsonValue
  readonly tokens: number
} & (
  | {
      readonly kind: 'input'
      readonly lane: InputLane
      /** Staged beforehand; from now on this entry uses them. */
      readonly blobs?: readonly string[]
    }
  | { readonly kind: 'assistant'; readonly calls: readonly string[] }
  | {
      readonly kind: 'result'
      readonly call: string
      readonly outcome: ResultOutcome
      readonly blobs?: readonly string[]
    }
  /** A handoff that replaces entries 1..covers. `by`: absent if that is not known. */
  | { readonly kind: 'compaction'; readonly covers: EntryNumber; readonly by?: CompactionBy }
  /** Withdrawn messages: kept in the transcript, never part of a context. */
  | { readonly kind: 'aside' }
  | { readonly kind: 'settings' }
  /**
   * The conversation continues from `to` under the compaction `effective` (0: none). Without `to`
   * only the compaction in effect is undone.
   */
  | { readonly kind: 'rewind'; readonly to?: EntryNumber; readonly effective: EntryNumber }
)
export type AdoptEntriesOutcome =
  | Appended
  /** Created here or busy: only an idle, imported session accepts history. */
  | { readonly kind: 'not-imported' }
  | { readonly kind: 'in-use' }
  | Superseded
