/** Whole numbers by whole numbers in a few bytes each, where a `Map` would take eighty. */
export class NumberMap {
  #keys: Float64Array
  #values: Int32Array
  #used: Uint8Array
  #size = 0

  /** `expected`: how many there will be, about; more of them cost a copy. */
  constructor(expected: number) {
    const length = 2 ** Math.ceil(Math.log2(Math.max(16, expected * FREE_FACTOR)))
    this.#keys = new Float64Array(length)
    this.#values = new Int32Array(length)
    this.#used = new Uint8Array(length)
  }

  get size(): number {
    return this.#size
  }

  get(key: number): number | undefined {
    const slot = this.#slotOf(key)
    return this.#used[slot] === 1 ? this.#values[slot] : undefined
  }

  set(key: number, value: number): void {
    if (this.#size * FREE_FACTOR >= this.#keys.length) this.#grow()
    const slot = this.#slotOf(key)
    if (this.#used[slot] === 0) this.#size += 1
    this.#keys[slot] = key
    this.#values[slot] = value
    this.#used[slot] = 1
  }

  #slotOf(key: number): number {
    const mask = this.#keys.length - 1
    // Numbers in a row lie in a row; the multiplication parts those that are far from each other.
    let slot = (Math.imul(key / 0x100000000, 0x9e3779b1) ^ key) & mask
    while (this.#used[slot] === 1 && this.#keys[slot] !== key) slot = (slot + 1) & mask
    return slot
  }

  #grow(): void {
    const [keys, values, used] = [this.#keys, this.#values, this.#used]
    this.#keys = new Float64Array(keys.length * 2)
    this.#values = new Int32Array(keys.length * 2)
    this.#used = new Uint8Array(keys.length * 2)
    for (const [slot, key] of keys.entries()) {
      if (used[slot] === 0) continue
      const place = this.#slotOf(key)
      this.#keys[place] = key
      this.#values[place] = values[slot] ?? 0
      this.#used[place] = 1
    }
  }
}

/** A third stays free, so that looking for one does not become walking. */
const FREE_FACTOR = 1.5
