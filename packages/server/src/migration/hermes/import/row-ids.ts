/** The row ids of each session, in order: eight bytes per id, in one list for all. */
export class RowIds {
  /** Every session id that a row names, in order of first use, with its index in `#starts`. */
  readonly #positions = new Map<string, number>()
  #ids: Float64Array<ArrayBuffer>
  /** The session of each id; used only while reading. */
  #owners: Uint32Array<ArrayBuffer>
  #starts = new Uint32Array()
  #count = 0

  /** `expected`: an estimate of the number of ids. */
  constructor(expected: number) {
    this.#ids = new Float64Array(expected)
    this.#owners = new Uint32Array(expected)
  }

  add(sessionId: string, id: number): void {
    let owner = this.#positions.get(sessionId)
    if (owner === undefined) {
      owner = this.#positions.size
      this.#positions.set(sessionId, owner)
    }
    if (this.#count === this.#ids.length) this.#grow()
    this.#ids[this.#count] = id
    this.#owners[this.#count++] = owner
  }

  /** Call it after the last id: groups the ids by session, each in order. */
  end(): void {
    const starts = new Uint32Array(this.#positions.size + 1)
    const owners = this.#owners.subarray(0, this.#count)
    for (const owner of owners) starts[owner + 1] = (starts[owner + 1] ?? 0) + 1
    for (let at = 1; at < starts.length; at++)
      starts[at] = (starts[at] ?? 0) + (starts[at - 1] ?? 0)
    this.#starts = starts
    if (this.#positions.size > 1) {
      const next = starts.slice()
      const sorted = new Float64Array(this.#count)
      for (const [at, owner] of owners.entries()) {
        const position = next[owner] ?? 0
        sorted[position] = this.#ids[at] ?? 0
        next[owner] = position + 1
      }
      this.#ids.buffer.transfer(0)
      this.#ids = sorted
    }
    // Frees the memory at once.
    this.#owners = new Uint32Array(this.#owners.buffer.transfer(0))
  }

  names(): Iterable<string> {
    return this.#positions.keys()
  }

  of(sessionId: string): Float64Array {
    const position = this.#positions.get(sessionId)
    if (position === undefined) return new Float64Array()
    return this.#ids.subarray(this.#starts[position], this.#starts[position + 1])
  }

  #grow(): void {
    const length = Math.ceil(this.#count * GROWTH) + 1
    // Transferred, not copied, so that no old list waits for garbage collection.
    this.#ids = new Float64Array(this.#ids.buffer.transfer(length * 8))
    this.#owners = new Uint32Array(this.#owners.buffer.transfer(length * 4))
  }
}

const GROWTH = 1.5
