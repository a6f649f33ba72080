import type { EntryNumber, MailNumber, OperationId, RunnerId, SessionId } from '../../base/ids.ts'
import type { JsonObject } from '../../base/json.ts'

/** The store's rows as values. Engines store them; the rules compute the next ones. */
export const LANES = ['control', 'user', 'notification'] as const
export type Lane = (typeof LANES)[number]
/** The lanes whose mail becomes entries. Control items are commands, settled one by one. */
export type InputLane = 'user' | 'notification'
export type BusyPolicy = 'steer' | 'queue' | 'interrupt' | 'collect'

export interface StoreRow {
  readonly id: string
  readonly schema: number
  /** Number and hash of the newest audit row; every commit except a renewal adds one. */
  readonly commits: number
  readonly hash: string
}

export interface RunnerRow {
  readonly id: RunnerId
  /** Boot id of the host, process id and start time: they tell a dead process from a silent one. */
  readonly boot: string
  readonly process: number
  readonly startedAt: number
  readonly beat: number
  readonly leaseMs: number
}

export interface ListedRunner extends RunnerRow {
  /** Its database connection, which lives as long as its process, was seen and has closed. */
  readonly isAbsent?: true
}

/**
 * Upper bounds in tokens, so that P + H + U + T + O fits below the hard limit (I33). U bounds all
 * input that no finished turn has answered, seen by a model or not (I34).
 */
export interface Limits {
  readonly hardTokens: number
  readonly pinTokens: number
  readonly handoffTokens: number
  readonly inputTokens: number
  readonly stepTokens: number
  readonly outputTokens: number
  /** Waiting items per lane and per source, before admission is refused. */
  readonly laneMailMax: number
  readonly sourceMailMax: number
}

export interface PinRecord {
  readonly entry: EntryNumber
  readonly tokens: number
}

export interface SessionRow {
  readonly id: SessionId
  readonly agent: string
  readonly state: 'open' | 'erasing' | 'gone'
  readonly birth: 'created' | 'afresh' | 'imported' | 'forked'
  readonly createdAt: number
  /**
   * Sessions in one scope are one conversation to the people in it: they share memory notes and may
   * send each other messages. The id of its first session, or a name chosen at creation.
   */
  readonly scope: string

  /** A fork reads its entries up to `forkedAt` from this session; null: it stores all of them. */
  readonly origin: SessionId | null
  /** Entries up to here were written in other sessions, as was the mail they name. */
  readonly forkedAt: EntryNumber
  /** The session whose id starts the hash chain; null: this one. */
  readonly root: SessionId | null
  /**
   * Entries in this session's context that another session erased, and the handoffs emptied with
   * them. The holder names them in an erasure entry before the next step.
   */
  readonly owed: readonly EntryNumber[]
  /** In a deleted session: its own entries up to here are kept, because living forks read them. */
  readonly retained: EntryNumber

  readonly fence: number
  readonly runner: RunnerId | null
  readonly holder: string | null
  /**
   * The fence of the last recovery, so that recovery runs once per acquisition. An acquisition between
   * two turns sets it: there is nothing to recover.
   */
  readonly recovered: number

  readonly tail: EntryNumber
  readonly tailHash: string
  readonly base: EntryNumber
  readonly seen: EntryNumber

  /** The compaction in effect (0: none), what it covers and who wrote it. */
  readonly effective: EntryNumber
  readonly covers: EntryNumber
  readonly by: CompactionBy | null
  /** How many times a rewrite of the digest in effect was claimed. */
  readonly rewrites: number
  readonly operation: OperationId | null

  readonly turn: number
  readonly turnState: 'idle' | 'running'
  /** Since the turn's last step: errors that ended the work on it, and holders killed or stalled. */
  readonly attempts: number
  readonly losses: number
  readonly openCalls: readonly string[]

  readonly mail: MailNumber
  readonly delivered: Readonly<Record<InputLane, MailNumber>>
  readonly settled: Readonly<Record<InputLane, MailNumber>>
  readonly pending: Readonly<Record<Lane, number>>
  readonly replies: number

  readonly policy: BusyPolicy
  readonly wakeAt: number | null
  readonly limits: Limits
  readonly pins: Readonly<Record<string, PinRecord>>
  readonly settings: EntryNumber
  readonly tasks: EntryNumber
  /** For lists shown to people; never part of a context. */
  readonly title: string | null
  /** Keeps the title's hash in the audit from being guessed; erased with the title. */
  readonly titleSalt: string | null
}

/** A `clearing` keeps the handoff in effect and shows old tool results with their two ends only. */
export type CompactionBy = 'model' | 'digest' | 'rewrite' | 'clearing'

interface EntryBase {
  readonly number: EntryNumber
  readonly operation: OperationId
  readonly fence: number
  readonly at: number
  readonly tokens: number
}

/** Heads survive erasure, so `meta` never contains conversation text. */
export type EntryHead = EntryBase &
  (
    | { readonly kind: 'input'; readonly meta: InputMeta }
    | { readonly kind: 'assistant'; readonly meta: AssistantMeta }
    | { readonly kind: 'result'; readonly meta: ResultMeta }
    | { readonly kind: 'compaction'; readonly meta: CompactionMeta }
    | { readonly kind: 'revert'; readonly meta: RevertMeta }
    | { readonly kind: 'pin'; readonly meta: PinMeta }
    | { readonly kind: 'task'; readonly meta: Record<string, never> }
    | { readonly kind: 'settings'; readonly meta: SettingsMeta }
    | { readonly kind: 'turn'; readonly meta: TurnMeta }
    | { readonly kind: 'erasure'; readonly meta: ErasureMeta }
    | { readonly kind: 'record'; readonly meta: RecordMeta }
    | { readonly kind: 'arrival'; readonly meta: ArrivalMeta }
  )

export type EntryKind = EntryHead['kind']
/** `row`: the row of the other store that the entry was adopted from; each is adopted once. */
type Adopted = { readonly row?: number }
export type InputMeta = Adopted & {
  readonly lane: InputLane
  /** 0: adopted, so it was never mail. */
  readonly mail: number
  readonly blobs: readonly string[]
  /** How many more messages were waiting when this one, the last of its delivery, entered. */
  readonly waiting?: number
}
export type AssistantMeta = Adopted & {
  readonly turn: number
  /** For the step record: this renderer built the context from entries 1..upto. */
  readonly upto: number
  readonly renderer: string
  readonly calls: readonly string[]
  readonly blobs: readonly string[]
}
export type ResultMeta = Adopted & {
  readonly call: string
  readonly outcome: ResultOutcome
  readonly blobs: readonly string[]
}
export type ResultOutcome = 'ok' | 'error' | 'interrupted' | 'unknown'
export type CompactionMeta = Adopted & {
  readonly covers: number
  /** The compaction before this one, in effect again after a revert; 0: none. */
  readonly previous: number
  readonly by: CompactionBy
  /**
   * Covered input that no finished turn had answered: it stays in the context, whole, beside the
   * handoff (I34). Absent: none.
   */
  readonly carries?: readonly number[]
  /** Set by a clearing, and kept by the compactions after it that do not cover all of it. */
  readonly clears?: Clears
}
/** Results up to this entry are shown with at most so many tokens each. */
export type Clears = { readonly upto: number; readonly tokens: number }
export type RevertMeta = {
  readonly target: number
  readonly previous: number
  /**
   * A rewind: the conversation continued from this entry, and the entries between it and this one
   * left the context. 0: from the beginning. They stay in the transcript, and a later rewind may
   * return to one of them. Absent: only the compaction was undone.
   */
  readonly to?: number
}
/**
 * The limits from here on, and those before. No entry records the limits a session was created
 * with, and a context is clipped by the limits of its time (decision 1).
 */
export type SettingsMeta = { readonly limits?: LimitsRecord; readonly replaces?: LimitsRecord }
type LimitsRecord = { readonly [Name in keyof Limits]: Limits[Name] }
export type PinMeta = { readonly name: string; readonly change: 'set' | 'removed' }
/** In a turn or record made by another program: the hashes of its key and of its content. */
type Keyed = { readonly keyHash?: string; readonly bodyHash?: string }
export type RecordMeta = Keyed
export type TurnMeta = Adopted & Keyed & { readonly turn: number; readonly ended: TurnEnd }
export type TurnEnd = 'answered' | 'stopped' | 'failed'
export type ErasureMeta = {
  readonly entries: readonly number[]
  /**
   * If the handoff in effect covered an erased entry: describes this entry's body, its replacement.
   */
  readonly replaces: CompactionMeta | null
}

/** The first entry of a fork: its origin, and the calls that were open there and are left out. */
export type ArrivalMeta = {
  readonly session: string
  readonly origin: string
  readonly at: number
  readonly hash: string
  readonly left: readonly string[]
}

export type Entry = EntryHead & {
  /** Canonical JSON, or null once erased. */
  readonly body: string | null
  readonly salt: string | null
  readonly bodyHash: string
  readonly prevHash: string
  readonly hash: string
}

export interface MailRow {
  readonly number: MailNumber
  readonly lane: Lane
  /** What a control item asks for; the rules know only `stop`. */
  readonly control: string | null
  /** Null once erased, as are the key and the body. */
  readonly source: string | null
  readonly key: string | null
  /** Control items keep it only while they wait. */
  readonly body: string | null
  readonly tokens: number
  /** User mail and notifications are settled by the session's cursors, not by this field. */
  readonly state: 'admitted' | 'withdrawn' | 'settled'
  /** The turn that was running when a control item was admitted, and to which it applies. */
  readonly turnAt: number | null
  readonly blobs: readonly string[]
  readonly at: number
}

export type MailState = 'pending' | 'delivered' | 'settled' | 'withdrawn'

/** Remembers what was admitted. Outlives mail and erasure, so it contains only hashes. */
export interface IntakeRow {
  readonly keyHash: string
  readonly bodyHash: string
  readonly sessionId: SessionId
  /**
   * 0: the key created a session (`startAfresh`), not mail. Negative: the entry that carries the
   * key, recorded by another program.
   */
  readonly number: MailNumber
}

export type OperationState = 'running' | 'committed' | 'failed' | 'superseded' | 'abandoned'

export interface OperationRow {
  readonly id: OperationId
  readonly sessionId: SessionId
  readonly by: CompactionBy
  readonly trigger: string
  readonly reason: string
  /** The control item that asked for it. */
  readonly requestedBy: MailNumber | null
  readonly fence: number
  readonly base: EntryNumber
  readonly covers: EntryNumber
  readonly previous: EntryNumber
  readonly state: OperationState
  readonly result: JsonObject
  readonly startedAt: number
  readonly endedAt: number | null
}

export interface ReplyRow {
  readonly sessionId: SessionId
  readonly number: number
  readonly entry: EntryNumber
  readonly edge: string
  readonly address: string
  readonly key: string
  readonly body: string | null
  readonly state: 'waiting' | 'sent' | 'dead'
  readonly attempt: number
  readonly claimant: RunnerId | null
  readonly dueAt: number
  readonly at: number
  readonly receipt: string
}

export interface Route {
  readonly agent: string
  readonly channel: string
  readonly address: string
}

export interface RouteRow extends Route {
  readonly sessionId: SessionId
  readonly version: number
}

export interface BlobRow {
  readonly sessionId: SessionId
  readonly hash: string
  readonly mediaType: string
  readonly bytes: Uint8Array
  /** Staged while no entry uses it. */
  readonly uses: number
  readonly at: number
}

export interface AuditRow {
  readonly cursor: number
  readonly at: number
  readonly sessionId: SessionId
  readonly kind: AuditKind
  readonly operation: OperationId | null
  /** `started` or a terminal state; unique per operation, so no operation ends twice (I20). */
  readonly phase: string | null
  readonly facts: JsonObject
  readonly hash: string
}

export type AuditKind =
  | 'session created'
  | 'session deleted'
  | 'message admitted'
  | 'message withdrawn'
  | 'message delivered'
  | 'control settled'
  | 'step committed'
  | 'results committed'
  | 'turn recovered'
  | 'turn started'
  | 'turn ended'
  | 'compaction started'
  | 'compaction committed'
  | 'compaction failed'
  | 'compaction superseded'
  | 'compaction abandoned'
  | 'compaction reverted'
  | 'lease acquired'
  | 'lease released'
  | 'lease lost'
  | 'settings changed'
  | 'route pointed'
  | 'reply settled'
  | 'entries erased'
  | 'entries adopted'

/**
 * One model call, inside or outside a turn, with its cost; rate limits and circuit breakers count
 * it.
 */
export interface AttemptRow {
  readonly id: OperationId
  readonly sessionId: SessionId
  readonly task: string
  readonly modelRoute: string
  readonly outcome: string
  readonly inputTokens: number
  readonly outputTokens: number
  /** Input tokens that the provider read from its cache. */
  readonly cachedTokens: number
  /** Millionths of the operator's currency; null if the price is not known. */
  readonly cost: number | null
  /** The session's agent; empty if there is none. */
  readonly agent: string
  /** The turn that made the call and the last entry of its context; null outside turns. */
  readonly turn: number | null
  readonly step: number | null
  /** The host that made the call, for budgets per host. */
  readonly host: string
  readonly at: number
}
