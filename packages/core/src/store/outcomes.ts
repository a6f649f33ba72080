import type { EntryNumber, RunnerId, SessionId } from '../base/ids.ts'

/** The right to write to one session, by value: an older lease is refused. */
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

export type Done = { readonly kind: 'done' }
export type Lost = { readonly kind: 'lost' }
export type Gone = { readonly kind: 'gone' }
/** `fence`: another holder. `tail`: our own picture is old. `gone`: deleted. */
export type Superseded = { readonly kind: 'superseded'; readonly by: 'fence' | 'tail' | 'gone' }
export type Appended = { readonly kind: 'appended'; readonly tail: Tail }

/** Why a control item was turned down; where room was missing, how much. */
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
    | 'not-understood'
  readonly tokensAfter?: number
  readonly limit?: number
}
