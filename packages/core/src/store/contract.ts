import type { EntryNumber, MailNumber, OperationId, RunnerId, SessionId } from '../base/ids.ts'
import type { AdoptEntries, AdoptEntriesOutcome } from './adoption.ts'
import type {
  Acquire,
  AcquireOutcome,
  Admit,
  AdmitOutcome,
  AdoptSession,
  AfreshOutcome,
  Append,
  ChangeSettings,
  ClaimReply,
  CommitReply,
  CommitResults,
  CreateOutcome,
  CreateSession,
  DeleteOutcome,
  DeleteSession,
  Deliver,
  DeliverOutcome,
  EraseEntries,
  EraseOutcome,
  EraseSome,
  EraseSomeOutcome,
  ImportSessionOutcome,
  Pin,
  PinOutcome,
  PointOutcome,
  PointRoute,
  RecordAttempt,
  Recover,
  RecoverOutcome,
  RegisterRunner,
  Release,
  ReplyOutcome,
  ResultsOutcome,
  SetTitle,
  SettingsOutcome,
  SettleControl,
  SettleOutcome,
  SettleReply,
  StageBlob,
  StageOutcome,
  StartAfresh,
  WithdrawOutcome,
} from './commits.ts'
import type {
  ClaimCompaction,
  ClaimOutcome,
  CommitCompaction,
  CompactionOutcome,
  FailCompaction,
  Revert,
  RevertOutcome,
} from './compaction-commits.ts'
import type { EraseRetained, EraseRetainedOutcome, Fork, ForkOutcome } from './fork-commits.ts'
import type {
  AttemptGroup,
  AttemptSum,
  DraftKey,
  DraftRow,
  FireOutcome,
  FireSchedule,
  Full,
  GroupAttempts,
  ListNotes,
  ListSchedules,
  NoteKey,
  NoteRow,
  PutNote,
  PutNoteOutcome,
  PutSchedule,
  PutScheduleOutcome,
  ScheduleRow,
  SumAttempts,
  TokenRow,
  Unknown,
} from './operational-rows.ts'
import type { Appended, Done, Gone, Lease, Lost, Superseded } from './outcomes.ts'
import type {
  ContextEntries,
  ListMail,
  ListReplies,
  ListSessions,
  Look,
  Looked,
  MailItem,
  ReadAttempts,
  ReadAudit,
  ReadEntries,
  Search,
  SearchAnswer,
  StoreFinding,
} from './queries.ts'
import type { RecordEntries, RecordOutcome } from './record-commits.ts'
import type { DropAttempts, DropSent, DropSentOutcome } from './retention-commits.ts'
import type {
  AttemptRow,
  AuditRow,
  BlobRow,
  Entry,
  ListedRunner,
  OperationRow,
  OperationState,
  ReplyRow,
  Route,
  RouteRow,
  SessionRow,
  StoreRow,
} from './tables/rows.ts'
import type { PutVectors, PutVectorsOutcome, ReadUnembedded, Unembedded } from './vector-rows.ts'

/**
 * The store's contract. A verb is one whole domain commit: it happens completely, durably and
 * before its promise resolves, or not at all. Outcomes that a careful caller expects are values
 * with a `kind`; operating errors are thrown (errors.ts). There is no transaction to hold open.
 *
 * F (fenced): the session is open and the lease has its current fence and holder. C (fenced at the
 * tail): F, and the caller knows the tail's current number and hash. Otherwise the outcome is
 * `superseded` and nothing changes (I7, I8).
 */
export interface Store extends Commits, Reads {
  /** Copies the whole store to a new file while it is in use; never overwrites a file. */
  backup(to: string): Promise<void>
  /** One session as JSON lines, complete enough to import into another store under the same id. */
  exportSession(id: SessionId): AsyncIterable<string>
  importSession(lines: Iterable<string> | AsyncIterable<string>): Promise<ImportSessionOutcome>
  /**
   * Calls back when something may have changed, here or in another process; the renewal of a runner
   * here is no change. Only a hint: read again.
   */
  watch(listener: () => void): () => void
  /** Completes accepted requests, then releases all resources. May be called twice. */
  close(): Promise<void>
}

/** For the audit, the doctor and read-only commands: writes not a byte, even while others write. */
export interface ReadStore extends Reads {
  exportSession(id: SessionId): AsyncIterable<string>
  close(): Promise<void>
}

export interface Commits {
  createSession(request: CreateSession): Promise<CreateOutcome>
  startAfresh(request: StartAfresh): Promise<AfreshOutcome>
  fork(request: Fork): Promise<ForkOutcome>
  pointRoute(request: PointRoute): Promise<PointOutcome>

  admit(request: Admit): Promise<AdmitOutcome>
  withdraw(request: { sessionId: SessionId; mail: MailNumber }): Promise<WithdrawOutcome>
  settleControl(request: SettleControl): Promise<Done | Superseded>
  stageBlob(request: StageBlob): Promise<StageOutcome>
  /** Drops blobs that were staged before `before` and never used. */
  dropStaged(request: { before: number }): Promise<{ kind: 'dropped'; count: number }>

  registerRunner(request: RegisterRunner): Promise<Done | { kind: 'taken' }>
  renew(request: { runner: RunnerId }): Promise<{ kind: 'renewed'; beat: number } | Lost>
  /** Ends a runner whose beat has not moved for a lease period and frees its sessions. */
  dismissRunner(request: { runner: RunnerId; beat: number }): Promise<Done | { kind: 'alive' }>
  /** Called by a runner as it stops: releases every session that it holds. */
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
  /** Removes one bounded piece of old, sent replies. Repeat with `after` until `upTo` is null. */
  dropSent(request: DropSent): Promise<DropSentOutcome>

  /** Replaces the ids of a reply's messages shown so far; without ids, the draft is removed. */
  putDraft(request: Omit<DraftRow, 'at'>): Promise<Done | Unknown | Gone>

  recordAttempt(request: RecordAttempt): Promise<Done | { kind: 'duplicate' }>
  /** Repeat until `count` is smaller than `limit`. */
  dropAttempts(request: DropAttempts): Promise<{ kind: 'dropped'; count: number }>

  putSchedule(request: PutSchedule): Promise<PutScheduleOutcome>
  /** An ended schedule stays ended. */
  cancelSchedule(request: { id: string }): Promise<Done | Unknown>
  /**
   * Admits the schedule's mail once per due time and sets the next due time or ends it, in one
   * commit.
   */
  fireSchedule(request: FireSchedule): Promise<FireOutcome>
  putNote(request: PutNote): Promise<PutNoteOutcome>
  removeNote(request: NoteKey): Promise<Done | Unknown>
  putToken(request: TokenRow): Promise<Done | { kind: 'taken' } | Full>
  removeToken(request: { id: string }): Promise<Done | Unknown>
  setTitle(request: SetTitle): Promise<Done | Unknown | Gone | Superseded>

  eraseEntries(request: EraseEntries): Promise<EraseOutcome>
  /** Erases entries of a deleted session that its forks still read; needs no lease. */
  eraseRetained(request: EraseRetained): Promise<EraseRetainedOutcome>
  deleteSession(request: DeleteSession): Promise<DeleteOutcome>
  /** Creates a session by import, in one commit, after checking its chain. See `importSession`. */
  adoptSession(request: AdoptSession): Promise<ImportSessionOutcome>
  /** Appends history to an idle, imported session; delivers and runs nothing. */
  adoptEntries(request: AdoptEntries): Promise<AdoptEntriesOutcome>
  /** Records what another program did, in one commit and once per key; needs no lease. */
  recordEntries(request: RecordEntries): Promise<RecordOutcome>

  /** Derived data, without a line in the audit; erased with its entries. */
  putVectors(request: PutVectors): Promise<PutVectorsOutcome>

  /** Erases one bounded piece of a deleted session. Repeat with `upTo` until `left` is false. */
  eraseSome(request: EraseSome): Promise<EraseSomeOutcome>
}

export interface Reads {
  readStore(): Promise<StoreRow>
  /** Bytes on disk, indexes included; null for a store in memory. */
  readSize(): Promise<number | null>
  findSession(id: SessionId): Promise<SessionRow | undefined>
  /** All that a session's holder decides from, in one read; undefined: there is no such session. */
  look(query: Look): Promise<Looked | undefined>
  listSessions(query: ListSessions): Promise<readonly SessionRow[]>
  /** Sessions that have work and no live holder (decision 24). */
  readReady(query: {
    agents: readonly string[]
    at: number
    limit: number
  }): Promise<readonly SessionRow[]>
  listRunners(): Promise<readonly ListedRunner[]>
  readEntries(query: ReadEntries): Promise<readonly Entry[]>
  /**
   * Everything the context is folded from, as of `upto` (default: now); null if there is no such
   * session.
   */
  readContext(query: { sessionId: SessionId; upto?: EntryNumber }): Promise<ContextEntries | null>
  listMail(query: ListMail): Promise<readonly MailItem[]>
  findOperation(id: OperationId): Promise<OperationRow | undefined>
  listOperations(query: { sessionId: SessionId; limit: number }): Promise<readonly OperationRow[]>
  listReplies(query: ListReplies): Promise<readonly ReplyRow[]>
  findDraft(query: DraftKey): Promise<DraftRow | undefined>
  findRoute(route: Route): Promise<RouteRow | undefined>
  listRoutes(query: { sessionId: SessionId }): Promise<readonly RouteRow[]>
  /** The commits after a cursor, in order. */
  readAudit(query: ReadAudit): Promise<readonly AuditRow[]>
  readAttempts(query: ReadAttempts): Promise<readonly AttemptRow[]>
  sumAttempts(query: SumAttempts): Promise<AttemptSum>
  groupAttempts(query: GroupAttempts): Promise<readonly AttemptGroup[]>
  listSchedules(query: ListSchedules): Promise<readonly ScheduleRow[]>
  listNotes(query: ListNotes): Promise<readonly NoteRow[]>
  listTokens(): Promise<readonly TokenRow[]>
  findToken(query: { hash: string }): Promise<TokenRow | undefined>
  findBlob(query: { sessionId: SessionId; hash: string }): Promise<BlobRow | undefined>
  search(query: Search): Promise<SearchAnswer>
  readUnembedded(query: ReadUnembedded): Promise<Unembedded>
  /**
   * Checks chains, gaps and derived values. An empty list means that it found no damage. `null`:
   * only routes, notes, reminders and tokens, which are in no chain.
   */
  verify(query: { sessionId?: SessionId | null }): Promise<readonly StoreFinding[]>
}

export type CommitVerb = keyof Commits
export type ReadVerb = keyof Reads
export type RequestOf<Verb extends CommitVerb> = Parameters<Commits[Verb]>[0]
export type OutcomeOf<Verb extends CommitVerb> = Awaited<ReturnType<Commits[Verb]>>

export type {
  Appended,
  Done,
  Gone,
  Lease,
  Lost,
  Superseded,
  Tail,
  WrittenRows,
} from './outcomes.ts'
