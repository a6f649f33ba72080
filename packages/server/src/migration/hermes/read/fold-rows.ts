import { hash } from 'node:crypto'
import type { RowState } from './rows.ts'

/**
 * Identifies the rows of one conversation in 25 bytes each: a conversation of a million messages is
 * folded without keeping any of them in memory.
 */
export interface FoldRow {
  readonly id: number
  readonly role: string
  readonly at: number | null
  readonly state: RowState
  readonly isHandoff: boolean
  /** Role, content, calls and call id: equal means the same message. Only its hash is kept. */
  readonly said: string
}

const STATES: readonly RowState[] = ['live', 'archived', 'rewound']
const HANDOFF = 4
const TOOL = 8
const KEPT = 16
/** As much of a hash as a number holds exactly. Together with the time it is practically unique. */
const DIGEST_BYTES = 6

export class FoldRows {
  readonly length: number
  readonly #ids: Float64Array
  #times: Float64Array<ArrayBuffer>
  #said: Float64Array<ArrayBuffer>
  readonly #flags: Uint8Array
  #filled = 0

  constructor(length: number) {
    this.length = length
    this.#ids = new Float64Array(length)
    this.#times = new Float64Array(length)
    this.#said = new Float64Array(length)
    this.#flags = new Uint8Array(length)
  }

  add({ id, role, at, state, isHandoff, said }: FoldRow): void {
    const index = this.#filled
    this.#filled += 1
    this.#ids[index] = id
    this.#times[index] = at ?? Number.NaN
    this.#said[index] = hash('sha256', said, 'buffer').readUIntBE(0, DIGEST_BYTES)
    this.#flags[index] =
      STATES.indexOf(state) | (isHandoff ? HANDOFF : 0) | (role === 'tool' ? TOOL : 0)
  }

  /** Frees the memory at once: after folding, only ids and flags are needed. */
  forgetWords(): void {
    this.#times = new Float64Array(this.#times.buffer.transfer(0))
    this.#said = new Float64Array(this.#said.buffer.transfer(0))
  }

  id(index: number): number {
    return this.#ids[index] ?? 0
  }

  /** NaN if it has none. */
  time(index: number): number {
    return this.#times[index] ?? Number.NaN
  }

  said(index: number): number {
    return this.#said[index] ?? 0
  }

  state(index: number): RowState {
    return STATES[(this.#flags[index] ?? 0) & 3] ?? 'live'
  }

  /** The user did not take it back: its copy replaces it. */
  supersede(index: number): void {
    this.#flags[index] = ((this.#flags[index] ?? 0) & ~3) | STATES.indexOf('archived')
  }

  keep(index: number): void {
    this.#flags[index] = (this.#flags[index] ?? 0) | KEPT
  }

  isKept(index: number): boolean {
    return ((this.#flags[index] ?? 0) & KEPT) !== 0
  }

  isHandoff(index: number): boolean {
    return ((this.#flags[index] ?? 0) & HANDOFF) !== 0
  }

  isResult(index: number): boolean {
    return ((this.#flags[index] ?? 0) & TOOL) !== 0
  }
}

/** The first row with the same content and time. */
export class FirstSaid {
  readonly #rows: FoldRows
  readonly #slots: Int32Array<ArrayBuffer>
  readonly #mask: number

  constructor(rows: FoldRows) {
    this.#rows = rows
    const size = 2 ** Math.ceil(Math.log2(rows.length * 2 + 2))
    this.#slots = new Int32Array(size)
    this.#mask = size - 1
  }

  close(): void {
    this.#slots.buffer.transfer(0)
  }

  /** Its index, or -1. A row without a time matches no other. */
  find(index: number): number {
    const slot = this.#slotOf(index)
    return slot === -1 ? -1 : (this.#slots[slot] ?? 0) - 1
  }

  add(index: number): void {
    const slot = this.#slotOf(index)
    if (slot !== -1) this.#slots[slot] = index + 1
  }

  #slotOf(index: number): number {
    const [time, said] = [this.#rows.time(index), this.#rows.said(index)]
    if (Number.isNaN(time)) return -1
    let slot = (said ^ Math.imul(time * 1_000, 0x9e3779b1)) & this.#mask
    for (;;) {
      const found = (this.#slots[slot] ?? 0) - 1
      if (found === -1) return slot
      if (this.#rows.time(found) === time && this.#rows.said(found) === said) return slot
      slot = (slot + 1) & this.#mask
    }
  }
}
