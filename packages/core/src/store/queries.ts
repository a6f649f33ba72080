import type { EntryNumber, MailNumber, SessionId } from '../base/ids.ts'
import type { FoldedKind } from './fold.ts'
import type {
  Entry,
  Lane,
  Limits,
  MailRow,
  MailState,
  OperationRow,
  ReplyRow,
  SessionRow,
} from './tables/rows.ts'
import type { Meaning } from './vector-rows.ts'

/**
 * The reads and their results. Lists end at LIST_MAX; to continue, pass the last item as `after`.
 */

export interface ListSessions {
  readonly agent?: string
  readonly state?: SessionRow['state']
  /** Start after this id. */
  readonly after?: SessionId
  readonly limit: number
}
/** A holder's look at its session: the changes since its last look. */
export interface Look {
  readonly sessionId: SessionId
  /** From the last look; null: this is the first one. */
  readonly known: Pick<SessionRow, 'tail' | 'operation' | 'base'> | null
  /** At most this many of each lane, and of operations. */
  readonly limit: number
}
export interface Looked {
  readonly session: SessionRow
  /** Entries after the known tail, one page at most; none in the first look, which reads the context instead. */
  readonly added: readonly Entry[]
  /** Waiting mail, each lane oldest first. */
  readonly mail: Readonly<Record<Lane, readonly MailItem[]>>
  /** Newest first; null: none has started or ended. */
  readonly operations: readonly OperationRow[] | null
}
export interface ReadEntries {
  readonly sessionId: SessionId
  readonly from: EntryNumber
  readonly to: EntryNumber
  /** Only entries of this kind. They are few and indexed, so the rest of the range is not read. */
  readonly kind?: FoldedKind
}
/**
 * `entries`: the compaction in effect (or the erasure that replaced it), live pins, the newest
 * settings and tasks, then everything after the covered range; sorted by number.
 */
export interface ContextEntries {
  readonly session: SessionRow
  readonly effective: EntryNumber
  readonly covers: EntryNumber
  /** As of `upto`; the session row has the current ones. */
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
  /** Start after this number; needs a session. */
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
/** What every search understands, wherever it is asked. */
export interface SearchFilters {
  /** The entry must contain the whole text exactly: for identifiers, paths, error messages. */
  readonly exact?: boolean
  /** For the next page: how many of the best hits to skip. */
  readonly skip?: number
  readonly speaker?: 'person' | 'notification' | 'agent' | 'tool'
  /** Only calls of this tool, and their results. */
  readonly tool?: string
  /** Only entries that name this file. */
  readonly path?: string
  /** `since` is inclusive, `until` exclusive. */
  readonly since?: number
  readonly until?: number
}
/** All open sessions, or those of an agent, of a person, of both. */
export interface SearchedScope {
  readonly agent?: string
  readonly scope?: string
  readonly here?: SessionId
}
export interface Search extends SearchFilters {
  /** One session, or several ranked together. */
  readonly sessionId: SessionId | readonly SessionId[] | SearchedScope
  /** In a short query, a quoted phrase must occur in the entry exactly. */
  readonly text: string
  readonly limit: number
  /** How many entries to show before and after each hit. */
  readonly neighbours: number
  /** Also match entries that contain none of the words but are close to entries that do. */
  readonly near?: boolean
  /** Also find the nearest in meaning, unless a text must occur exactly. */
  readonly meaning?: Meaning
  /** Only entries with a lower number; of several sessions, this holds for the first or for `here`. */
  readonly before?: EntryNumber
}
export interface SearchAnswer {
  /** Best first; ties go to the newer. */
  readonly hits: readonly SearchHit[]
  /** All matching entries, whether returned or not; with `meaning`, or in many sessions, at least so many. */
  readonly total: number
  /** Entries that are not indexed yet and were not searched. */
  readonly pending: number
  /** With `meaning`: entries that were searched by words alone, because they have no vectors yet. */
  readonly unembedded: number
}
export interface SearchHit {
  readonly sessionId: SessionId
  readonly entry: Entry
  /** The best matching part of the entry's text. */
  readonly excerpt: string
  readonly before: readonly Entry[]
  readonly after: readonly Entry[]
}
export interface StoreFinding {
  readonly sessionId: SessionId | null
  readonly entry: EntryNumber | null
  readonly problem: string
}
