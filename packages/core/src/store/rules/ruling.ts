import type { EntryNumber, MailNumber, OperationId, RunnerId, SessionId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'
import type { ErasedUpTo } from '../commits.ts'
import type { CommitVerb, Lease, OutcomeOf, RequestOf, Superseded, Tail } from '../contract.ts'
import type {
  DraftRow,
  NoteKey,
  NoteRow,
  ScheduleRow,
  TokenRow,
  UsageRow,
} from '../operational-rows.ts'
import type { ReplyHead, ReplyKey } from '../retention-commits.ts'
import type {
  AttemptRow,
  AuditKind,
  BlobRow,
  Entry,
  EntryHead,
  InputLane,
  IntakeRow,
  MailRow,
  OperationRow,
  ReplyRow,
  Route,
  RouteRow,
  RunnerRow,
  SessionRow,
} from '../tables/rows.ts'
import type { EmbeddedRow, VectorRow } from '../vector-rows.ts'

/**
 * The protocol, written once. A rule is a pure function: it reads rows from a snapshot, decides,
 * and returns an outcome with the new rows. An engine runs a rule and writes its change in one
 * serialised transaction, and decides nothing itself, so every engine enforces the same conditions
 * with the same code.
 */
export type Rule<Verb extends CommitVerb> = (
  rows: Rows,
  request: RequestOf<Verb>,
  stamp: Stamp,
) => Ruling<OutcomeOf<Verb>>

export interface Ruling<Outcome> {
  readonly outcome: Outcome
  /** Absent if there is nothing to write: refused, or already done. */
  readonly change?: StoreChange
}

/** Inputs that a rule must not produce itself: time and randomness. */
export interface Stamp {
  /** Milliseconds; for display, never compared for safety (I25). */
  readonly at: number
  /** Random text from which this commit derives its salts. */
  readonly seed: string
}

/** The snapshot that a rule reads. */
export interface Rows {
  session(id: SessionId): SessionRow | undefined
  heldBy(runner: RunnerId): readonly SessionRow[]
  /** The root session with this id and all sessions of its chain, origins before their forks. */
  related(root: SessionId): readonly SessionRow[]
  runner(id: RunnerId): RunnerRow | undefined
  intake(keyHash: string): IntakeRow | undefined
  mail(sessionId: SessionId, number: MailNumber): MailRow | undefined
  /** The oldest item of a lane after `after` that was not withdrawn. */
  firstWaiting(sessionId: SessionId, lane: InputLane, after: MailNumber): MailNumber | undefined
  waitingStops(sessionId: SessionId): readonly MailRow[]
  sourcePending(sessionId: SessionId, source: string): number
  /** For a fork, this and the next two include entries that it reads from other sessions. */
  entry(sessionId: SessionId, number: EntryNumber): Entry | undefined
  inputsAfter(sessionId: SessionId, number: EntryNumber): readonly EntryHead[]
  /** The heads that a fork at `upto` starts from. */
  forkPrefix(sessionId: SessionId, upto: EntryNumber): ForkPrefix
  /** The session's own compactions and erasures, oldest first. */
  handoffs(sessionId: SessionId): readonly EntryHead[]
  /** Hashes of these sessions' own entries whose bodies were erased. */
  erased(sessionIds: readonly SessionId[]): readonly string[]
  operation(id: OperationId): OperationRow | undefined
  route(route: Route): RouteRow | undefined
  blobUses(sessionId: SessionId, hash: string): number | undefined
  reply(sessionId: SessionId, number: number): ReplyRow | undefined
  repliesOf(sessionId: SessionId, entry: EntryNumber): readonly ReplyRow[]
  /**
   * The oldest reply for an edge that is due, first for its address, and not claimed by a live
   * sender. `isChanged`: the row is not as it was written.
   */
  nextReply(edge: string, at: number): (ReplyRow & { readonly isChanged?: true }) | undefined
  /** The next replies of the whole store, in an order that the engine chooses. */
  repliesAfter(after: ReplyKey | undefined, limit: number): readonly ReplyHead[]
  attempt(id: OperationId): AttemptRow | undefined
  /** The oldest attempts of the store. */
  attemptsBefore(at: number, limit: number): readonly AttemptRow[]
  schedule(id: string): ScheduleRow | undefined
  waitingSchedules(sessionId: SessionId): number
  note(agent: string, scope: string, id: string): NoteRow | undefined
  /** How many notes the agent has in the scope. */
  notes(agent: string, scope: string): number
  /** Notes that may repeat this entry: those made from it, and those `PROPOSED` from a range. */
  notesFrom(sessionId: SessionId, entry: EntryNumber): readonly NoteKey[]
  token(id: string): TokenRow | undefined
  tokenOf(hash: string): TokenRow | undefined
  tokens(): number
  embedded(sessionId: SessionId): EmbeddedRow | undefined
  /** The session's own entries after `after` up to `upto` whose bodies were not erased. */
  livingEntries(sessionId: SessionId, after: EntryNumber, upto: EntryNumber): readonly EntryNumber[]
  stagedBefore(at: number): readonly { readonly sessionId: SessionId; readonly hash: string }[]
  /**
   * Rows that a deletion must still remove, at most `limit` of each kind, after these numbers.
   * Entries up to `retained` stay, as do the blobs they use.
   */
  remainingRows(
    sessionId: SessionId,
    limit: number,
    after: ErasedUpTo,
    retained: EntryNumber,
  ): RemainingRows
}

export interface ForkPrefix {
  /** Heads of the folded kinds, oldest first. */
  readonly folded: readonly EntryHead[]
  /** The newest head that names a turn, and all heads after it. */
  readonly newest: readonly EntryHead[]
}

export interface RemainingRows {
  readonly entries: readonly EntryNumber[]
  readonly mail: readonly MailNumber[]
  readonly replies: readonly number[]
  readonly blobs: readonly string[]
  readonly routes: readonly RouteRow[]
  readonly schedules: readonly string[]
  readonly notes: readonly NoteKey[]
}

/** The new rows. Engines replace by key, except where a list says otherwise. */
export interface StoreChange {
  /** `before` is what the rule relied on; an engine with optimistic writes compares it. */
  readonly sessions?: readonly { readonly before: SessionRow | null; readonly after: SessionRow }[]
  readonly runners?: readonly { readonly id: RunnerId; readonly after: RunnerRow | null }[]
  readonly entries?: readonly { readonly sessionId: SessionId; readonly entry: Entry }[]
  readonly mail?: readonly { readonly sessionId: SessionId; readonly mail: MailRow }[]
  readonly intake?: readonly IntakeRow[]
  readonly senders?: readonly SenderRow[]
  readonly operations?: readonly OperationRow[]
  readonly replies?: readonly ReplyRow[]
  readonly repliesRemoved?: readonly ReplyKey[]
  readonly routes?: readonly RouteRow[]
  readonly routesRemoved?: readonly Route[]
  readonly blobs?: readonly BlobRow[]
  /** 0 uses removes the blob. */
  readonly blobUses?: readonly {
    readonly sessionId: SessionId
    readonly hash: string
    readonly uses: number
  }[]
  /** A draft without ids is removed. */
  readonly drafts?: readonly DraftRow[]
  /** Removes all drafts of this session. */
  readonly draftsRemoved?: SessionId
  /** Removes all sources of this session: their names identify people. */
  readonly sendersRemoved?: SessionId
  readonly attempts?: readonly AttemptRow[]
  readonly attemptsRemoved?: readonly OperationId[]
  /** Added to the sums that the store already has under the same key. */
  readonly usage?: readonly UsageRow[]
  readonly schedules?: readonly Replaced<ScheduleRow>[]
  readonly schedulesRemoved?: readonly string[]
  readonly notes?: readonly Replaced<NoteRow>[]
  readonly notesRemoved?: readonly NoteKey[]
  readonly tokens?: readonly TokenRow[]
  readonly tokensRemoved?: readonly string[]
  /** Removes all vectors of this session, before new ones are written. */
  readonly vectorsRemoved?: SessionId
  readonly embedded?: readonly EmbeddedRow[]
  readonly vectors?: readonly VectorRow[]
  readonly erase?: readonly Erase[]
  readonly audit?: readonly AuditDraft[]
}

/**
 * If `before` is absent, the key must still be free; otherwise the engine lost a race and runs the
 * rule again.
 */
export interface Replaced<Row> {
  readonly before: Row | null
  readonly after: Row
}

export interface SenderRow {
  readonly sessionId: SessionId
  readonly source: string
  readonly pending: number
}

/** Bodies, salts, search rows and vectors to remove for good; heads and hashes stay. */
export interface Erase {
  readonly sessionId: SessionId
  readonly entries: readonly EntryNumber[]
  readonly mail: readonly MailNumber[]
  readonly replies: readonly number[]
}

export interface AuditDraft {
  readonly sessionId: SessionId
  readonly kind: AuditKind
  readonly operation: OperationId | null
  readonly phase: string | null
  readonly facts: JsonObject
}

/** F: the session if the lease holds, else why not. */
export function fencedSession(rows: Rows, lease: Lease): SessionRow | Superseded {
  const session = rows.session(lease.sessionId)
  if (session === undefined || session.state !== 'open') return { kind: 'superseded', by: 'gone' }
  const holds =
    session.fence === lease.fence &&
    session.holder === lease.holder &&
    session.runner === lease.runner
  return holds ? session : { kind: 'superseded', by: 'fence' }
}

/** C: the session if the lease holds and the caller knows the newest entry. */
export function fencedAtTail(
  rows: Rows,
  { lease, tail }: { readonly lease: Lease; readonly tail: Tail },
): SessionRow | Superseded {
  const session = fencedSession(rows, lease)
  if ('kind' in session) return session
  const known = session.tail === tail.number && session.tailHash === tail.hash
  return known ? session : { kind: 'superseded', by: 'tail' }
}

export function tailOf(session: SessionRow): Tail {
  return { number: session.tail, hash: session.tailHash }
}
