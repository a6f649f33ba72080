import type { EntryNumber, MailNumber, OperationId, RunnerId, SessionId } from '../base/ids.ts'
import type { JsonObject, JsonValue } from '../base/json.ts'
import type {
  AttemptRow,
  AuditRow,
  BlobRow,
  BusyPolicy,
  CompactionBy,
  Entry,
  InputLane,
  Lane,
  Limits,
  MailRow,
  MailState,
  OperationRow,
  OperationState,
  ReplyRow,
  ResultOutcome,
  Route,
  RouteRow,
  RunnerRow,
  SessionRow,
  StoreRow,
  TurnEnd,
} from './rows.ts'

/**
 * The store's contract. A verb is one whole domain commit: it happens completely, durably and
 * before its promise resolves, or not at all. What a careful caller expects is a value with a
 * `kind`; operating errors are thrown (errors.ts). There is no transaction to hold open.
 *
 * F (fenced): the session is open and the lease's fence and holder are the present ones.
 * C (fenced at the tail): F, and the tail's number and hash are the ones the caller knows.
 * Neither met: `superseded`, nothing changed (I7, I8).
 */
export interface Store extends Commits, Reads {
  /** Copies the whole store to a new file while others go on writing; refuses an existing file. */
  backup(to: string): Promise<void>
  /** One session as JSON lines: enough to carry it into another store under the same id. */
  exportSession(id: SessionId): AsyncIterable<string>
  importSession(lines: Iterable<string> | AsyncIterable<string>): Promise<ImportOutcome>
  /** Calls back when something may have changed, here or in another process; a hint, not a truth. */
  watch(listener: () => void): () => void
  /** Finishes what was accepted, then lets go of everything. May be called twice. */
  close(): Promise<void>
}

export interface Commits {
  createSession(request: CreateSession): Promise<CreateOutcome>
  startAfresh(request: StartAfresh): Promise<AfreshOutcome>
  pointRoute(request: PointRoute): Promise<PointOutcome>

  admit(request: Admit): Promise<AdmitOutcome>
  withdraw(request: { sessionId: SessionId; mail: MailNumber }): Promise<WithdrawOutcome>
  settleControl(request: { lease: Lease; mail: readonly MailNumber[] }): Promise<Done | Superseded>
  stageBlob(request: StageBlob): Promise<StageOutcome>
  /** Drops blobs that were staged before `before` and never used. */
  dropStaged(request: { before: number }): Promise<{ kind: 'dropped'; count: number }>

  registerRunner(request: RegisterRunner): Promise<Done | { kind: 'taken' }>
  renew(request: { runner: RunnerId }): Promise<{ kind: 'renewed'; beat: number } | Lost>
  /** Ends a runner whose beat has not moved for a lease period; its sessions are free from then on. */
  dismissRunner(request: { runner: RunnerId; beat: number }): Promise<Done | { kind: 'alive' }>
  /** A runner's own farewell: lets go of every session it holds. */
  retireRunner(request: { runner: RunnerId }): Promise<Done | Lost>
  acquire(request: Acquire): Promise<AcquireOutcome>
  release(request: Release): Promise<Done | Superseded | { kind: 'in-use' }>
  setWake(request: { lease: Lease; wakeAt: number | null }): Promise<Done | Superseded>

  deliver(request: Deliver): Promise<DeliverOutcome>
  commitReply(request: CommitReply): Promise<ReplyOutcome>
  commitResults(request: CommitResults): Promise<ResultsOutcome>
  recover(request: Recover): Promise<RecoverOutcome>

  claimCompaction(request: ClaimCompaction): Promise<ClaimOutcome>
  commitCompaction(request: CommitCompaction): Promise<CompactionOutcome>
  failCompaction(request: FailCompaction): Promise<Done | { kind: 'ended'; state: OperationState }>
  revert(request: Revert): Promise<RevertOutcome>

  pin(request: Pin): Promise<PinOutcome>
  setTasks(request: Append): Promise<Appended | Superseded>
  changeSettings(request: ChangeSettings): Promise<SettingsOutcome>

  claimReply(request: ClaimReply): Promise<{ kind: 'claimed'; reply: ReplyRow } | { kind: 'none' }>
  settleReply(request: SettleReply): Promise<SettleOutcome>

  recordAttempt(request: AttemptRow): Promise<Done | { kind: 'duplicate' }>

  eraseEntries(request: EraseEntries): Promise<EraseOutcome>
  deleteSession(request: DeleteSession): Promise<Done | Gone>
  /** Birth by import: everything at once, after its chain was checked. See `importSession`. */
  adoptSession(request: AdoptSession): Promise<ImportOutcome>

  /** One bounded piece of a deletion; repeat until nothing is left. */
  eraseSome(request: { sessionId: SessionId; limit: number }): Promise<EraseSomeOutcome>
}

export interface Reads {
  readStore(): Promise<StoreRow>
  findSession(id: SessionId): Promise<SessionRow | undefined>
  listSessions(query: ListSessions): Promise<readonly SessionRow[]>
  /** Sessions with something to do and without a live holder (decision 24). */
  readReady(query: {
    agents: readonly string[]
    at: number
    limit: number
  }): Promise<readonly SessionRow[]>
  listRunners(): Promise<readonly RunnerRow[]>
  readEntries(query: ReadEntries): Promise<readonly Entry[]>
  /** Everything the context is folded from, as of `upto` (default: now). Null: no such session. */
  readContext(query: { sessionId: SessionId; upto?: EntryNumber }): Promise<ContextEntries | null>
  listMail(query: ListMail): Promise<readonly MailItem[]>
  findOperation(id: OperationId): Promise<OperationRow | undefined>
  listOperations(query: { sessionId: SessionId; limit: number }): Promise<readonly OperationRow[]>
  listReplies(query: ListReplies): Promise<readonly ReplyRow[]>
  findRoute(route: Route): Promise<RouteRow | undefined>
  listRoutes(query: { sessionId: SessionId }): Promise<readonly RouteRow[]>
  /** What was committed behind a cursor, in the order of commits. */
  readAudit(query: ReadAudit): Promise<readonly AuditRow[]>
  readAttempts(query: ReadAttempts): Promise<readonly AttemptRow[]>
  findBlob(query: { sessionId: SessionId; hash: string }): Promise<BlobRow | undefined>
  search(query: Search): Promise<readonly SearchHit[]>
  /** Checks chains, gaps and derived values; an empty list means that all is in order. */
  verify(query: { sessionId?: SessionId }): Promise<readonly Finding[]>
}

export type CommitVerb = keyof Commits
export type ReadVerb = keyof Reads
export type RequestOf<Verb extends CommitVerb> = Parameters<Commits[Verb]>[0]
export type OutcomeOf<Verb extends CommitVerb> = Awaited<ReturnType<Commits[Verb]>>

/** The right to write to one session, by value: whoever holds an older one is refused. */
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

/** What every append carries. After an unknown outcome, `operation` is looked for at tail + 1. */
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
  /** Points this route at the new session, if it points nowhere yet. */
  readonly route?: Route
  readonly operation: OperationId
}
export type CreateOutcome =
  | { readonly kind: 'created'; readonly session: SessionRow }
  /** The id was used before, perhaps by a session that is gone. */
  | { readonly kind: 'exists' }
  | { readonly kind: 'route-taken'; readonly sessionId: SessionId }
  | LimitsRefused

/** The parts do not fit below the hard limit, so a compaction could not always make room. */
export type LimitsRefused = {
  readonly kind: 'limits-refused'
  readonly neededTokens: number
  readonly hardTokens: number
}

export interface StartAfresh {
  readonly source: string
  readonly key: string
  readonly route: Route
  /** The route's version as the caller read it; 0 when it pointed nowhere. */
  readonly version: number
  readonly id: SessionId
  readonly limits: Limits
  readonly policy: BusyPolicy
  readonly operation: OperationId
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
      /** Who holds the session now and wants to be woken. */
      readonly runner: RunnerId | null
    }
  /** The same key with another body. */
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
  /** Drawn at random for each acquisition. */
  readonly holder: string
  /** The fence as the caller read it: an old picture acquires nothing. */
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
  /** `idle` lets go only of a session at rest; `shutdown` of any. */
  readonly reason: 'idle' | 'shutdown'
}

export interface Deliver extends Fenced {
  readonly mail: readonly MailNumber[]
}
export type DeliverOutcome =
  | {
      readonly kind: 'delivered'
      readonly tail: Tail
      readonly entries: readonly EntryNumber[]
      readonly turn: number
    }
  | { readonly kind: 'calls-open' }
  | { readonly kind: 'no-room'; readonly unseenTokens: number; readonly inputTokens: number }
  | { readonly kind: 'not-pending'; readonly mail: MailNumber }
  /** An older item of the same lane still waits. */
  | { readonly kind: 'out-of-order'; readonly mail: MailNumber; readonly first: MailNumber }
  | Superseded

export interface CommitReply extends Fenced {
  readonly turn: number
  /** Absent when a turn is stopped before the model said anything. */
  readonly step?: Step
  readonly ends?: { readonly how: TurnEnd; readonly replies: readonly NewReply[] }
}
export interface Step {
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
      readonly entry: EntryNumber
      /** Input that arrived too late for this turn has begun the next one. */
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
  | { readonly kind: 'committed'; readonly tail: Tail }
  | { readonly kind: 'other-calls'; readonly openCalls: readonly string[] }
  | { readonly kind: 'blob-missing'; readonly hash: string }
  | Superseded

export interface Recover extends Fenced {
  /** Open calls that may be repeated under their key; all others are closed as unknown. */
  readonly repeatable: readonly string[]
  readonly attemptsMax: number
  /** Sent when the turn is given up. */
  readonly failureReplies: readonly NewReply[]
}
export type RecoverOutcome =
  | {
      readonly kind: 'recovered'
      readonly tail: Tail
      readonly turn: 'none' | 'resumed' | 'failed'
      readonly attempts: number
      readonly openCalls: readonly string[]
    }
  | { readonly kind: 'already' }
  | Superseded

export interface ClaimCompaction {
  readonly lease: Lease
  readonly operation: OperationId
  readonly by: CompactionBy
  readonly trigger: string
  readonly reason: string
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
  readonly result: JsonObject
  readonly settles?: readonly MailNumber[]
}
export type CompactionOutcome =
  | { readonly kind: 'committed'; readonly tail: Tail; readonly entry: EntryNumber }
  | { readonly kind: 'ended'; readonly state: OperationState }
  | Superseded

export interface FailCompaction {
  readonly operation: OperationId
  readonly fence: number
  readonly state: 'failed' | 'superseded'
  readonly reason: string
  readonly settles?: readonly MailNumber[]
}

export interface Revert extends Fenced {
  readonly target: EntryNumber
  /** The context's size without the target, as the caller rendered it. */
  readonly tokensAfter: number
  readonly settles?: readonly MailNumber[]
}
export type RevertOutcome =
  | { readonly kind: 'reverted'; readonly tail: Tail; readonly effective: EntryNumber }
  | { readonly kind: 'not-newest'; readonly effective: EntryNumber }
  | { readonly kind: 'no-room'; readonly tokensAfter: number; readonly limit: number }
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
export type SettingsOutcome = Appended | LimitsRefused | Superseded

export interface ClaimReply {
  readonly edge: string
  readonly claimant: RunnerId
  /** The caller's clock: a reply that failed waits until then. */
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
  /** Another attempt was begun meanwhile, or the row is gone. */
  | { readonly kind: 'refused' }

export interface EraseEntries extends Fenced {
  readonly entries: readonly EntryNumber[]
  readonly reason: string
  /** Needed when the handoff in effect covers one of them: its new text. */
  readonly replacement?: { readonly body: JsonValue; readonly tokens: number }
}
export type EraseOutcome =
  | { readonly kind: 'erased'; readonly tail: Tail; readonly entries: readonly EntryNumber[] }
  | { readonly kind: 'replacement-needed'; readonly effective: EntryNumber }
  | { readonly kind: 'unknown-entry'; readonly entry: EntryNumber }
  | Superseded
export interface DeleteSession {
  readonly sessionId: SessionId
  readonly operation: OperationId
  readonly reason: string
}
export type EraseSomeOutcome =
  | { readonly kind: 'erased'; readonly left: boolean }
  | { readonly kind: 'not-deleted' }

export interface ListSessions {
  readonly agent?: string
  readonly state?: SessionRow['state']
  /** Continue behind this id. */
  readonly after?: SessionId
  readonly limit: number
}
export interface ReadEntries {
  readonly sessionId: SessionId
  readonly from: EntryNumber
  readonly to: EntryNumber
}
/** `entries`: the compaction in effect (or the erasure that replaced it), live pins, the newest
 * settings and tasks, then everything behind the covered range; in the order of their numbers. */
export interface ContextEntries {
  readonly session: SessionRow
  readonly effective: EntryNumber
  readonly covers: EntryNumber
  readonly entries: readonly Entry[]
}
export interface ListMail {
  readonly sessionId: SessionId
  readonly lane?: Lane
  readonly state?: MailState
  readonly after?: MailNumber
  readonly limit: number
}
export type MailItem = Omit<MailRow, 'state'> & { readonly state: MailState }
export interface ListReplies {
  readonly sessionId?: SessionId
  readonly state?: ReplyRow['state']
  readonly limit: number
}
export interface ReadAudit {
  readonly after: number
  readonly sessionId?: SessionId
  readonly limit: number
}
export interface ReadAttempts {
  readonly sessionId?: SessionId
  readonly modelRoute?: string
  readonly since: number
  readonly limit: number
}
export interface Search {
  readonly sessionId: SessionId
  readonly text: string
  readonly limit: number
  /** How many entries to show before and after each hit. */
  readonly neighbours: number
}
export interface SearchHit {
  readonly entry: Entry
  readonly before: readonly Entry[]
  readonly after: readonly Entry[]
}
export interface Finding {
  readonly sessionId: SessionId | null
  readonly entry: EntryNumber | null
  readonly problem: string
}
export type ImportOutcome =
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

export const MAIL_BYTES_MAX = 4 * 1024 * 1024
export const BLOB_BYTES_MAX = 32 * 1024 * 1024
export const DELIVERY_MAX = 256
export const ERASE_MAX = 1_000
export const LIST_MAX = 1_000
export const REWRITES_MAX = 3
export const ATTEMPTS_MAX = 3

export type { InputLane }
