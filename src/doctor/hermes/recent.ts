/**
 * Remembers at least the newest `max` keys and at most twice as many, at the cost of two maps. A map
 * that drops its oldest key on every insertion walks over what it has dropped.
 */
export class Recent<Key, Value> {
  readonly #max: number
  /** Made when they are needed: most sessions never do. */
  #young: Map<Key, Value> | null = null
  #old: Map<Key, Value> | null = null

  constructor(max: number) {
    this.#max = max
  }

  get(key: Key): Value | undefined {
    return this.#young?.get(key) ?? this.#old?.get(key)
  }

  set(key: Key, value: Value): void {
    this.#young ??= new Map()
    this.#young.set(key, value)
    if (this.#young.size < this.#max) return
    this.#old = this.#young
    this.#young = null
  }
}
