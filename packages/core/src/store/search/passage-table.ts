import { type Block, ENTRY_BYTES, PASSAGE_BYTES, SPEAKERS, type Speaker } from './blocks.ts'
import { damagedIndexError } from './bytes.ts'
import type { IndexState } from './index-state.ts'

/** Blocks concatenated into columns for the ranking, with spare capacity. */
export class PassageColumns {
  slots = 0
  entries = 0
  /** Words and distinct roots of each passage. */
  lengths = new Uint8Array(0)
  entryOf = new Uint32Array(0)
  counts = new Uint16Array(0)
  seconds = new Uint32Array(0)
  speakers = new Uint8Array(0)

  get bytes(): number {
    const { lengths, entryOf, counts, seconds, speakers } = this
    const all = [lengths, entryOf, counts, seconds, speakers]
    return all.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** Adds all blocks of a session, unless they are not those that its index counts. */
  addIndexed(blocks: readonly Block[], index: Pick<IndexState, 'upto' | 'slots' | 'distinctSum'>) {
    const { slots, entries } = this
    if (!blocks.every(isWhole)) throw damagedIndexError()
    this.add(blocks)
    let distinct = 0
    for (let at = slots; at < this.slots; at++) {
      distinct += this.lengths[at * PASSAGE_BYTES + 1] as number
    }
    const isCounted = this.entries - entries === index.upto && this.slots - slots === index.slots
    if (!isCounted || distinct !== index.distinctSum) throw damagedIndexError()
  }

  add(blocks: readonly Block[]): void {
    let { slots, entries } = this
    for (const block of blocks) {
      slots += block.lengths.length / PASSAGE_BYTES
      entries += block.entries.length / ENTRY_BYTES
    }
    this.#makeRoom(slots, entries)
    for (const block of blocks) this.#append(block)
  }

  #makeRoom(slots: number, entries: number): void {
    if (slots > this.entryOf.length) {
      const room = withReserve(slots)
      this.lengths = copied(this.lengths, new Uint8Array(room * PASSAGE_BYTES))
      this.entryOf = copied(this.entryOf, new Uint32Array(room))
    }
    if (entries > this.counts.length) {
      const room = withReserve(entries)
      this.counts = copied(this.counts, new Uint16Array(room))
      this.seconds = copied(this.seconds, new Uint32Array(room))
      this.speakers = copied(this.speakers, new Uint8Array(room))
    }
  }

  #append({ entries, lengths }: Block): void {
    this.lengths.set(lengths, this.slots * PASSAGE_BYTES)
    const view = new DataView(entries.buffer, entries.byteOffset, entries.byteLength)
    for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
      const count = view.getUint16(at, true)
      this.counts[this.entries] = count
      this.seconds[this.entries] = view.getUint32(at + 2, true)
      this.speakers[this.entries] = entries[at + 6] as number
      this.entryOf.fill(this.entries, this.slots, this.slots + count)
      this.slots += count
      this.entries++
    }
  }

  /** Keeps only the first entries. */
  cutTo(entries: number): void {
    this.slots = firstSlotFrom(this, entries)
    this.entries = entries
  }
}

/** Whether the lengths are those of the block's entries. */
function isWhole({ entries, lengths }: Block): boolean {
  if (entries.length % ENTRY_BYTES !== 0) return false
  let passages = 0
  for (let at = 0; at < entries.length; at += ENTRY_BYTES) {
    passages += (entries[at] as number) + (entries[at + 1] as number) * 256
  }
  return lengths.length === passages * PASSAGE_BYTES
}

function withReserve(count: number): number {
  return count + (count >> 3) + 64
}

function copied<T extends Uint8Array | Uint16Array | Uint32Array>(from: T, to: T): T {
  to.set(from)
  return to
}

interface Slots {
  readonly slots: number
  readonly entryOf: Uint32Array
}

/** The first passage at or after an entry; entries are counted from 0. */
function firstSlotFrom({ entryOf, slots }: Slots, entry: number): number {
  let low = 0
  let high = slots
  while (low < high) {
    const middle = (low + high) >> 1
    if ((entryOf[middle] as number) < entry) low = middle + 1
    else high = middle
  }
  return low
}

interface Totals {
  /** Passages that are not erased, and the sum of their distinct roots. */
  readonly live: number
  readonly distinctSum: number
}

/** Where a session begins in a table: its first passage and its first entry. */
export interface SessionStart {
  readonly slot: number
  readonly entry: number
}

/** The ranking's data about passages and entries of the searched sessions. */
export class PassageTable {
  readonly slots: number
  readonly entries: number
  readonly live: number
  readonly distinctSum: number
  /** Words and distinct roots of each passage, interleaved. */
  readonly lengths: Uint8Array
  readonly entryOf: Uint32Array
  /** How many passages each entry has. */
  readonly counts: Uint16Array
  readonly #seconds: Uint32Array
  readonly #speakers: Uint8Array
  readonly #sessions: readonly SessionStart[]

  constructor(
    columns: PassageColumns,
    sessions: readonly SessionStart[],
    { live, distinctSum }: Totals,
  ) {
    this.slots = columns.slots
    this.entries = columns.entries
    this.live = live
    this.distinctSum = distinctSum
    this.lengths = columns.lengths
    this.entryOf = columns.entryOf
    this.counts = columns.counts
    this.#seconds = columns.seconds
    this.#speakers = columns.speakers
    this.#sessions = sessions
  }

  firstSlot(session: number): number {
    return this.#sessions[session]?.slot ?? this.slots
  }

  /** Behind the passages of a session up to an entry. */
  endOf(session: number, last: number): number {
    const entry = (this.#sessions[session]?.entry ?? this.entries) + last
    return Math.min(firstSlotFrom(this, entry), this.firstSlot(session + 1))
  }

  /** The passages of this one's session: the first, and the one after the last. */
  rangeOf(passage: number): readonly [number, number] {
    const session = this.#sessionAt((start) => start.slot <= passage)
    return [this.firstSlot(session), this.firstSlot(session + 1)]
  }

  /** The session, and the entry's number in it. */
  identify(entry: number): { readonly session: number; readonly number: number } {
    const session = this.#sessionAt((start) => start.entry <= entry)
    return { session, number: entry - (this.#sessions[session]?.entry ?? 0) + 1 }
  }

  #sessionAt(isBefore: (start: SessionStart) => boolean): number {
    let low = 0
    let high = this.#sessions.length - 1
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (isBefore(this.#sessions[middle] as SessionStart)) low = middle
      else high = middle - 1
    }
    return low
  }

  /** The passages of this one's entry: the first, and the one after the last. */
  entryRangeOf(passage: number): readonly [number, number] {
    const entry = this.entryOf[passage] as number
    let first = passage
    while (first > 0 && this.entryOf[first - 1] === entry) first--
    return [first, first + (this.counts[entry] as number)]
  }

  /** The number of a passage within its entry. */
  placeOf(passage: number): number {
    return passage - this.entryRangeOf(passage)[0]
  }

  /** Milliseconds, with a resolution of one second. */
  timeOf(entry: number): number {
    return (this.#seconds[entry] as number) * 1_000
  }

  entrySpeakerOf(entry: number): Speaker {
    return SPEAKERS[this.#speakers[entry] as number] ?? 'none'
  }
}
