/** Limits concurrent steps; waiting ones start in order. */
export class StepSlots {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(count: number) {
    this.#free = count
  }

  /** Resolves with the function that gives the slot back; rejects when the signal aborts first. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await this.#wait(signal)
    return () => this.#giveBack()
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(onTurn)
        reject(signal.reason)
      }
      const onTurn = () => {
        signal.removeEventListener('abort', onAbort)
        resolve()
      }
      this.#waiting.add(onTurn)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Passes the slot to the longest waiter, or frees it. */
  #giveBack(): void {
    for (const next of this.#waiting) {
      this.#waiting.delete(next)
      next()
      return
    }
    this.#free++
  }
}
