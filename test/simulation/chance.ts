/**
 * All randomness of a run comes from its seed: the same seed gives the same run, event for event.
 */
export class Chance {
  #a: number

  constructor(seed: number) {
    this.#a = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0
    for (let warm = 0; warm < 4; warm++) this.next()
  }

  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#a = (this.#a + 0x6d2b79f5) | 0
    let t = Math.imul(this.#a ^ (this.#a >>> 15), 1 | this.#a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  /** A whole number from `from` to `to`, both inclusive. */
  between(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1))
  }

  hits(share: number): boolean {
    return this.next() < share
  }

  pick<Value>(values: readonly [Value, ...Value[]] | readonly Value[]): Value {
    const value = values[Math.floor(this.next() * values.length)]
    if (value === undefined) throw new Error('Nothing to pick from.')
    return value
  }

  text(): string {
    return `r${Math.floor(this.next() * 2 ** 48).toString(36)}`
  }
}
