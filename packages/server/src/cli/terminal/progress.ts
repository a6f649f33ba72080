/**
 * One line on a terminal while something long runs, gone when it is done. Anywhere else there is
 * nothing: logs and pipes get no half lines.
 */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream
  readonly #startedAt = performance.now()
  #text: string
  #timer: NodeJS.Timeout | undefined

  constructor(text: string, stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream
    this.#text = text
    // Also without a terminal: a command that waits for another process has nothing else
    // that keeps it alive.
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

  /** Makes room for a line of another kind; the next second draws it again. */
  clear(): void {
    if (this.#stream.isTTY) this.#stream.write('\r\u001b[K')
  }

  #draw(): void {
    if (!this.#stream.isTTY) return
    const seconds = Math.round((performance.now() - this.#startedAt) / 1_000)
    this.#stream.write(`\r\u001b[K${this.#text} (${seconds} s)`)
  }
}
