const KEYS_MAX = 10_000

/** The newest keys of something; the oldest are forgotten. */
export class RecentKeys {
  readonly #keys = new Set<string>()

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  add(key: string): void {
    this.#keys.add(key)
    if (this.#keys.size <= KEYS_MAX) return
    for (const oldest of this.#keys) {
      this.#keys.delete(oldest)
      return
    }
  }
}
