import type { UserMessage } from '../parts.ts'

/**
 * The replacement of all compacted messages in the context. Sections are data, so that the next
 * compaction can merge them instead of summarising a summary.
 */
export interface Handoff {
  readonly version: 1
  /** Who wrote `summary`: a model, our own digest, or the caller. */
  readonly by: 'model' | 'digest' | 'given'
  /**
   * The number of the newest message that it replaces: its position in the conversation, in a
   * session its entry. So are all other numbers in it.
   */
  readonly covers: number
  /** How many messages followed it verbatim when it was made: more now means new ones. */
  readonly kept: number
  /** 1 for the first compaction of a conversation. */
  readonly compactions: number
  /** The user's own words, oldest first. */
  readonly preserved: readonly PreservedMessage[]
  readonly tasks: readonly Task[]
  readonly files: readonly FileRecord[]
  readonly ledger: readonly LedgerEntry[]
  readonly summary: string
  /** Standing instructions of the user, oldest first; absent in handoffs of earlier versions. */
  readonly rules?: readonly UserRule[]
  /** The newest block of each kind that the host put into the user's messages. */
  readonly host?: readonly HostBlock[]
}

/** Something the user ruled once and for all, word for word. */
export interface UserRule {
  readonly text: string
  /** The message that said it. */
  readonly number: number
  /** When, ISO 8601, where it is known. */
  readonly at?: string
  /** The message that ruled otherwise. */
  readonly supersededBy?: number
}

export interface HostBlock {
  /** Its tag or label, such as `system-reminder`. */
  readonly name: string
  readonly text: string
  readonly number: number
}

export interface PreservedMessage {
  readonly message: UserMessage
  /** Which message of the conversation it was. */
  readonly number: number
  /** Answered ones are history; an open one is still to be done. */
  readonly state: 'answered' | 'open'
  readonly truncated?: true
}

export interface Task {
  readonly text: string
  readonly status: 'pending' | 'running'
}

export interface FileRecord {
  readonly path: string
  readonly access: 'read' | 'changed'
  /** First hex digits of SHA-256 of the content as last seen whole, where it was. */
  readonly hash?: string
  /** The number of the message that last touched it. */
  readonly number: number
}

/** In the order in which they are written. */
export const LEDGER_KINDS = [
  'action',
  'error',
  'command',
  'path',
  'url',
  'id',
  'name',
  'flag',
  'value',
] as const

export type LedgerKind = (typeof LEDGER_KINDS)[number]

/** One fact kept word for word because the agent is likely to need it again. */
export interface LedgerEntry {
  readonly kind: LedgerKind
  /** One line; line breaks of the original are folded. */
  readonly text: string
  /** How often the agent wrote or did it itself, over all compactions; 0 for what it only saw. */
  readonly count: number
  /** The number of the message where it was last seen. */
  readonly number: number
}
