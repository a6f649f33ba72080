import type { Entry } from '../rows.ts'
import type { Passage } from './words.ts'

/**
 * What an index keeps beside its lists: how long each passage is, and to which entry it belongs. A
 * block holds 512 consecutive entries of a session, whatever their kind; its bytes are the same on
 * every engine.
 */
export const BLOCK_ENTRIES = 512
/** Per entry: passages (2 bytes), seconds (4), speaker (1). */
const ENTRY_BYTES = 7
/** Per passage: words and distinct roots. Both are 0 once it was erased. */
const PASSAGE_BYTES = 2

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

/** The block with one more entry. */
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

/** The place of an entry's passages within its block. */
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

/** The block after an entry was erased, and how many distinct roots its passages had. */
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

/** The blocks of the sessions that are searched, joined into columns for the ranking. */
export class PassageTable {
  readonly slots: number
  readonly entries: number
  /** Passages that are not erased, and the sum of their distinct roots. */
  readonly live: number
  readonly distinctSum: number
  /** Words and distinct roots of each passage, one behind the other. */
  readonly lengths: Uint8Array
  readonly entryOf: Uint32Array
  readonly #counts: Uint16Array
  readonly #seconds: Uint32Array
  readonly #speakers: Uint8Array
  /** Where each session begins: its first passage and its first entry. */
  readonly #sessions: { readonly slot: number; readonly entry: number }[] = []

  constructor(sessions: readonly (readonly Block[])[], { live, distinctSum }: Totals) {
    const blocks = sessions.flat()
    this.live = live
    this.distinctSum = distinctSum
    this.slots = sum(blocks, ({ lengths }) => lengths.length) / PASSAGE_BYTES
    this.entries = sum(blocks, ({ entries }) => entries.length) / ENTRY_BYTES
    this.lengths = new Uint8Array(this.slots * PASSAGE_BYTES)
    this.entryOf = new Uint32Array(this.slots)
    this.#counts = new Uint16Array(this.entries)
    this.#seconds = new Uint32Array(this.entries)
    this.#speakers = new Uint8Array(this.entries)
    let slot = 0
    let entry = 0
    for (const session of sessions) {
      this.#sessions.push({ slot, entry })
      for (const { entries, lengths } of session) {
        this.lengths.set(lengths, slot * PASSAGE_BYTES)
        const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength)
        for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
          const count = view.getUint16(at, true)
          this.#counts[entry] = count
          this.#seconds[entry] = view.getUint32(at + 2, true)
          this.#speakers[entry] = entries[at + 6] as number
          this.entryOf.fill(entry, slot, slot + count)
          slot += count
          entry++
        }
      }
    }
  }

  firstSlot(session: number): number {
    return this.#sessions[session]?.slot ?? this.slots
  }

  /** The first passage of an entry or behind it, in the only session. */
  slotOf(number: number): number {
    let slot = 0
    for (let entry = 0; entry < Math.min(number - 1, this.entries); entry++) {
      slot += this.#counts[entry] as number
    }
    return slot
  }

  /** The passages of the session that holds this one: the first, and the one behind the last. */
  rangeOf(passage: number): readonly [number, number] {
    const session = this.#sessionAt((start) => start.slot <= passage)
    return [this.firstSlot(session), this.firstSlot(session + 1)]
  }

  /** Which session, and which number in it. */
  identify(entry: number): { readonly session: number; readonly number: number } {
    const session = this.#sessionAt((start) => start.entry <= entry)
    return { session, number: entry - (this.#sessions[session]?.entry ?? 0) + 1 }
  }

  #sessionAt(isBefore: (start: { slot: number; entry: number }) => boolean): number {
    let low = 0
    let high = this.#sessions.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (isBefore(this.#sessions[middle] as { slot: number; entry: number })) low = middle
      else high = middle - 1
    }
    return low
  }

  passagesOf(entry: number): number {
    return this.#counts[entry] as number
  }

  /** The number of a passage within its entry. */
  placeOf(passage: number): number {
    const entry = this.entryOf[passage]
    let first = passage
    while (first > 0 && this.entryOf[first - 1] === entry) first--
    return passage - first
  }

  /** In milliseconds, to the second. */
  timeOf(entry: number): number {
    return (this.#seconds[entry] as number) * 1_000
  }

  entrySpeakerOf(entry: number): Speaker {
    return SPEAKERS[this.#speakers[entry] as number] ?? 'none'
  }
}

interface Totals {
  readonly live: number
  readonly distinctSum: number
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
