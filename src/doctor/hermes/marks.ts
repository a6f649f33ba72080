import type { HermesRow } from './rows.ts'

/**
 * What the newest rows of a session said and when, as hashes: at least the newest `MARKS_MAX`, at
 * most twice as many. In maps they were most of what the doctor holds of a home of many sessions: of
 * 300,000 rows in 3,000 of them 282 MB at most, and 165 in tables of numbers.
 */
export class Marks {
  #young = new MarkTable()
  #old: MarkTable | null = null

  has(mark: number): boolean {
    return this.#find(mark) !== 0
  }

  /** It is in the live context. */
  isLive(mark: number): boolean {
    return this.#find(mark) === LIVE
  }

  note(mark: number, { state }: Pick<HermesRow, 'state'>): void {
    if (state !== 'live' && this.has(mark)) return
    this.#young.set(mark, state === 'live' ? LIVE : ARCHIVED)
    if (this.#young.size < MARKS_MAX) return
    this.#old = this.#young
    this.#young = new MarkTable()
  }

  #find(mark: number): number {
    return this.#young.find(mark) || (this.#old?.find(mark) ?? 0)
  }
}

// Copies stand near their originals: what compaction carries over is the newest few hundred rows.
const MARKS_MAX = 700
const LIVE = 1
const ARCHIVED = -1

/** Marks with their kind as sign; zero stands for a free place, so that each is one more. */
class MarkTable {
  size = 0
  #slots = new Float64Array(8)

  /** 0: it is not there. */
  find(mark: number): number {
    return Math.sign(this.#slots[this.#slotOf(mark)] ?? 0)
  }

  set(mark: number, kind: number): void {
    if ((this.size + 1) * 4 > this.#slots.length * 3) this.#grow()
    const slot = this.#slotOf(mark)
    if (this.#slots[slot] === 0) this.size += 1
    this.#slots[slot] = (mark + 1) * kind
  }

  /** They are hashes already, so that their last bits are as good as any. */
  #slotOf(mark: number): number {
    const mask = this.#slots.length - 1
    let slot = (mark % MARK_LOW) & mask
    for (;;) {
      const found = Math.abs(this.#slots[slot] ?? 0)
      if (found === 0 || found === mark + 1) return slot
      slot = (slot + 1) & mask
    }
  }

  #grow(): void {
    const marks = this.#slots
    this.#slots = new Float64Array(marks.length * 2)
    for (const mark of marks) {
      if (mark !== 0) this.#slots[this.#slotOf(Math.abs(mark) - 1)] = mark
    }
  }
}

const MARK_LOW = 2 ** 26

/** What was said, by whom and when, as a number. A row without a time says nothing about copies. */
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

/** Time and length tell nearly all rows apart; the beginning of the text does the rest. */
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

  text(text: string): void {
    const end = Math.min(text.length, HASHED_LENGTH)
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
