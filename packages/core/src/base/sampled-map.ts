/**
 * A bounded map that degrades gradually. If it evicted the oldest entry, cycling through one key
 * more than its capacity would miss every time; it evicts an arbitrary entry instead, so most keys
 * are still found. The choice depends only on the calls.
 */
export class SampledMap<Key, Value> {
  readonly #sizeMax: number
  readonly #values = new Map<Key, Value>()
  readonly #keys: Key[] = []
  #state = 1

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key)
  }

  set(key: Key, value: Value): void {
    if (!this.#values.has(key)) {
      const at = this.#keys.length < this.#sizeMax ? this.#keys.length : this.#next()
      const displaced = this.#keys[at]
      if (displaced !== undefined) this.#values.delete(displaced)
      this.#keys[at] = key
    }
    this.#values.set(key, value)
  }

  /** Marsaglia's xorshift: every slot is equally likely. */
  #next(): number {
    this.#state ^= this.#state << 13
    this.#state ^= this.#state >>> 17
    this.#state ^= this.#state << 5
    return (this.#state >>> 0) % this.#sizeMax
  }
}
