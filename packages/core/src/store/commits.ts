import type { EntryNumber, MailNumber, OperationId, RunnerId, SessionId } from '../base/ids.ts'
import type { JsonValue } from '../base/json.ts'
import type {
  Appended,
  AppendedRows,
  Gone,
  Lease,
  Lost,
  Refusal,
  Superseded,
  Tail,
  WrittenRows,
} from './outcomes.ts'
import type {
  AttemptRow,
  BlobRow,
  BusyPolicy,
  Entry,
  Lane,
  Limits,
  MailRow,
  MailState,
  ReplyRow,
  ResultOutcome,
  Route,
  RunnerRow,
  SessionRow,
  TurnEnd,
} from './tables/rows.ts'

/** Requests and outcomes of the commit verbs. */

/** What every append carries. After an unknown outcome, look for `operation` at tail + 1. */
export interface Fenced {
  readonly lease: Lease
  readonly tail: Tail
  readonly operation: OperationId
}

export interface Append extends Fenced {
  readonly body: JsonValue
  readonly tokens: number
  /** Control mail that this commit answers. */
  readonly settles?: readonly MailNumber[]
}

export interface CreateSession {
  readonly id: SessionId
  readonly agent: string
  readonly limits: Limits
  readonly policy: BusyPolicy
  /** Points this route at the new session, unless the route already points to one. */
  readonly route?: Route
  /** The scope to join; by default the session gets its own. */
  readonly scope?: string
  readonly operation: OperationId
}
export type CreateOutcome =
  | { readonly kind: 'created'; readonly session: SessionRow }
  /** The id is taken, possibly by a deleted session. */
  | { readonly kind: 'exists' }
  | { readonly kind: 'route-taken'; readonly sessionId: SessionId }
  | LimitsRefused

/** The limits add up to more than the hard limit, so a compaction could not always make room. */
export type LimitsRefused = {
  readonly kind: 'limits-refused'
  readonly neededTokens: number
  readonly hardTokens: number
}

export interface StartAfresh extends Pick<CreateSession, 'id' | 'limits' | 'policy' | 'operation'> {
  readonly source: string
  readonly key: string
  readonly route: Route
  /** The route's version as the caller read it; 0 when it pointed nowhere. */
  readonly version: number
}
export type AfreshOutcome =
  | { readonly kind: 'started'; readonly sessionId: SessionId; readonly left: SessionId | null }
  | { readonly kind: 'duplicate'; readonly sessionId: SessionId }
  | { readonly kind: 'route-changed'; readonly version: number }
  | { readonly kind: 'exists' }
  | { readonly kind: 'conflict' }
  | LimitsRefused

export interface PointRoute {
  readonly route: Route
  readonly sessionId: SessionId
  readonly version: number
}
export type PointOutcome =
  | { readonly kind: 'pointed'; readonly version: number }
  | { readonly kind: 'route-changed'; readonly version: number }
  | Gone

export interface Admit {
  readonly to: { readonly sessionId: SessionId } | { readonly route: Route }
  readonly source: string
  readonly key: string
  readonly lane: Lane
  /** For the control lane: `stop`, `compact`, … */
  readonly control?: string
  readonly body: JsonValue
  readonly tokens: number
  readonly blobs?: readonly string[]
}
export type AdmitOutcome =
  | {
      readonly kind: 'admitted' | 'duplicate'
      readonly sessionId: SessionId
      readonly mail: MailNumber
      /** The session's current holder, which the caller should wake. */
      readonly runner: RunnerId | null
    }
  /** The key was used before with a different body. */
  | { readonly kind: 'conflict'; readonly sessionId: SessionId; readonly mail: MailNumber }
  | { readonly kind: 'full'; readonly which: 'lane' | 'source'; readonly limit: number }
  | { readonly kind: 'too-large'; readonly bytes: number; readonly limit: number }
  | { readonly kind: 'blob-missing'; readonly hash: string }
  | { readonly kind: 'unknown' }
  | Gone
export type WithdrawOutcome =
  | { readonly kind: 'withdrawn' }
  | { readonly kind: 'not-pending'; readonly state: MailState }
  | { readonly kind: 'unknown' }

export interface StageBlob {
  readonly sessionId: SessionId
  readonly mediaType: string
  readonly bytes: Uint8Array
}
export type StageOutcome =
  | { readonly kind: 'staged'; readonly hash: string }
  | { readonly kind: 'too-large'; readonly bytes: number; readonly limit: number }
  | { readonly kind: 'unknown' }
  | Gone

export type RegisterRunner = Omit<RunnerRow, 'beat'>

export interface Acquire {
  readonly sessionId: SessionId
  readonly runner: RunnerId
  /** Random, new for each acquisition. */
  readonly holder: string
  /** The fence that the caller read last; `fence-changed` if it has risen since. */
  readonly fence: number
}
export type AcquireOutcome =
  | {
      readonly kind: 'acquired'
      readonly lease: Lease
      readonly session: SessionRow
      readonly abandoned: OperationId | null
    }
  | { readonly kind: 'held'; readonly by: RunnerId; readonly beat: number }
  | { readonly kind: 'fence-changed'; readonly fence: number }
  | Lost
  | { readonly kind: 'unknown' }
  | Gone

export interface Release {
  readonly lease: Lease
  /**
   * `idle` releases only an idle session. `shutdown` releases any session and counts as nothing.
   * `crash` releases any session after an error that the turn may have caused: an attempt at it.
   */
  readonly reason: 'idle' | 'shutdown' | 'crash'
  /** Sets the alarm, in the same commit. Absent: it stays as it is. */
  readonly wakeAt?: number
}

export interface Deliver extends Fenced {
  readonly mail: readonly MailNumber[]
}
export type DeliverOutcome =
  | {
      readonly kind: 'delivered'
      readonly tail: Tail
      readonly written: WrittenRows
      readonly entries: readonly EntryNumber[]
      readonly turn: number
    }
  | { readonly kind: 'calls-open' }
  | { readonly kind: 'no-room'; readonly openTokens: number; readonly inputTokens: number }
  | { readonly kind: 'not-pending'; readonly mail: MailNumber }
  /** An older item in the same lane is still waiting. */
  | { readonly kind: 'out-of-order'; readonly mail: MailNumber; readonly first: MailNumber }
  | Superseded

export interface CommitReply extends Fenced {
  readonly turn: number
  /** Absent when a turn is stopped before the model said anything. */
  readonly step?: NewStep
  readonly ends?: {
    readonly how: TurnEnd
    readonly replies: readonly NewReply[]
    /** A failure code for programs; the text for people is in the reply. */
    readonly reason?: string
  }
  /** The model call that led here, unless it was recorded before. */
  readonly attempt?: RecordAttempt
}
export interface NewStep {
  readonly upto: EntryNumber
  readonly renderer: string
  readonly calls: readonly string[]
  readonly body: JsonValue
  readonly tokens: number
  readonly blobs?: readonly string[]
}
export interface NewReply {
  readonly edge: string
  readonly address: string
  readonly key: string
  readonly body: JsonValue
}
export type ReplyOutcome =
  | {
      readonly kind: 'committed'
      readonly tail: Tail
      readonly written: WrittenRows
      readonly entry: EntryNumber
      /** The turn started by input that arrived too late for this one. */
      readonly nextTurn: number | null
    }
  | { readonly kind: 'turn-over'; readonly turn: number }
  | { readonly kind: 'calls-open' }
  | { readonly kind: 'blob-missing'; readonly hash: string }
  | Superseded

export interface CommitResults extends Fenced {
  readonly results: readonly CallResult[]
}
export interface CallResult {
  readonly call: string
  readonly outcome: ResultOutcome
  readonly body: JsonValue
  readonly tokens: number
  readonly blobs?: readonly string[]
}
export type ResultsOutcome =
  | { readonly kind: 'committed'; readonly tail: Tail; readonly written: WrittenRows }
  | { readonly kind: 'other-calls'; readonly openCalls: readonly string[] }
  | { readonly kind: 'blob-missing'; readonly hash: string }
  | Superseded

export interface Recover extends Fenced {
  /** Open calls that may run again under their key; all others are closed as unknown. */
  readonly repeatable: readonly string[]
  readonly attemptsMax: number
  readonly lossesMax: number
  /** Sent if recovery gives up the turn. */
  readonly failureReplies: readonly NewReply[]
  /** Why it gave up, for programs. */
  readonly reason?: string
}
export type RecoverOutcome =
  | {
      readonly kind: 'recovered'
      readonly tail: Tail
      readonly written: WrittenRows
      readonly turn: 'none' | 'resumed' | 'failed'
      readonly attempts: number
      readonly losses: number
      readonly openCalls: readonly string[]
    }
  | { readonly kind: 'already' }
  | Superseded

export interface Pin extends Append {
  readonly name: string
  readonly change: 'set' | 'removed'
}
export type PinOutcome =
  | Appended
  | { readonly kind: 'no-room'; readonly tokensAfter: number; readonly limit: number }
  | { readonly kind: 'unknown-pin' }
  | Superseded

export interface ChangeSettings extends Append {
  readonly limits?: Limits
  readonly policy?: BusyPolicy
}
export type SettingsOutcome = AppendedRows | LimitsRefused | Superseded

export interface SetTitle {
  readonly sessionId: SessionId
  readonly title: string | null
  /**
   * The title was made from entries up to here; refused if one of them may have been erased since.
   */
  readonly upto?: EntryNumber
}

export interface SettleControl {
  readonly lease: Lease
  readonly mail: readonly MailNumber[]
  /** Set if the items were not carried out; absent if there was nothing to do. */
  readonly refused?: Refusal
}
export type { Refusal }

export interface ClaimReply {
  readonly edge: string
  readonly claimant: RunnerId
  /** The caller's clock. A failed reply is not claimed before its retry time. */
  readonly at: number
}
export interface SettleReply {
  readonly sessionId: SessionId
  readonly number: number
  readonly attempt: number
  readonly claimant: RunnerId
  readonly result:
    | { readonly kind: 'sent'; readonly receipt: string }
    | { readonly kind: 'failed'; readonly retryAt: number; readonly attemptsMax: number }
}
export type SettleOutcome =
  | { readonly kind: 'settled'; readonly state: ReplyRow['state'] }
  /** Another attempt has started since, or the row is gone. */
  | { readonly kind: 'refused' }

export interface EraseEntries extends Fenced {
  readonly entries: readonly EntryNumber[]
  readonly reason: string
  /**
   * What the session owed when `replacement` was written; if it owes more now, the request is
   * refused.
   */
  readonly owed?: readonly EntryNumber[]
  /** The new handoff text; required when the handoff in effect covers one of the entries. */
  readonly replacement?: { readonly body: JsonValue; readonly tokens: number }
  /** Schedules of this session that repeat the entries; erased in the same commit. */
  readonly schedules?: readonly string[]
  readonly settles?: readonly MailNumber[]
}
export type EraseOutcome =
  | { readonly kind: 'erased'; readonly tail: Tail; readonly entries: readonly EntryNumber[] }
  | { readonly kind: 'replacement-needed'; readonly effective: EntryNumber }
  | { readonly kind: 'unknown-entry'; readonly entry: EntryNumber }
  /** A fork reads this entry from another session, and only that session can erase it. */
  | { readonly kind: 'elsewhere'; readonly entry: EntryNumber; readonly sessionId: SessionId }
  | Superseded
export interface DeleteSession {
  readonly sessionId: SessionId
  readonly operation: OperationId
  readonly reason: string
  /**
   * What to do if living forks read its entries: `refuse` (default) deletes nothing, `keep` retains
   * the entries they read until the last fork is deleted, `purge` deletes the forks too.
   */
  readonly forks?: 'refuse' | 'keep' | 'purge'
}
export type DeleteOutcome =
  | { readonly kind: 'done'; readonly sessions: readonly SessionId[] }
  | { readonly kind: 'forked'; readonly forks: readonly SessionId[] }
  | Gone
export interface EraseSome {
  readonly sessionId: SessionId
  readonly limit: number
  /** Where the previous piece ended, so that this one does not scan the same rows. */
  readonly after?: ErasedUpTo
}
export interface ErasedUpTo {
  readonly entry: number
  readonly mail: number
  readonly reply: number
}
export type EraseSomeOutcome =
  | {
      readonly kind: 'erased'
      readonly left: boolean
      readonly upTo: ErasedUpTo
      /**
       * The deleted session that this one was forked from, if no other fork reads it: erase it
       * next.
       */
      readonly next?: SessionId
    }
  | { readonly kind: 'not-deleted' }

export type ImportSessionOutcome =
  | { readonly kind: 'imported'; readonly sessionId: SessionId; readonly entries: number }
  | { readonly kind: 'exists'; readonly sessionId: SessionId }
  | { readonly kind: 'refused'; readonly line: number; readonly problem: string }

export interface AdoptSession {
  readonly session: SessionRow
  readonly entries: readonly Entry[]
  readonly mail: readonly MailRow[]
  readonly replies: readonly ReplyRow[]
  readonly blobs: readonly BlobRow[]
  readonly operation: OperationId
}

/** The store fills in the session's agent. */
export type RecordAttempt = Omit<AttemptRow, AttemptExtras | 'agent'> &
  Partial<Pick<AttemptRow, AttemptExtras>>
type AttemptExtras = 'cachedTokens' | 'cost' | 'host' | 'turn' | 'step'
