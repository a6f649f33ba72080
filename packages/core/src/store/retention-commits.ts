import type { SessionId } from '../base/ids.ts'
import type { ReplyRow } from './tables/rows.ts'

export interface ReplyKey {
  readonly sessionId: SessionId
  readonly number: number
}

export interface ReplyHead extends ReplyKey, Pick<ReplyRow, 'state' | 'at'> {
  /** No reply of its session has a higher number. */
  readonly isLast: boolean
}

/** Replaces the oldest model calls by their sums for each day. */
export interface DropAttempts {
  /** Calls of this day and later stay (UTC, counted from 1970). Only whole days go, so that sums by day stay exact. */
  readonly beforeDay: number
  readonly limit: number
}

/** Looks at the next `limit` replies of the store and removes those that were sent long ago. */
export interface DropSent {
  /** Replies that were written later stay. */
  readonly before: number
  readonly limit: number
  /** Where the previous piece ended. */
  readonly after?: ReplyKey
}
export interface DropSentOutcome {
  readonly kind: 'dropped'
  readonly count: number
  /** Where this piece ended; null: there are no more replies. */
  readonly upTo: ReplyKey | null
}
