import type { HermesRow } from './rows.ts'

/**
 * Hashes of at least the newest `MARKS_MAX` items, at most twice as many: content and time of a
 * session's rows, or answered calls. Stored in plain arrays of numbers, because a home has many
 * sessions and most have few rows: a typed array costs 300 bytes beside its numbers.
 */
export class Marks {
  #young: number[] = free(8)
  #size = 0
  #old: number[] | null = null

  has(mark: number): boolean {
    return this.#find(mark) !== 0
  }

  /** Whether it is in the live context. */
  isLive(mark: number): boolean {
    return this.#find(mark) === LIVE
  }

  note(mark: number, { state }: Pick<HermesRow, 'state'>): void {
    if (state !== 'live' && this.has(mark)) return
    if ((this.#size + 1) * 8 > this.#young.length * 7) this.#young = grown(this.#young)
    const slot = slotOf(this.#young, mark)
    if (this.#young[slot] === 0) this.#size += 1
    this.#young[slot] = (mark + 1) * (state === 'live' ? LIVE : ARCHIVED)
    if (this.#size < MARKS_MAX) return
    this.#old = this.#young
    this.#young = free(8)
    this.#size = 0
  }

  /** 0: not found. */
  #find(mark: number): number {
    const found = Math.sign(this.#young[slotOf(this.#young, mark)] ?? 0)
    if (found !== 0 || this.#old === null) return found
    return Math.sign(this.#old[slotOf(this.#old, mark)] ?? 0)
  }
}

// Copies are close to their originals: compaction carries over the newest few hundred rows.
const MARKS_MAX = 700
/** The sign of a mark is its kind; zero means a free slot, so each value is one more. */
const LIVE = 1
const ARCHIVED = -1
const MARK_LOW = 2 ** 26

function free(length: number): number[] {
  return new Array<number>(length).fill(0)
}

/** Marks are already hashes, so their low bits can be used directly. */
function slotOf(slots: readonly number[], mark: number): number {
  const mask = slots.length - 1
  let slot = (mark % MARK_LOW) & mask
  for (;;) {
    const found = Math.abs(slots[slot] ?? 0)
    if (found === 0 || found === mark + 1) return slot
    slot = (slot + 1) & mask
  }
}

function grown(slots: readonly number[]): number[] {
  const larger = free(slots.length * 2)
  for (const mark of slots) {
    if (mark !== 0) larger[slotOf(larger, Math.abs(mark) - 1)] = mark
  }
  return larger
}

/** Content, role and time as a number; null without a time, since copies are recognized by it. */
export function markOf(row: HermesRow): number | null {
  if (row.at === null) return null
  const hash = new Hash()
  hash.number(row.at)
  hash.number(row.contentBytes)
  hash.text(row.role)
  hash.text(row.toolCallId ?? '')
  for (const id of row.callIds ?? []) hash.text(id)
  hash.text(row.text)
  return hash.value()
}

/** The whole id of a call, because ids of one provider may share a prefix. */
export function callMark(id: string): number {
  const hash = new Hash()
  hash.text(id, id.length)
  return hash.value()
}

/** Time and length distinguish nearly all rows; the start of the text does the rest. */
const HASHED_LENGTH = 64
const FLOAT = new Float64Array(1)
const WORDS = new Uint32Array(FLOAT.buffer)

/** Two 26-bit halves, so that a million rows collide about once in nine thousand stores. */
class Hash {
  #one = 0x811c9dc5
  #other = 0x9747b28c

  number(value: number): void {
    FLOAT[0] = value
    this.#mix(WORDS[0] ?? 0)
    this.#mix(WORDS[1] ?? 0)
  }

  text(text: string, length = HASHED_LENGTH): void {
    const end = Math.min(text.length, length)
    for (let index = 0; index < end; index++) this.#mix(text.charCodeAt(index))
    this.#mix(end)
  }

  value(): number {
    const one = Math.imul(this.#one ^ (this.#one >>> 15), 0x2c1b3c6d)
    const other = Math.imul(this.#other ^ (this.#other >>> 13), 0x297a2d39)
    return ((one ^ (one >>> 12)) >>> 6) * 0x4000000 + ((other ^ (other >>> 16)) & 0x3ffffff)
  }

  #mix(word: number): void {
    this.#one = Math.imul(this.#one ^ word, 0x01000193)
    this.#other = Math.imul((this.#other << 5) ^ (this.#other >>> 27) ^ word, 0x85ebca6b)
  }
}
