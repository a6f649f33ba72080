/**
 * The heights of the pages of a conversation, measured or estimated. Every frame of scrolling needs the
 * top of a page and the page at a position, so both take logarithmic time (a Fenwick tree over the
 * differences from the estimate).
 */
export class Heights {
  readonly #pageEntries: number
  readonly #entryHeight: number
  readonly #measured = new Map<number, number>()
  #differences: number[] = [0]
  #entries = 0

  constructor(pageEntries: number, entryHeight: number) {
    this.#pageEntries = pageEntries
    this.#entryHeight = entryHeight
  }

  get pages(): number {
    return Math.ceil(this.#entries / this.#pageEntries)
  }

  /** Sets the number of entries; the last page may not be full. */
  resize(entries: number): void {
    const last = this.pages - 1
    this.#entries = entries
    while (this.#differences.length <= this.pages) this.#grow()
    // The former last page has a higher estimate now; its measurement stays valid.
    const measured = this.#measured.get(last)
    if (measured !== undefined) this.#correct(last, measured)
  }

  measure(page: number, height: number): void {
    this.#measured.set(page, height)
    if (page < this.pages) this.#correct(page, height)
  }

  /** Undefined: not yet on the screen. */
  measured(page: number): number | undefined {
    return this.#measured.get(page)
  }

  of(page: number): number {
    return this.#measured.get(page) ?? this.top(page + 1) - this.top(page)
  }

  /** The top of a page; after the last page: the total height. */
  top(page: number): number {
    let sum = this.#likelyTop(page)
    for (let at = Math.min(page, this.pages); at > 0; at -= at & -at) {
      sum += this.#differences[at] ?? 0
    }
    return sum
  }

  /** The page at a vertical position. */
  at(y: number): number {
    let [low, high] = [0, Math.max(0, this.pages - 1)]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if (this.top(middle) <= y) low = middle
      else high = middle - 1
    }
    return low
  }

  #likelyTop(page: number): number {
    return Math.min(page * this.#pageEntries, this.#entries) * this.#entryHeight
  }

  #correct(page: number, height: number): void {
    const difference = height - (this.top(page + 1) - this.top(page))
    for (let at = page + 1; at < this.#differences.length; at += at & -at) {
      this.#differences[at] = (this.#differences[at] ?? 0) + difference
    }
  }

  /** A new node sums the existing nodes below it. */
  #grow(): void {
    const at = this.#differences.length
    let sum = 0
    for (let below = at - 1; below > at - (at & -at); below -= below & -below) {
      sum += this.#differences[below] ?? 0
    }
    this.#differences.push(sum)
  }
}
