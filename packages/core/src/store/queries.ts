import type { EntryNumber, MailNumber, SessionId } from '../base/ids.ts'
import type { FoldedKind } from './fold.ts'
import type { Entry, Lane, Limits, MailRow, MailState, ReplyRow, SessionRow } from './rows.ts'

/** What can be read, and in which shape. Lists end at LIST_MAX; continue behind the last item. */

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
  /** Only these, of the whole range: they are few, and found without reading what lies between. */
  readonly kind?: FoldedKind
}
/** `entries`: the compaction in effect (or the erasure that replaced it), live pins, the newest
 * settings and tasks, then everything behind the covered range; in the order of their numbers. */
export interface ContextEntries {
  readonly session: SessionRow
  readonly effective: EntryNumber
  readonly covers: EntryNumber
  /** As they were then; the session's row has them as they are now. */
  readonly limits: Limits
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
  /** Behind this number; of one session. */
  readonly after?: number
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
  readonly task?: string
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
export interface StoreFinding {
  readonly sessionId: SessionId | null
  readonly entry: EntryNumber | null
  readonly problem: string
}
