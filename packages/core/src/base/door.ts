/**
 * Hundreds of sockets can have something to read at once, and Node would handle them all in one turn
 * of the event loop while streams, timers and leases wait. Only a few pass in each turn, in order.
 */
export class Door {
  readonly #perTurn: number
  #waiting: (() => void)[] = []
  #passed = 0

  constructor(perTurn: number) {
    this.#perTurn = perTurn
  }

  pass(begin: () => void): void {
    if (this.#passed === 0 && this.#waiting.length === 0) setImmediate(() => this.#turn())
    if (this.#passed < this.#perTurn) {
      this.#passed++
      begin()
    } else this.#waiting.push(begin)
  }

  #turn(): void {
    const next = this.#waiting.splice(0, this.#perTurn)
    this.#passed = next.length
    if (next.length > 0) setImmediate(() => this.#turn())
    for (const begin of next) begin()
  }
}
