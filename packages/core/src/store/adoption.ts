import type { EntryNumber } from '../base/ids.ts'
import type { JsonValue } from '../base/json.ts'
import type { Fenced } from './commits.ts'
import type { Appended, Superseded } from './outcomes.ts'
import type { InputLane, ResultOutcome } from './rows.ts'

/** History from elsewhere, behind what the session holds. Each entry keeps its own time. */
export interface AdoptEntries extends Fenced {
  readonly entries: readonly AdoptedEntry[]
}
export type AdoptedEntry = {
  /** The foreign row; null for what no row says. */
  readonly row: number | null
  readonly at: number
  readonly body: JsonValue
  readonly tokens: number
} & (
  | {
      readonly kind: 'input'
      readonly lane: InputLane
      /** Staged before, and used by it from now on. */
      readonly blobs?: readonly string[]
    }
  | { readonly kind: 'assistant'; readonly calls: readonly string[] }
  | {
      readonly kind: 'result'
      readonly call: string
      readonly outcome: ResultOutcome
      readonly blobs?: readonly string[]
    }
  /** A handoff in the place of entries 1..covers. */
  | { readonly kind: 'compaction'; readonly covers: EntryNumber }
  /** Withdrawn messages: kept, but in no context. */
  | { readonly kind: 'aside' }
  | { readonly kind: 'settings' }
  /** The conversation continues from this entry, under this compaction (0: none). */
  | { readonly kind: 'rewind'; readonly to: EntryNumber; readonly effective: EntryNumber }
)
export type AdoptEntriesOutcome =
  | Appended
  /** Born here, or in the middle of something: only an imported session at rest takes history. */
  | { readonly kind: 'not-imported' }
  | { readonly kind: 'in-use' }
  | Superseded
