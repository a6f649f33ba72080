import type { EntryNumber, MailNumber, OperationId } from '../../base/ids.ts'
import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { ToolCallPart } from '../../message/message.ts'
import type { CallResult, Refusal } from '../../store/commits.ts'
import type { CommitVerb, Lease, OutcomeOf, RequestOf } from '../../store/contract.ts'
import { parseBody } from '../../store/integrity/damaged-row.ts'
import type { MailItem } from '../../store/queries.ts'
import type { Limits, OperationRow } from '../../store/tables/rows.ts'
import type { Context } from '../context/build.ts'
import type { PlannedClearing } from '../context/clearing.ts'
import type { SessionView } from '../context/session-view.ts'
import type { SessionSettings, WantedSettings } from '../settings.ts'
import type { StepOutcome } from '../step.ts'

/** Wall time for schedules and breakers, monotonic time for everything that waits. */
export interface Instant {
  readonly wall: number
  readonly mono: number
}

export interface State {
  readonly lease: Lease
  readonly settings: SessionSettings
  /** Whether a tool may be called again under the same key; asked once per tool name. */
  readonly isRepeatable: (tool: string) => boolean
  readonly at: Instant
  readonly phase: 'live' | 'closing' | 'ended'
  readonly view: SessionView | null
  /** One thing at a time towards the store: every append compares the tail. */
  readonly busy: 'look' | SessionCommit | null
  /** The view is older than our last commit: look before anything is decided. */
  readonly stale: boolean
  /** Mail may have arrived: look when there is nothing else to do. */
  readonly hinted: boolean
  /** Numbers our commits. Together with the random holder it makes unique operation ids. */
  readonly count: number
  readonly step: StepTrack
  readonly tools: ToolTrack
  readonly handoff: HandoffTrack
  readonly revert: RevertTrack
  readonly erasure: ErasureTrack
  /**
   * A delivery or a reply whose outcome is unknown and that may still be committed: offered again,
   * unchanged, until it is answered. A step that began meanwhile would belong to no turn.
   */
  readonly inDoubt: CommitOf<'deliver'> | CommitOf<'commitReply'> | null
  /** A control item that could not be carried out and must be settled as refused. */
  readonly turnedDown: { readonly mail: MailNumber; readonly refused: Refusal } | null
  /** The alarm for an idle compaction fired. */
  readonly idleDue: boolean
  /** The provider found the context of this turn too long, whatever our count says. */
  readonly overflow: Overflow | null
  /**
   * Consecutive failed handoffs by a model, counted here as well as in the store, whose clock may
   * jump.
   */
  readonly handoffFailures: number
  readonly handoffRetryAt: number
  readonly failures: number
  /** After a store failure nothing is tried before this (monotonic). */
  readonly retryAt: number
  /**
   * After a model failure no step is tried before `modelRetryAt` (monotonic); everything else
   * continues.
   */
  readonly modelFailures: number
  readonly modelRetryAt: number
  readonly stepWait: StepWait | null
  /** The turn and the waits that people were notified of, each once. */
  readonly notified: {
    readonly turn: number
    readonly notices: readonly Notice[]
    /** Notices that the previous holder already sent. */
    readonly earlier: readonly Notice[]
    /** The next try that was announced (monotonic). */
    readonly retryAt?: number
  }
  /** Wanted settings that the store refused; not tried again until they change. */
  readonly refusedSettings: WantedSettings | null
  readonly collect: Collect | null
  readonly restingSince: number | null
  readonly timerAt: number | null
  /** Consecutive commits that changed nothing; a protocol that loops is a bug. */
  readonly refusals: number
}

/**
 * Why no step runs before `modelRetryAt`: the model failed, or a limit on spending is reached and a
 * person has to continue the turn.
 */
export interface StepWait {
  readonly turn: number
  readonly notice: Notice
  readonly why: string
}

/** The notice for a person who waits, once per turn: the message is stored and will be answered. */
export type Notice = 'waiting-for-compaction' | 'waiting-for-model' | 'waiting-for-approval'

export interface Overflow {
  readonly turn: number
  readonly base: EntryNumber
  /** The provider's apparent window, in our token counts: the configured one is wrong. */
  readonly limitTokens: number
}

export interface Collect {
  readonly newest: MailNumber
  readonly since: number
  readonly newestSince: number
}

export type StepTrack =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'running'
      readonly turn: number
      readonly upto: EntryNumber
      readonly aborting: boolean
    }
  | {
      readonly kind: 'ended'
      readonly turn: number
      readonly upto: EntryNumber
      readonly operation: OperationId
      readonly outcome: Exclude<StepOutcome, { kind: 'overflow' | 'paused' }>
    }

export type ToolTrack =
  | { readonly kind: 'none' }
  | { readonly kind: 'running'; readonly aborting: boolean }
  | {
      readonly kind: 'ended'
      readonly operation: OperationId
      readonly results: readonly CallResult[]
    }

export type HandoffTrack =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'writing'
      readonly operation: OperationRow
      readonly focus: string | null
      /** The turn in which it started. */
      readonly since: number
    }
  | {
      readonly kind: 'written'
      readonly operation: OperationRow
      readonly focus: string | null
      readonly body: JsonValue
      readonly tokens: number
      /** Covered input that was unanswered when writing began. */
      readonly carries: readonly EntryNumber[]
      /** Set by a clearing alone. */
      readonly clearing?: PlannedClearing
      /** Who wrote it; recorded in the operation's result. */
      readonly provenance?: JsonObject
    }
  | {
      readonly kind: 'refused'
      readonly operation: OperationRow
      readonly focus: string | null
      readonly reason: string
    }

export type RevertTrack =
  | { readonly kind: 'none' }
  | { readonly kind: 'measuring'; readonly target: EntryNumber }
  | {
      readonly kind: 'measured'
      readonly target: EntryNumber
      readonly tokensAfter: number
      /** Measured as of this entry, without system text and pins, which are added later. */
      readonly upto: EntryNumber
      /** Under other limits, messages are cut at other lengths. */
      readonly limits: Limits
      readonly operation: OperationId
    }

/**
 * An erasure of entries that the handoff in effect may mention waits for a new handoff without
 * them.
 */
export type ErasureTrack =
  | { readonly kind: 'none' }
  | { readonly kind: 'writing' }
  | {
      readonly kind: 'written'
      /** The requesting mail; null if another session erased the entries. */
      readonly mail: MailNumber | null
      /** The base it was written on: if the base changes or more is owed, it is void. */
      readonly base: EntryNumber
      readonly owed: readonly EntryNumber[]
      /** Null if none could be written; the request is then refused. */
      readonly replacement: { readonly body: JsonValue; readonly tokens: number } | null
      readonly operation: OperationId
    }

export type SessionVerb =
  | 'recover'
  | 'deliver'
  | 'commitReply'
  | 'commitResults'
  | 'claimCompaction'
  | 'commitCompaction'
  | 'failCompaction'
  | 'revert'
  | 'pin'
  | 'setTasks'
  | 'eraseEntries'
  | 'changeSettings'
  | 'settleControl'
  | 'setWake'
  | 'release'

type CommitOf<Verb extends CommitVerb> = { readonly verb: Verb; readonly request: RequestOf<Verb> }
export type SessionCommit = { [Verb in SessionVerb]: CommitOf<Verb> }[SessionVerb]
type CommitOutcomeOf<Verb extends CommitVerb> = {
  readonly verb: Verb
  readonly outcome: OutcomeOf<Verb>
}
export type CommitOutcome = { [Verb in SessionVerb]: CommitOutcomeOf<Verb> }[SessionVerb]

/** The session, read by a look or returned by our own commit. */
export interface SeenSession {
  readonly view: SessionView
  /** The operation at the entry after the known tail, if there is one. */
  readonly next: OperationId | null
}

export type Event = { readonly at: Instant } & (
  | { readonly kind: 'opened' }
  | ({ readonly kind: 'looked' } & SeenSession)
  /** Without `seen` the session must be looked at. */
  | { readonly kind: 'committed'; readonly committed: CommitOutcome; readonly seen?: SeenSession }
  /** The commit may have happened. */
  | { readonly kind: 'unsure' }
  /** The store did nothing; the request may be repeated. */
  | { readonly kind: 'unavailable' }
  /** Another process holds the session, or our lease has expired. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'step ended'; readonly outcome: StepOutcome }
  | { readonly kind: 'tools ended'; readonly results: readonly CallResult[] }
  | {
      readonly kind: 'handoff written'
      readonly operation: OperationId
      readonly body: JsonValue
      readonly tokens: number
      readonly carries: readonly EntryNumber[]
      readonly provenance?: JsonObject
    }
  | { readonly kind: 'handoff failed'; readonly operation: OperationId; readonly reason: string }
  /** The store could not be read, so no writer was called; the operation continues. */
  | { readonly kind: 'handoff delayed'; readonly operation: OperationId }
  | {
      readonly kind: 'revert measured'
      readonly target: EntryNumber
      readonly tokensAfter: number
      readonly upto: EntryNumber
      readonly limits: Limits
    }
  /** The store could not be read just now; it is measured again. */
  | { readonly kind: 'revert delayed'; readonly target: EntryNumber }
  | {
      readonly kind: 'replacement written'
      readonly mail: MailNumber | null
      readonly base: EntryNumber
      readonly owed: readonly EntryNumber[]
      readonly replacement: { readonly body: JsonValue; readonly tokens: number } | null
    }
  /** A model answered elsewhere, so a turn that waits for one may try at once. */
  | { readonly kind: 'model back' }
  /** Mail may have arrived, or the timer fired. */
  | { readonly kind: 'woken' }
  | { readonly kind: 'closing' }
)

/** An event before the actor stamps it with the time. */
export type EventBody = Event extends infer Each
  ? Each extends Event
    ? Omit<Each, 'at'>
    : never
  : never

export type Effect =
  | { readonly kind: 'look' }
  | { readonly kind: 'commit'; readonly commit: SessionCommit }
  | { readonly kind: 'runStep'; readonly turn: number; readonly context: Context }
  | { readonly kind: 'abortStep' }
  | {
      readonly kind: 'startTools'
      readonly entry: EntryNumber
      readonly calls: readonly ToolCallPart[]
    }
  | { readonly kind: 'abortTools' }
  | {
      readonly kind: 'writeHandoff'
      readonly operation: OperationRow
      readonly focus: string | null
      readonly context: Context
      readonly limits: Limits
      readonly carries: readonly EntryNumber[]
    }
  /** Neither a stop nor a message is among these reasons (I11). */
  | { readonly kind: 'abortHandoff'; readonly reason: 'superseded' | 'closing' | 'lost' }
  | { readonly kind: 'measureRevert'; readonly target: EntryNumber }
  /** A digest of the covered range without these entries. */
  | {
      readonly kind: 'replaceHandoff'
      readonly mail: MailNumber | null
      readonly entries: readonly EntryNumber[]
      readonly context: Context
    }
  | { readonly kind: 'setTimer'; readonly at: number }
  | {
      readonly kind: 'notify'
      readonly turn: number
      readonly notice: Notice
      /**
       * People were already notified, by us or by the previous holder; only the next try is new.
       */
      readonly isKnown: boolean
      /** The failure, described for people. */
      readonly why?: string
      /** When the next try is (wall time). */
      readonly nextTryAt?: number
    }
  | { readonly kind: 'end'; readonly how: 'released' | 'lost' }

export interface Advance {
  readonly state: State
  readonly effects: readonly Effect[]
}

/**
 * The holder is random for each acquisition, so holder and count are unique without more
 * randomness.
 */
export function operationOf(lease: Lease, count: number): OperationId {
  return `${lease.holder}-${count}` as OperationId
}

export function numbered(state: State, change: (operation: OperationId) => Partial<State>): State {
  const count = state.count + 1
  return { ...state, count, ...change(operationOf(state.lease, count)) }
}

export function withoutEffects(state: State): Advance {
  return { state, effects: [] }
}

/** The body of a control item. */
export function mailBody(mail: MailItem): JsonObject {
  const body = parseBody('mail', mail)
  return isObject(body) ? body : {}
}
