import { type EntryNumber, entryNumber } from '../../base/ids.ts'

export type PlaceKind = 'result' | 'handoff' | 'aside' | 'other'

/** Which foreign row stands at which entry of a session, in a few bytes per entry. */
export class Places {
  readonly #entryOf = new Map<number, number>()
  /** By entry number; 0: no message of theirs. */
  readonly #rowAt: number[] = [0]
  readonly #results = new Set<number>()
  readonly #asides = new Set<number>()
  #handoffs = 0

  add(place: { readonly row: number | null; readonly kind: PlaceKind }): EntryNumber {
    const number = this.#rowAt.length
    const isMessage = place.kind === 'result' || place.kind === 'other'
    this.#rowAt.push(isMessage ? (place.row ?? 0) : 0)
    if (place.row !== null) this.#entryOf.set(place.row, number)
    if (place.kind === 'result') this.#results.add(number)
    if (place.kind === 'handoff') this.#handoffs += 1
    if (place.kind === 'aside' && place.row !== null) this.#asides.add(place.row)
    return entryNumber(number)
  }

  has(row: number): boolean {
    return this.#entryOf.has(row)
  }

  isAside(row: number): boolean {
    return this.#asides.has(row)
  }

  entryOf(row: number): number | undefined {
    return this.#entryOf.get(row)
  }

  get tail(): number {
    return this.#rowAt.length - 1
  }

  get rows(): number {
    return this.#entryOf.size
  }

  get handoffs(): number {
    return this.#handoffs
  }

  /**
   * What a handoff covers that kept these rows: everything up to the first of the kept ones that
   * stand together at the end. Only messages part them, and results stay with calls.
   */
  coversWithout(kept: ReadonlySet<number>): EntryNumber {
    let covers = this.tail
    for (let number = this.tail; number > 0; number--) {
      const row = this.#rowAt[number] ?? 0
      if (row === 0) continue
      if (!kept.has(row)) break
      covers = number - 1
    }
    while (this.#results.has(covers + 1)) covers += 1
    return entryNumber(covers)
  }
}
