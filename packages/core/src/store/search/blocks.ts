import type { Entry } from '../tables/rows.ts'
import type { Passage } from './words.ts'

/**
 * The index data beside the lists: the length of each passage, and its entry. A block covers 512
 * consecutive entries of a session, whatever their kind; its bytes are the same on every engine.
 */
export const BLOCK_ENTRIES = 512
/** Per entry: passages (2 bytes), seconds (4), speaker (1). */
export const ENTRY_BYTES = 7
/** Per passage: words and distinct roots. Both are 0 after erasure. */
export const PASSAGE_BYTES = 2

export interface Block {
  readonly entries: Uint8Array
  readonly lengths: Uint8Array
}

export const SPEAKERS = ['none', 'person', 'notification', 'agent', 'tool'] as const
export type Speaker = (typeof SPEAKERS)[number]

export type IndexedEntry = Pick<Entry, 'number' | 'kind' | 'body' | 'at'> & {
  readonly meta: object
}

export function entrySpeakerOf({ kind, meta }: IndexedEntry): Speaker {
  if (kind === 'assistant') return 'agent'
  if (kind === 'result') return 'tool'
  if (kind !== 'input') return 'none'
  return 'lane' in meta && meta.lane === 'user' ? 'person' : 'notification'
}

export function blockOf(entry: number): number {
  return Math.floor((entry - 1) / BLOCK_ENTRIES)
}

export const EMPTY_BLOCK: Block = { entries: new Uint8Array(0), lengths: new Uint8Array(0) }

/** Adds entries to a block. */
export class BlockWriter {
  readonly #entries: number[]
  readonly #lengths: number[]

  constructor({ entries, lengths }: Block) {
    this.#entries = [...entries]
    this.#lengths = [...lengths]
  }

  add(entry: IndexedEntry, passages: readonly Passage[]): void {
    const seconds = Math.min(2 ** 32 - 1, Math.max(0, Math.floor(entry.at / 1_000)))
    this.#entries.push(passages.length & 255, passages.length >> 8)
    for (let byte = 0; byte < 4; byte++) this.#entries.push(Math.floor(seconds / 256 ** byte) & 255)
    this.#entries.push(SPEAKERS.indexOf(entrySpeakerOf(entry)))
    for (const { words, distinct } of passages) this.#lengths.push(words, distinct)
  }

  end(): Block {
    return { entries: Uint8Array.from(this.#entries), lengths: Uint8Array.from(this.#lengths) }
  }
}

/** The position of an entry's passages within its block. */
export function passagesIn(block: Block, entry: number): { first: number; count: number } {
  const at = (entry - 1) % BLOCK_ENTRIES
  let first = 0
  for (let index = 0; index < at; index++) first += countAt(block.entries, index)
  return { first, count: countAt(block.entries, at) }
}

function countAt(entries: Uint8Array, index: number): number {
  const at = index * ENTRY_BYTES
  return (entries[at] as number) + (entries[at + 1] as number) * 256
}

/** The block without an erased entry, and how many distinct roots its passages had. */
export function withoutEntry(
  block: Block,
  entry: number,
): { readonly block: Block; readonly passages: number; readonly distinct: number } {
  const { first, count } = passagesIn(block, entry)
  const lengths = Uint8Array.from(block.lengths)
  let distinct = 0
  let passages = 0
  for (let passage = first; passage < first + count; passage++) {
    const roots = lengths[passage * PASSAGE_BYTES + 1] as number
    if (roots > 0) passages++
    distinct += roots
  }
  lengths.fill(0, first * PASSAGE_BYTES, (first + count) * PASSAGE_BYTES)
  return { block: { entries: block.entries, lengths }, passages, distinct }
}
