import type { Clock } from '#core/base/clock'

/**
 * Periodic work of every process that serves a store: one round at a time, each starting a fixed
 * delay after the last one ended. A round handles its own failures and ends soon after its signal
 * aborts.
 */
export class PeriodicTask {
  readonly #clock: Clock
  readonly #everyMs: number
  readonly #round: (signal: AbortSignal) => Promise<void>
  readonly #closing = new AbortController()
  #cancel = () => {}
  #going: Promise<void> = Promise.resolve()

  constructor(parts: {
    readonly clock: Clock
    readonly everyMs: number
    readonly round: (signal: AbortSignal) => Promise<void>
  }) {
    this.#clock = parts.clock
    this.#everyMs = parts.everyMs
    this.#round = parts.round
  }

  start({ firstMs = this.#everyMs }: { readonly firstMs?: number } = {}): void {
    this.#cancel = this.#clock.after(firstMs, () => {
      this.#going = this.#go()
    })
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#cancel()
    await this.#going
  }

  async #go(): Promise<void> {
    const { signal } = this.#closing
    await this.#round(signal)
    if (!signal.aborted) this.start()
  }
}
