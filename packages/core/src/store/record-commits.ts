import type { EntryNumber, OperationId, SessionId } from '../base/ids.ts'
import type { JsonValue } from '../base/json.ts'
import type { TooLarge } from './operational-rows.ts'
import type { Gone } from './outcomes.ts'
import type { ResultOutcome } from './tables/rows.ts'

/** What another program did, recorded once per key. */
export interface RecordEntries {
  readonly sessionId: SessionId
  readonly source: string
  readonly key: string
  readonly operation: OperationId
  /** Refuse unless this is the newest entry, for callers that decided by what they read. */
  readonly after?: EntryNumber
  readonly what: /** A turn from its input to its answer, all in one commit. */
    | { readonly kind: 'turn'; readonly steps: readonly RecordedStep[] }
    /** Never in a context and not searched: only the program that wrote them reads them. */
    | { readonly kind: 'records'; readonly bodies: readonly JsonValue[] }
}

export type RecordedStep = {
  readonly body: JsonValue
  readonly tokens: number
  readonly blobs?: readonly string[]
} & (
  | { readonly kind: 'input' }
  | { readonly kind: 'assistant'; readonly calls: readonly string[] }
  | { readonly kind: 'result'; readonly call: string; readonly outcome: ResultOutcome }
)

/** `entry` is the one that carries the key: the first record, or the end of the turn. */
export type RecordOutcome =
  | { readonly kind: 'recorded' | 'duplicate' | 'conflict'; readonly entry: EntryNumber }
  /** `after` is no longer the newest entry. */
  | { readonly kind: 'moved' }
  /** The session is running a turn. */
  | { readonly kind: 'in-use' }
  | { readonly kind: 'blob-missing'; readonly hash: string }
  | TooLarge
  | { readonly kind: 'unknown' }
  | Gone
