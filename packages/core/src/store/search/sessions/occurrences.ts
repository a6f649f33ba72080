import { findSessions } from '../lists.ts'

/** One number for a session and one of its passages: their order is that of the numbers. */
export const SESSION_STRIDE = 2 ** 28

/** A buffer that every search reuses between two of its lookups: allocating costs more than filling. */
let scratch = new Float64Array(0)

/** Collects the places of a root in any number of sessions. Ends before another one begins. */
export class Occurrences {
  #length = 0
  /** Where a run begins: within it, places ascend. */
  readonly #starts: number[] = [0]

  /** `most`: at least as many as will be found. */
  constructor(most: number) {
    if (most > scratch.length) scratch = new Float64Array(most + (most >> 2))
  }

  /** Reads what a page has of a root, of the sessions that are wanted. */
  read(page: Uint8Array, root: Uint8Array, wants: ((session: number) => boolean) | null): void {
    const reader = findSessions(page, root)
    if (reader === null) return
    const { bytes } = reader
    const places = scratch
    let end = this.#length
    while (reader.nextSession()) {
      const isWanted = wants === null || wants(reader.session)
      let place = reader.session * SESSION_STRIDE
      let { at } = reader
      for (let left = reader.count; left > 0; left--) {
        // Most are one byte; a call for each would take as long as the rest of the search.
        const byte = bytes[at] as number
        if (byte < 128) {
          place += byte
          at++
        } else {
          reader.at = at
          place += reader.nextNumber()
          at = reader.at
        }
        if (isWanted) places[end++] = place
      }
      reader.at = at
    }
    this.#endAt(end)
  }

  add(session: number, passages: readonly number[]): void {
    let end = this.#length
    for (const passage of passages) scratch[end++] = session * SESSION_STRIDE + passage
    this.#endAt(end)
  }

  #endAt(end: number): void {
    const start = this.#length
    this.#length = end
    if (start === 0 || start === end) return
    if ((scratch[start] as number) < (scratch[start - 1] as number)) this.#starts.push(start)
  }

  /** Ascending, each once. */
  end(): Float64Array {
    const runs = this.#starts.map((start, at) =>
      scratch.subarray(start, this.#starts[at + 1] ?? this.#length),
    )
    return runs.length === 1 ? scratch.slice(0, this.#length) : unionOf(runs)
  }
}

/** The places of all lists, ascending, each once. The short lists are the last ones. */
export function unionOf(lists: readonly Float64Array[]): Float64Array {
  return lists.reduceRight(unionOfTwo, new Float64Array(0))
}

function unionOfTwo(one: Float64Array, other: Float64Array): Float64Array {
  if (one.length === 0 || other.length === 0) return one.length === 0 ? other : one
  const [a, b] = (one[0] as number) <= (other[0] as number) ? [one, other] : [other, one]
  const both = new Float64Array(a.length + b.length)
  // Runs follow each other in time, so most of them overlap little.
  let atA = firstFrom(a, b[0] as number)
  both.set(a.subarray(0, atA))
  let [atB, end] = [0, atA]
  while (atA < a.length && atB < b.length) {
    const [nextA, nextB] = [a[atA] as number, b[atB] as number]
    both[end++] = Math.min(nextA, nextB)
    if (nextA <= nextB) atA++
    if (nextB <= nextA) atB++
  }
  const rest = atA < a.length ? a.subarray(atA) : b.subarray(atB)
  both.set(rest, end)
  return both.subarray(0, end + rest.length)
}

/** The index of the first place that is not before this one. */
export function firstFrom(places: Float64Array, place: number, from = 0): number {
  let low = from
  let high = places.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((places[middle] as number) < place) low = middle + 1
    else high = middle
  }
  return low
}
