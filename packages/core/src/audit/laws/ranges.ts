/**
 * A set of whole numbers kept as ranges. Numbers arrive nearly in order and from several logs, so
 * they are buffered and merged when the buffer has doubled: the cost stays near linear, and a
 * million consecutive messages are one range.
 */
export class RangeSet {
  #from: number[] = []
  #to: number[] = []
  #joined = 0
  #doubled: number | null = null

  add(from: number, to: number): void {
    const last = this.#to.length - 1
    if (last >= 0 && this.#to[last] === from - 1) this.#to[last] = to
    else {
      this.#from.push(from)
      this.#to.push(to)
      if (this.#from.length > 2 * this.#joined + 1_024) this.#join()
    }
  }

  /** A number that was added twice, if there is one. */
  get doubled(): number | null {
    this.#join()
    return this.#doubled
  }

  /** The ranges in order. */
  *ranges(): Generator<{ readonly from: number; readonly to: number }> {
    this.#join()
    for (const [index, from] of this.#from.entries()) yield { from, to: this.#to[index] ?? from }
  }

  get size(): number {
    return this.ranges().reduce((sum, { from, to }) => sum + to - from + 1, 0)
  }

  get max(): number {
    this.#join()
    return this.#to.at(-1) ?? 0
  }

  /** The numbers in this set and in none of the others, as ordered ranges. */
  *without(...others: readonly RangeSet[]): Generator<{ from: number; to: number }> {
    const gone = new RangeSet()
    for (const other of others) for (const { from, to } of other.ranges()) gone.add(from, to)
    const holes = gone.ranges()
    let hole = holes.next()
    for (const { from, to } of this.ranges()) {
      let next = from
      while (!hole.done && hole.value.from <= to) {
        if (hole.value.from > next) yield { from: next, to: hole.value.from - 1 }
        next = Math.max(next, hole.value.to + 1)
        if (hole.value.to > to) break
        hole = holes.next()
      }
      if (next <= to) yield { from: next, to }
    }
  }

  #join(): void {
    if (this.#joined === this.#from.length) return
    const order = [...this.#from.keys()].sort(
      (left, right) => (this.#from[left] ?? 0) - (this.#from[right] ?? 0),
    )
    const from: number[] = []
    const to: number[] = []
    for (const index of order) {
      const start = this.#from[index] ?? 0
      const end = this.#to[index] ?? start
      const last = to.at(-1)
      if (last !== undefined && start <= last) this.#doubled ??= start
      if (last !== undefined && start <= last + 1) to[to.length - 1] = Math.max(last, end)
      else {
        from.push(start)
        to.push(end)
      }
    }
    this.#from = from
    this.#to = to
    this.#joined = from.length
  }
}
