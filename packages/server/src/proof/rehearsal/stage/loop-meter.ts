import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { LoopFigures } from '../process-messages.ts'

/** Short: what was computed in earlier turns since the last look is counted with the one that was late. */
const EVERY_MS = 5

/**
 * How long the event loop was held, and how much of that can have been our own work. A loop is late
 * because its thread computed, or because the machine gave the processor to somebody else; only the
 * first is ours, and the thread's own processor time tells them apart: a turn of the loop that was
 * late by 200 ms and computed for 3 ms was held for 3 ms at most.
 */
export class LoopMeter {
  readonly #delay = monitorEventLoopDelay({ resolution: EVERY_MS })
  #timer: NodeJS.Timeout | undefined
  #at = 0
  #cpu = process.threadCpuUsage()
  #ownMsMax = 0
  #delayMsMax = 0

  start(): void {
    this.#delay.enable()
    this.#begin()
    this.#timer = setInterval(() => this.#look(), EVERY_MS).unref()
  }

  /** What is done meanwhile holds the loop on purpose, and is not counted. */
  pause(work: () => void): void {
    this.#delayMsMax = this.figures().delayMsMax
    this.#delay.disable()
    work()
    this.#delay.reset()
    this.#delay.enable()
    this.#begin()
  }

  figures(): LoopFigures {
    // The histogram counts in nanoseconds and holds the period as well.
    const delayMsMax = Math.max(this.#delayMsMax, this.#delay.max / 1e6 - EVERY_MS)
    return { delayMsMax: Math.round(delayMsMax), ownMsMax: Math.round(this.#ownMsMax) }
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#delay.disable()
  }

  #look(): void {
    const lateMs = performance.now() - this.#at - EVERY_MS
    const { user, system } = process.threadCpuUsage(this.#cpu)
    this.#ownMsMax = Math.max(this.#ownMsMax, Math.min(lateMs, (user + system) / 1_000))
    this.#begin()
  }

  #begin(): void {
    this.#at = performance.now()
    this.#cpu = process.threadCpuUsage()
  }
}
