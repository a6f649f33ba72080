import type { EntryNumber, MailNumber, OperationId } from '../base/ids.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import type { Fenced } from './commits.ts'
import type { Lease, Refusal, Superseded, Tail } from './outcomes.ts'
import type { Clears, CompactionBy, OperationRow, OperationState } from './tables/rows.ts'

/** Requests and outcomes of the compaction verbs. */

export interface ClaimCompaction {
  readonly lease: Lease
  readonly operation: OperationId
  readonly by: CompactionBy
  readonly trigger: string
  readonly reason: string
  readonly requestedBy?: MailNumber
  readonly covers: EntryNumber
}
export type ClaimOutcome =
  | { readonly kind: 'claimed'; readonly operation: OperationRow }
  | { readonly kind: 'joined'; readonly operation: OperationRow }
  | { readonly kind: 'unseen'; readonly seen: EntryNumber }
  | { readonly kind: 'covered'; readonly covers: EntryNumber }
  | { readonly kind: 'no-digest' }
  | { readonly kind: 'tries-used'; readonly tries: number }
  | Superseded

export interface CommitCompaction extends Fenced {
  readonly body: JsonValue
  readonly tokens: number
  /** Covered input that stays in the context: at least all unanswered input (I34). */
  readonly carries?: readonly EntryNumber[]
  /** Of a clearing, and of no other: which results are shortened, all of them seen by a model. */
  readonly clears?: Clears
  readonly result: JsonObject
  readonly settles?: readonly MailNumber[]
}
export type CompactionOutcome =
  | { readonly kind: 'committed'; readonly tail: Tail; readonly entry: EntryNumber }
  | { readonly kind: 'ended'; readonly state: OperationState }
  /**
   * The commit would drop an unanswered message from the context, or carry one that is not in it.
   */
  | { readonly kind: 'unanswered' | 'not-shown'; readonly entry: EntryNumber }
  /** It would shorten results that no model has seen whole. */
  | { readonly kind: 'unseen'; readonly seen: EntryNumber }
  | Superseded

export interface FailCompaction {
  readonly operation: OperationId
  readonly fence: number
  readonly state: 'failed' | 'superseded'
  readonly reason: string
  readonly settles?: readonly MailNumber[]
  /** What those who requested it read. */
  readonly refused?: Refusal
}

export interface Revert extends Fenced {
  readonly target: EntryNumber
  /** The size of the context without the target, as the caller rendered it. */
  readonly tokensAfter: number
  readonly settles?: readonly MailNumber[]
}
export type RevertOutcome =
  | { readonly kind: 'reverted'; readonly tail: Tail; readonly effective: EntryNumber }
  | { readonly kind: 'not-newest'; readonly effective: EntryNumber }
  | { readonly kind: 'no-room'; readonly tokensAfter: number; readonly limit: number }
  | Superseded
