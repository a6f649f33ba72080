import type { EntryNumber, MailNumber, OperationId } from '../../base/ids.ts'
import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { BudgetSettings } from '../../compaction/plan/defaults.ts'
import { WARN_FROM } from '../../compaction/report/outcome.ts'
import type { ToolCallPart } from '../../message/message.ts'
import type { CallResult, Refusal } from '../../store/commits.ts'
import type { CommitVerb, Lease, OutcomeOf, RequestOf } from '../../store/contract.ts'
import { parseBody } from '../../store/integrity/damaged-row.ts'
import type { MailItem } from '../../store/queries.ts'
import type { BusyPolicy, Limits, OperationRow, SessionRow } from '../../store/rows.ts'
import type { Context } from '../context/build.ts'
import type { StepOutcome } from '../step.ts'

/** What the store last told about the session, taken while nothing of ours was on its way. */
export interface Picture {
  readonly session: SessionRow
  readonly context: Context
  /** Waiting control items, oldest first. */
  readonly controls: readonly MailItem[]
  /** Waiting input, user mail before notifications, each oldest first; bounded. */
  readonly waiting: readonly MailItem[]
  /** Newest first, bounded: breakers and rate limits are counted from these. */
  readonly operations: readonly OperationRow[]
  /** What the operator wants this session to run with; absent: whatever it has. */
  readonly wanted?: WantedSettings
  /** The turn was taken over from a holder whose last call of the model had failed. */
  readonly wasFailing?: true
  /** Where the answer of the running turn goes. */
  readonly replyTo: { readonly edge: string; readonly address: string } | null
}

/**
 * An agent's settings as configured. They enter a session as an entry, between two turns, because
 * the context is folded from entries and from nothing else (decision 1).
 */
export interface WantedSettings {
  readonly limits: Limits
  /** Without a word of its own the session keeps the policy it has. */
  readonly policy?: BusyPolicy
  /** Holds the system text under `system`, and whatever else a step was made with. */
  readonly body: JsonObject & { readonly system: string }
  /** What the body takes of every context: the system text and the tools' descriptions. */
  readonly tokens: number
}

/** Wall time for schedules and breakers, monotonic time for everything that waits. */
export interface Instant {
  readonly wall: number
  readonly mono: number
}

/** Numbers that the operator may set; everything is in milliseconds unless it says otherwise. */
export interface SessionSettings {
  readonly debounceMs: number
  /** However much arrives, collected mail is delivered after this long. */
  readonly collectMsMax: number
  /** How long a session at rest is kept before its lease is given back. */
  readonly lingerMs: number
  /** A session at rest for this long is compacted if it is worth it; null: never. */
  readonly idleCompactionMs: number | null
  readonly retryMs: number
  readonly retryMsMax: number
  /** A turn whose model is down is tried again after this long, then doubling. */
  readonly modelRetryMs: number
  readonly modelRetryMsMax: number
  /** Attempts at a handoff by a model per session and window, digests not counted (I27). */
  readonly attemptsPerWindow: number
  readonly attemptWindowMs: number
  readonly softShare: number
  readonly targetShare: number
  /** Sizes of a handoff's sections and what is protected, where they differ from the usual. */
  readonly sections?: SectionSettings
  /** Replaces the built-in instructions to whoever writes summaries. */
  readonly prompt?: string
  /** People are warned of repeated compaction from the n-th one of a session on; 0: never. */
  readonly warnFrom: number
}

export type SectionSettings = Partial<
  Pick<
    BudgetSettings,
    'keepTokens' | 'protectFirst' | 'protectLast' | 'userTokens' | 'ledgerTokens' | 'summaryTokens'
  >
>

export const SESSION_SETTINGS: SessionSettings = {
  debounceMs: 1_500,
  collectMsMax: 15_000,
  lingerMs: 30_000,
  idleCompactionMs: 30 * 60_000,
  retryMs: 500,
  retryMsMax: 60_000,
  modelRetryMs: 30_000,
  modelRetryMsMax: 10 * 60_000,
  attemptsPerWindow: 8,
  attemptWindowMs: 10 * 60_000,
  softShare: 0.75,
  targetShare: 0.35,
  warnFrom: WARN_FROM,
}

export interface State {
  readonly lease: Lease
  readonly settings: SessionSettings
  /** Whether a tool may be called again under the same key; asked once per tool name. */
  readonly isRepeatable: (tool: string) => boolean
  readonly at: Instant
  readonly phase: 'live' | 'closing' | 'ended'
  readonly picture: Picture | null
  /** One thing at a time towards the store: every append compares the tail. */
  readonly busy: 'look' | SessionCommit | null
  /** The picture is older than our last commit: look before anything is decided. */
  readonly stale: boolean
  /** Something may have arrived: look when there is nothing else to do. */
  readonly hinted: boolean
  /** Numbers our commits; with the random holder this makes operation ids without chance. */
  readonly count: number
  readonly step: StepTrack
  readonly tools: ToolTrack
  readonly handoff: HandoffTrack
  readonly revert: RevertTrack
  readonly erasure: ErasureTrack
  /** A delivery that may still come about: offered again, unchanged, until there is an answer. */
  readonly delivery: CommitOf<'deliver'>['request'] | null
  /** A control item that could not be carried out and is to be settled as such. */
  readonly turnedDown: { readonly mail: MailNumber; readonly refused: Refusal } | null
  /** The alarm for an idle compaction rang. */
  readonly idleDue: boolean
  /** The provider found the context of this turn too long, whatever our count says. */
  readonly overflow: Overflow | null
  /** Handoffs by a model that failed in a row here; counted beside the store's, whose clock may jump. */
  readonly handoffFailures: number
  readonly handoffRetryAt: number
  readonly failures: number
  /** Nothing is tried before this (monotonic), after the store failed. */
  readonly retryAt: number
  /** No step is tried before this (monotonic), after the model failed; all else goes on. */
  readonly modelFailures: number
  readonly modelRetryAt: number
  /** The turn and the waits that the person was told of: each once. */
  readonly told: {
    readonly turn: number
    readonly notices: readonly Notice[]
    /** What the holder before us told already. */
    readonly earlier: readonly Notice[]
  }
  /** Wanted settings that the store refused; not asked again until they change. */
  readonly refusedSettings: WantedSettings | null
  readonly collect: Collect | null
  readonly restingSince: number | null
  readonly timerAt: number | null
  /** Commits in a row that changed nothing; a protocol that loops is a programmer's error. */
  readonly refusals: number
}

/** What a person who waits is told, once per turn: the message is safe and will be answered. */
export type Notice = 'waiting-for-compaction' | 'waiting-for-model'

export interface Overflow {
  readonly turn: number
  readonly base: EntryNumber
  /** What the provider seems to take, as we count: the window we believed in is wrong. */
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
      readonly outcome: Exclude<StepOutcome, { kind: 'overflow' }>
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
  | { readonly kind: 'writing'; readonly operation: OperationRow; readonly focus: string | null }
  | {
      readonly kind: 'written'
      readonly operation: OperationRow
      readonly focus: string | null
      readonly body: JsonValue
      readonly tokens: number
      /** Covered input that was unanswered when writing began. */
      readonly carries: readonly EntryNumber[]
      /** Who wrote it; stands in the operation's result. */
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
      /** Measured as of this entry, without system text and pins: those are added as they are then. */
      readonly upto: EntryNumber
      readonly operation: OperationId
    }

/** An erasure that the handoff in effect may tell of waits for a new handoff without it. */
export type ErasureTrack =
  | { readonly kind: 'none' }
  | { readonly kind: 'writing'; readonly mail: MailNumber }
  | {
      readonly kind: 'written'
      readonly mail: MailNumber
      /** What it was written on: any other foundation makes it void. */
      readonly base: EntryNumber
      /** Null: none could be written; the request is turned down. */
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
type CommittedOf<Verb extends CommitVerb> = {
  readonly verb: Verb
  readonly outcome: OutcomeOf<Verb>
}
export type Committed = { [Verb in SessionVerb]: CommittedOf<Verb> }[SessionVerb]

export type Event = { readonly at: Instant } & (
  | { readonly kind: 'opened' }
  | {
      readonly kind: 'looked'
      readonly picture: Picture
      /** The operation at the entry behind the tail that we knew, if there is one. */
      readonly next: OperationId | null
    }
  | { readonly kind: 'committed'; readonly committed: Committed }
  /** The commit may have happened. */
  | { readonly kind: 'unsure' }
  /** The store did nothing and says that it may be asked again. */
  | { readonly kind: 'unavailable' }
  /** Somebody else holds the session, or our right to it has run out. */
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
  /** The store could not be read just now, so nobody was asked to write; the operation goes on. */
  | { readonly kind: 'handoff delayed'; readonly operation: OperationId }
  | {
      readonly kind: 'revert measured'
      readonly target: EntryNumber
      readonly tokensAfter: number
      readonly upto: EntryNumber
    }
  | {
      readonly kind: 'replacement written'
      readonly mail: MailNumber
      readonly base: EntryNumber
      readonly replacement: { readonly body: JsonValue; readonly tokens: number } | null
    }
  /** A model answered elsewhere: whoever waits for one may try at once. */
  | { readonly kind: 'model back' }
  /** Something may have arrived, or the timer rang. */
  | { readonly kind: 'woken' }
  | { readonly kind: 'closing' }
)

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
  /** No stop and no message gives one of these reasons (I11). */
  | { readonly kind: 'abortHandoff'; readonly reason: 'superseded' | 'closing' | 'lost' }
  | { readonly kind: 'measureRevert'; readonly target: EntryNumber }
  /** A digest of the covered range without these entries. */
  | {
      readonly kind: 'replaceHandoff'
      readonly mail: MailNumber
      readonly entries: readonly EntryNumber[]
      readonly context: Context
    }
  | { readonly kind: 'setTimer'; readonly at: number }
  | {
      readonly kind: 'notify'
      readonly turn: number
      readonly notice: Notice
      /** A holder before us told it: nobody needs to hear it again. */
      readonly isKnown: boolean
    }
  | { readonly kind: 'end'; readonly how: 'released' | 'lost' }

export interface Advance {
  readonly state: State
  readonly effects: readonly Effect[]
}

/** The holder is drawn at random for each acquisition; a count behind it is unique without chance. */
export function operationOf(lease: Lease, count: number): OperationId {
  return `${lease.holder}-${count}` as OperationId
}

export function numbered(state: State, change: (operation: OperationId) => Partial<State>): State {
  const count = state.count + 1
  return { ...state, count, ...change(operationOf(state.lease, count)) }
}

export function only(state: State): Advance {
  return { state, effects: [] }
}

/** What a control item says beside its name. */
export function bodyOf(mail: MailItem): JsonObject {
  const body = parseBody('mail', mail)
  return isObject(body) ? body : {}
}
