import type { UserMessage } from '../parts.ts'

/**
 * Replaces all compacted messages in the context. Sections are data, so that the next compaction
 * can merge them instead of summarizing a summary.
 */
export interface Handoff {
  readonly version: 1
  /** Who wrote `summary`: a model, our own digest, or the caller. */
  readonly by: 'model' | 'digest' | 'given'
  /**
   * The number of the newest message that it replaces: in a session its entry, elsewhere its
   * position in the conversation. All other numbers in a handoff count the same way.
   */
  readonly covers: number
  /** How many messages followed it when it was made; any beyond these are new. */
  readonly kept: number
  /** 1 for the first compaction of a conversation. */
  readonly compactions: number
  /** The user's own words, oldest first. */
  readonly preserved: readonly PreservedMessage[]
  /** Requests of the user that are not quoted; absent if all are. */
  readonly omitted?: OmittedRequests
  readonly tasks: readonly Task[]
  readonly files: readonly FileRecord[]
  readonly ledger: readonly LedgerEntry[]
  readonly summary: string
  /** Standing instructions of the user, oldest first; absent in handoffs of earlier versions. */
  readonly rules?: readonly UserRule[]
  /** The newest block of each kind that the host program added to the user's messages. */
  readonly host?: readonly HostBlock[]
}

/** A standing instruction of the user, verbatim. */
export interface UserRule {
  readonly text: string
  /** The message that contained it. */
  readonly number: number
  /** ISO 8601, if known. */
  readonly at?: string
  /** The message that replaced this rule. */
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
  /** The message's number in the conversation. */
  readonly number: number
  /** `answered` requests are history; an `open` one still has to be done. */
  readonly state: 'answered' | 'open'
  readonly truncated?: true
}

/** So many of the requests between two messages, both included. */
export interface OmittedRequests {
  readonly from: number
  readonly to: number
  readonly count: number
}

export interface Task {
  readonly text: string
  readonly status: 'pending' | 'running'
}

export interface FileRecord {
  readonly path: string
  readonly access: 'read' | 'changed'
  /** The first hex digits of the SHA-256 of the content when it was last seen whole, if it was. */
  readonly hash?: string
  /** The number of the message that last touched it. */
  readonly number: number
}

/** In the order in which kinds are written. */
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

/** One fact kept verbatim because the agent is likely to need it again. */
export interface LedgerEntry {
  readonly kind: LedgerKind
  /** A single line; line breaks of the original become spaces. */
  readonly text: string
  /** How often the agent itself wrote or did it, over all compactions; 0 if it only saw it. */
  readonly count: number
  /** The number of the message where it was last seen. */
  readonly number: number
}
