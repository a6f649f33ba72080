import type { EntryNumber, RunnerId, SessionId } from '../base/ids.ts'
import type { Entry, SessionRow } from './tables/rows.ts'

/** The right to write to one session, as a value. The store refuses an outdated lease. */
export interface Lease {
  readonly sessionId: SessionId
  readonly runner: RunnerId
  readonly holder: string
  readonly fence: number
}

export interface Tail {
  readonly number: EntryNumber
  readonly hash: string
}

/**
 * What a commit wrote: the session's row afterwards, and the entries it appended. Its holder has no
 * need to read them again.
 */
export interface WrittenRows {
  readonly session: SessionRow
  readonly entries: readonly Entry[]
}

export type Done = { readonly kind: 'done' }
export type Lost = { readonly kind: 'lost' }
export type Gone = { readonly kind: 'gone' }
/** `fence`: another holder took over. `tail`: the caller's tail is outdated. `gone`: deleted. */
export type Superseded = { readonly kind: 'superseded'; readonly by: 'fence' | 'tail' | 'gone' }
export type Appended = { readonly kind: 'appended'; readonly tail: Tail }
export type AppendedRows = Appended & { readonly written: WrittenRows }

/** Why a control item was refused; if room was missing, how much. */
export interface Refusal {
  readonly why:
    | 'no-room'
    | 'nothing-to-revert'
    | 'nothing-to-compact'
    | 'tried-too-often'
    | 'out-of-date'
    | 'no-replacement'
    | 'unknown-pin'
    | 'unknown-entry'
    | 'elsewhere'
    | 'compaction-failed'
    | 'not-understood'
  readonly tokensAfter?: number
  readonly limit?: number
}
