import type { EntryNumber, MailNumber, RunnerId, SessionId } from '../base/ids.ts'
import type { JsonValue } from '../base/json.ts'
import type { Gone } from './outcomes.ts'

/**
 * Rows beside transcripts and mailboxes: durable timers, agents' notes, and HTTP tokens. Each row
 * is replaced or removed by its key; none is part of a chain. Ids follow the rules for session ids.
 * A row is erased with its session or its entry.
 */
export interface ScheduleRow {
  readonly id: string
  readonly sessionId: SessionId
  readonly dueAt: number
  /** How it repeats, in the scheduler's notation; null: it fires once. */
  readonly repeat: string | null
  /** Canonical JSON: the body of the mail. */
  readonly body: string
  readonly tokens: number
  readonly state: 'waiting' | 'ended' | 'cancelled'
  /** How often it has fired, and its last due time. */
  readonly fired: number
  readonly firedAt: number | null
  readonly at: number
}

/** Replaces a schedule with the same id, even an ended one. `body` becomes the body of the mail. */
export interface PutSchedule {
  readonly id: string
  readonly sessionId: SessionId
  readonly dueAt: number
  readonly repeat: string | null
  readonly body: JsonValue
  readonly tokens: number
  /** Reschedule only if the schedule waits for this time; the new time may be earlier. */
  readonly from?: number
}
export type PutScheduleOutcome =
  | { readonly kind: 'scheduled'; readonly schedule: ScheduleRow }
  /** The id belongs to another session. */
  | { readonly kind: 'taken' }
  /** It already fired for this time or a later one, or it no longer waits for `from`. */
  | { readonly kind: 'passed'; readonly firedAt: number | null }
  | Full
  | TooLarge
  | Unknown
  | Gone

export interface FireSchedule {
  readonly id: string
  /** The due time that the caller read: of two writers, the second is refused. */
  readonly dueAt: number
  /** Later than `dueAt`; null ends the schedule. */
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
  /** The mailbox is full; the schedule is unchanged. */
  | { readonly kind: 'full'; readonly which: 'lane' | 'source'; readonly limit: number }
  | Unknown
  | Gone

/** With `dueBy`, earliest first; otherwise by id, starting after `after`. */
export interface ListSchedules {
  readonly sessionId?: SessionId
  readonly state?: ScheduleRow['state']
  readonly dueBy?: number
  readonly after?: string
  readonly limit: number
}

/**
 * One thing that an agent remembers across sessions, and where it learned it. The note belongs to
 * the scope of that session, or of a fork that took it along. An empty scope means that it came from no session and is visible in
 * none.
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
 * Id prefix of notes that were proposed from a range of entries: `origin` is the last entry of the
 * range, and the note may repeat any entry up to it.
 */
export const PROPOSED = 'p-'
export interface PutNote extends Omit<NoteRow, 'at'> {
  /** Only replace a note with this key, so that an erased note does not come back. */
  readonly replaces?: true
  /** A fork takes the note along: its origin may be in the scope that the fork came from. */
  readonly isInherited?: true
}
export type PutNoteOutcome =
  | { readonly kind: 'noted'; readonly note: NoteRow }
  | Full
  | TooLarge
  /** `replaces` was set and there is no such note. */
  | Unknown
  /** Its session was deleted. */
  | Gone
export type NoteKey = Pick<NoteRow, 'agent' | 'scope' | 'id'>
/** By id; without `scope`, of all scopes. */
export interface ListNotes {
  readonly agent: string
  readonly scope?: string
  readonly after?: string
  readonly limit: number
}

/** An access token as stored: its hash, never the secret. */
export interface TokenRow {
  readonly id: string
  readonly hash: string
  /** Whom its requests act for; tokens of one principal share idempotency keys. */
  readonly principal: string
  readonly scopes: readonly string[]
  readonly label: string
  readonly createdAt: number
  readonly expiresAt: number | null
}

/**
 * The platform's ids, in order, of the messages that already show a reply which is not settled yet.
 * After a crash the next sender edits these messages instead of sending new ones.
 */
export interface DraftRow {
  readonly sessionId: SessionId
  /** The reply's key. */
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
  /** The sum of the known costs; `unpriced` counts the other attempts. */
  readonly cost: number
  readonly unpriced: number
}
/** The sum of calls that the store no longer lists. */
export interface UsageRow extends AttemptSum {
  readonly sessionId: SessionId
  /** The session's agent; empty if there is none. */
  readonly agent: string
  /** UTC, counted from 1970. */
  readonly day: number
  readonly modelRoute: string
  readonly task: string
  readonly host: string
}
/** Calls that are no longer listed are known by their day: they count if all of it is in the period. */
export interface SumAttempts {
  readonly sessionId?: SessionId
  readonly agent?: string
  /** Only of calls that the store still lists. */
  readonly turn?: number
  readonly modelRoute?: string
  readonly task?: string
  readonly host?: string
  readonly since: number
  /** Only calls outside turns. */
  readonly isAuxiliary?: true
}
/**
 * Newest key first. A call without such a key is in no group: one outside turns has no turn, and one that is
 * no longer listed has neither turn, step nor hour.
 */
export interface GroupAttempts extends SumAttempts {
  readonly by: AttemptGrouping
  readonly limit: number
}
export type AttemptGrouping = 'turn' | 'step' | 'session' | 'agent' | 'day' | 'hour'
/** `key`: the number, the id, the name, or (UTC) the day as `2026-01-31`, the hour as `2026-01-31T09`. */
export type AttemptGroup = AttemptSum & { readonly key: string }

export type Full = { readonly kind: 'full'; readonly limit: number }
export type TooLarge = {
  readonly kind: 'too-large'
  readonly bytes: number
  readonly limit: number
}
export type Unknown = { readonly kind: 'unknown' }
