/**
 * How long the event loop was held by this thread's own work: the processor time that went by
 * between two turns of a short timer. Wall time would blame us for a machine that is busy with
 * something else; processor time does not.
 */
export class LoopWatch {
  #timer: NodeJS.Timeout | undefined
  #before = threadMs()
  #longestMs = 0

  start(): void {
    this.reset()
    this.#timer = setInterval(() => this.#look(), TICK_MS)
    this.#timer.unref()
  }

  get longestMs(): number {
    this.#look()
    return this.#longestMs
  }

  reset(): void {
    this.#before = threadMs()
    this.#longestMs = 0
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const now = threadMs()
    this.#longestMs = Math.max(this.#longestMs, now - this.#before)
    this.#before = now
  }
}

const TICK_MS = 5

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
