import { type EntryNumber, entryNumber } from '#core/base/ids'
import { NumberMap } from '../../number-map.ts'

export type PositionKind = 'result' | 'handoff' | 'aside' | 'other'

/** The entries of foreign rows, for rows that later handoffs refer to. */
export class EntryPositions {
  readonly #entryOf: NumberMap
  #isResult: Uint8Array
  readonly #asides = new Set<number>()
  #tail = 0
  #handoffs = 0
  /** The newest handoff with a row, up to the compaction in effect. */
  handoff: { readonly row: number; readonly isInEffect: boolean } | null = null
  hasErased = false

  /** Estimates: how many entries there will be, and for how many the row is remembered. */
  constructor({ entries, remembered }: { readonly entries: number; readonly remembered: number }) {
    this.#entryOf = new NumberMap(remembered)
    this.#isResult = new Uint8Array(entries + 2)
  }

  add(position: { readonly row: number | null; readonly kind: PositionKind }): EntryNumber {
    this.#tail += 1
    const number = this.#tail
    if (number >= this.#isResult.length) this.#grow()
    if (position.row !== null) this.#entryOf.set(position.row, number)
    if (position.kind === 'result') this.#isResult[number] = 1
    if (position.kind === 'handoff') this.#handoffs += 1
    if (position.kind === 'aside' && position.row !== null) this.#asides.add(position.row)
    return entryNumber(number)
  }

  #grow(): void {
    const grown = new Uint8Array(this.#isResult.length * 2)
    grown.set(this.#isResult)
    this.#isResult = grown
  }

  has(row: number): boolean {
    return this.#entryOf.get(row) !== undefined
  }

  isAside(row: number): boolean {
    return this.#asides.has(row)
  }

  entryOf(row: number): number | undefined {
    return this.#entryOf.get(row)
  }

  get tail(): number {
    return this.#tail
  }

  get handoffs(): number {
    return this.#handoffs
  }

  /** What a handoff covers if it kept all rows from this one on; results stay with their calls. */
  coversBefore(row: number | null): EntryNumber {
    const first = row === null ? undefined : this.#entryOf.get(row)
    let covers = first === undefined ? this.#tail : first - 1
    while (this.#isResult[covers + 1] === 1) covers += 1
    return entryNumber(covers)
  }
}
