import type { EntryNumber, MailNumber, RunnerId, SessionId } from '../base/ids.ts'
import type { JsonValue } from '../base/json.ts'
import type { Gone } from './outcomes.ts'

/**
 * Rows beside transcripts and mailboxes: durable timers, agents' notes, and HTTP tokens. Each row
 * is replaced or removed by its key; none is part of a chain. Ids are written like session ids. A
 * row is erased with its session or its entry.
 */
export interface ScheduleRow {
  readonly id: string
  readonly sessionId: SessionId
  readonly dueAt: number
  /** How it repeats, in the scheduler's notation; null: once. */
  readonly repeat: string | null
  /** Canonical JSON; becomes the body of the mail. */
  readonly body: string
  readonly tokens: number
  readonly state: 'waiting' | 'ended' | 'cancelled'
  /** How often it has fired, and the due time of the last one. */
  readonly fired: number
  readonly firedAt: number | null
  readonly at: number
}

/** The same id again replaces, also what has ended; `body` is what the mail will say. */
export interface PutSchedule {
  readonly id: string
  readonly sessionId: SessionId
  readonly dueAt: number
  readonly repeat: string | null
  readonly body: JsonValue
  readonly tokens: number
  /** Only while it waits for this time: it is moved to another, earlier ones included. */
  readonly from?: number
}
export type PutScheduleOutcome =
  | { readonly kind: 'scheduled'; readonly schedule: ScheduleRow }
  /** The id belongs to another session. */
  | { readonly kind: 'taken' }
  /** It has fired for this or a later time, and each time fires once; or not for `from` any more. */
  | { readonly kind: 'passed'; readonly firedAt: number | null }
  | Full
  | TooLarge
  | Unknown
  | Gone

export interface FireSchedule {
  readonly id: string
  /** As the caller read it, so that the second of two writers is refused. */
  readonly dueAt: number
  /** Later than `dueAt`; null ends it. */
  readonly nextDueAt: number | null
}
export type FireOutcome =
  | {
      readonly kind: 'fired'
      readonly sessionId: SessionId
      readonly mail: MailNumber
      readonly runner: RunnerId | null
      readonly schedule: ScheduleRow
    }
  | { readonly kind: 'not-due'; readonly schedule: ScheduleRow }
  /** The mailbox takes nothing now; the schedule is as it was. */
  | { readonly kind: 'full'; readonly which: 'lane' | 'source'; readonly limit: number }
  | Unknown
  | Gone

/** With `dueBy`: the earliest first. Otherwise in the order of ids, behind `after`. */
export interface ListSchedules {
  readonly sessionId?: SessionId
  readonly state?: ScheduleRow['state']
  readonly dueBy?: number
  readonly after?: string
  readonly limit: number
}

/**
 * One thing that an agent remembers from one session to the next, and where it learned it. It belongs
 * to the scope of the session it came from; empty: it came from none, and is in no session's scope.
 */
export interface NoteRow {
  readonly agent: string
  readonly scope: string
  readonly id: string
  readonly text: string
  readonly origin: { readonly sessionId: SessionId; readonly number: EntryNumber } | null
  readonly at: number
}
/**
 * How the id of a note begins that was proposed from a whole range: its origin is the last entry of
 * that range, and any entry up to there may be what it repeats.
 */
export const PROPOSED = 'p-'
export interface PutNote extends Omit<NoteRow, 'at'> {
  /** Only in place of a note with this key: one that was erased meanwhile does not come back. */
  readonly replaces?: true
}
export type PutNoteOutcome =
  | { readonly kind: 'noted'; readonly note: NoteRow }
  | Full
  | TooLarge
  /** `replaces`, and there is no such note. */
  | Unknown
  /** The session that it comes from was deleted. */
  | Gone
export type NoteKey = Pick<NoteRow, 'agent' | 'scope' | 'id'>
/** In the order of ids; without `scope`, those of all scopes. */
export interface ListNotes {
  readonly agent: string
  readonly scope?: string
  readonly after?: string
  readonly limit: number
}

/** An access token as the store knows it: never the secret, only its hash. */
export interface TokenRow {
  readonly id: string
  readonly hash: string
  /** On whose behalf its requests act; tokens of one principal share idempotency keys. */
  readonly principal: string
  readonly scopes: readonly string[]
  readonly label: string
  readonly createdAt: number
  readonly expiresAt: number | null
}

/**
 * The messages of a reply that a gateway has shown before it is settled: the platform's ids, in
 * order. After a crash the next sender edits these instead of sending them again.
 */
export interface DraftRow {
  readonly sessionId: SessionId
  /** The key of the reply. */
  readonly key: string
  readonly ids: readonly string[]
  readonly at: number
}
export type DraftKey = Pick<DraftRow, 'sessionId' | 'key'>

/** The total cost of model calls in a period. */
export interface AttemptSum {
  readonly attempts: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedTokens: number
  /** Of those whose cost is known. */
  readonly cost: number
  readonly unpriced: number
}
export interface SumAttempts {
  readonly sessionId?: SessionId
  readonly agent?: string
  readonly turn?: number
  readonly modelRoute?: string
  readonly task?: string
  readonly host?: string
  readonly since: number
  /** Only calls beside the turns of a conversation. */
  readonly isAuxiliary?: true
}
/** Newest key first; without one of that kind (a call beside turns) a call is in no group. */
export interface GroupAttempts extends SumAttempts {
  readonly by: AttemptGrouping
  readonly limit: number
}
export type AttemptGrouping = 'turn' | 'step' | 'session' | 'agent' | 'day'
/** `key`: the number, the id, the name, or the day as `2026-01-31` (UTC). */
export type AttemptGroup = AttemptSum & { readonly key: string }

export type Full = { readonly kind: 'full'; readonly limit: number }
export type TooLarge = {
  readonly kind: 'too-large'
  readonly bytes: number
  readonly limit: number
}
export type Unknown = { readonly kind: 'unknown' }
