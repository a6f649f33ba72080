import type { EntryNumber, MailNumber, SessionId } from '../base/ids.ts'
import type { FoldedKind } from './fold.ts'
import type { Entry, Lane, Limits, MailRow, MailState, ReplyRow, SessionRow } from './rows.ts'

/** The reads and their results. Lists end at LIST_MAX; continue after the last item. */

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
  /** One session, or several that are ranked together. */
  readonly sessionId: SessionId | readonly SessionId[]
  /** In a short text, a quoted phrase must occur in the entry exactly. */
  readonly text: string
  /** The whole text must occur in the entry exactly: identifiers, paths, error messages. */
  readonly exact?: boolean
  readonly limit: number
  /** For the next page: so many of the best are left out. */
  readonly skip?: number
  /** How many entries to show before and after each hit. */
  readonly neighbours: number
  /** Also entries without any of the words that are close to entries with them. */
  readonly near?: boolean
  /** Only entries with a lower number. */
  readonly before?: EntryNumber
  readonly speaker?: 'person' | 'notification' | 'agent' | 'tool'
  /** Only calls of this tool, and their results. */
  readonly tool?: string
  /** Only entries that name this file. */
  readonly path?: string
  /** From this moment on, and before that one. */
  readonly since?: number
  readonly until?: number
}
export interface SearchAnswer {
  /** The best first; of equals, the newer. */
  readonly hits: readonly SearchHit[]
  /** How many entries match, those that are not shown included. */
  readonly total: number
  /** How many entries are not indexed yet, and were not looked at. */
  readonly pending: number
}
export interface SearchHit {
  readonly sessionId: SessionId
  readonly entry: Entry
  /** The part of its text that matches best. */
  readonly excerpt: string
  readonly before: readonly Entry[]
  readonly after: readonly Entry[]
}
export interface StoreFinding {
  readonly sessionId: SessionId | null
  readonly entry: EntryNumber | null
  readonly problem: string
}
