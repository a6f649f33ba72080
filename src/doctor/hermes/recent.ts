/**
 * Remembers at least the newest `max` keys and at most twice as many, at the cost of two maps. A map
 * that drops its oldest key on every insertion walks over what it has dropped.
 */
export class Recent<Key, Value> {
  readonly #max: number
  #young = new Map<Key, Value>()
  #old = new Map<Key, Value>()

  constructor(max: number) {
    this.#max = max
  }

  get(key: Key): Value | undefined {
    return this.#young.get(key) ?? this.#old.get(key)
  }

  set(key: Key, value: Value): void {
    this.#young.set(key, value)
    if (this.#young.size < this.#max) return
    this.#old = this.#young
    this.#young = new Map()
  }
}
