import { findSessions } from '../lists.ts'

/** One number for a session and one of its passages: their order is that of the numbers. */
export const SESSION_STRIDE = 2 ** 28

/** Collects the places of a root in any number of sessions. */
export class Occurrences {
  #places = new Float64Array(256)
  #length = 0

  /** Reads what a page has of a root, of the sessions that are wanted. */
  read(page: Uint8Array, root: Uint8Array, wants: ((session: number) => boolean) | null): void {
    const reader = findSessions(page, root)
    if (reader === null) return
    for (let session = 0; !reader.isAtEnd; ) {
      const number = reader.nextNumber()
      const isSingle = number % 2 === 1
      session += Math.floor(number / 2)
      const isWanted = wants === null || wants(session)
      if (isSingle) {
        const passage = reader.nextNumber()
        if (isWanted) this.add(session, passage)
        continue
      }
      const count = reader.nextNumber()
      let passage = 0
      for (let at = 0; at < count; at++) {
        passage += reader.nextNumber()
        if (isWanted) this.add(session, passage)
      }
    }
  }

  add(session: number, passage: number): void {
    if (this.#length === this.#places.length) {
      const grown = new Float64Array(2 * this.#length)
      grown.set(this.#places)
      this.#places = grown
    }
    this.#places[this.#length++] = session * SESSION_STRIDE + passage
  }

  static union(lists: readonly Float64Array[]): Float64Array {
    const all = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0))
    let end = 0
    for (const list of lists) {
      all.set(list, end)
      end += list.length
    }
    return sortedOnce(all)
  }

  /** Ascending, each once. */
  end(): Float64Array {
    const places = this.#places.subarray(0, this.#length)
    for (let at = 1; at < places.length; at++) {
      if ((places[at] as number) <= (places[at - 1] as number)) return sortedOnce(places)
    }
    return places
  }
}

function sortedOnce(places: Float64Array): Float64Array {
  places.sort()
  let end = 0
  for (let at = 0; at < places.length; at++) {
    if (at === 0 || places[at] !== places[at - 1]) places[end++] = places[at] as number
  }
  return places.subarray(0, end)
}
