/**
 * Shows one line on a terminal during long work and removes it at the end. Logs and pipes get
 * nothing.
 */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream
  readonly #startedAt = performance.now()
  #text: string
  #timer: NodeJS.Timeout | undefined

  constructor(text: string, stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream
    this.#text = text
    // Also without a terminal: nothing else keeps a command alive that waits for another process.
    this.#timer = setInterval(() => this.#draw(), 1_000)
  }

  update(text: string): void {
    this.#text = text
    if (this.#timer !== undefined) this.#draw()
  }

  end(): void {
    if (this.#timer === undefined) return
    clearInterval(this.#timer)
    this.#timer = undefined
    this.clear()
  }

  /** Clears the line for other output; the next tick redraws it. */
  clear(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\u001b[K')
  }

  #draw(): void {
    if (!this.#stream.isTTY) return
    const seconds = Math.round((performance.now() - this.#startedAt) / 1_000)
    this.#stream.write(`\r\u001b[K${this.#text} (${seconds} s)`)
  }
}
