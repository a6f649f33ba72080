import type { JsonObject } from '#core/base/json'
import type { ClientNote } from '../client-notes.ts'
import type { Unit } from '../unit.ts'

/** One of the three provider APIs that clients use. */
export interface ClientWire {
  /** The field of the body that holds the history. */
  readonly list: 'messages' | 'input'
  read(item: JsonObject): ReadItem
  /** The items that replace the covered part, as JSON without brackets. */
  writeHandoff(text: string, notes: readonly ClientNote[]): string
  openReply(): ReplyReader
}

export interface ReadItem {
  readonly units: readonly Unit[]
  /** Notes within the words of others. */
  readonly notes: readonly ClientNote[]
  /** Set where the whole item is a note with a rank of its own: it is kept as it came. */
  readonly rank?: string
  /** For each unit, which block of the item's `content` it is; absent: the item cannot be divided. */
  readonly blocks?: readonly number[]
}

/** Follows an answer while it passes. */
export interface ReplyReader {
  /** One event of the stream, or the whole document. */
  take(event: JsonObject): void
  reply(): UpstreamReply
}

export interface UpstreamReply {
  readonly units: readonly Unit[]
  /** The provider said that it is complete. */
  readonly isWhole: boolean
  readonly usage: ReplyUsage | null
}

export interface ReplyUsage {
  /** All of it, also what came from a cache. */
  readonly inputTokens: number
  readonly cachedTokens: number
  /** Written to a cache, which some providers charge for. */
  readonly cacheWriteTokens: number
  readonly outputTokens: number
}
