import type { EntryNumber, OperationId, SessionId } from '../base/ids.ts'
import type { Gone } from './outcomes.ts'
import type { SessionRow } from './tables/rows.ts'

/** Requests and outcomes of the fork verbs. */

/** A new session that starts with entries 1..at of another. Nothing is copied. */
export interface Fork {
  readonly id: SessionId
  readonly from: SessionId
  readonly at: EntryNumber
  readonly source: string
  readonly key: string
  readonly operation: OperationId
}
export type ForkOutcome =
  | { readonly kind: 'forked'; readonly session: SessionRow }
  | { readonly kind: 'duplicate'; readonly sessionId: SessionId }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'exists' }
  | { readonly kind: 'unknown-entry'; readonly tail: EntryNumber }
  | { readonly kind: 'unknown' }
  | Gone

/** Erases entries of a deleted session that are retained for its forks. */
export interface EraseRetained {
  readonly sessionId: SessionId
  readonly entries: readonly EntryNumber[]
  readonly operation: OperationId
  readonly reason: string
}
export type EraseRetainedOutcome =
  | { readonly kind: 'erased'; readonly entries: readonly EntryNumber[] }
  | { readonly kind: 'unknown-entry'; readonly entry: EntryNumber }
  /** The session is not deleted, so its holder must erase. */
  | { readonly kind: 'open' }
  | { readonly kind: 'unknown' }
