import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { LoopFigures } from '../process-messages.ts'

/** Short, because work of earlier turns since the last sample is attributed to the late one. */
const EVERY_MS = 5

/**
 * How long the event loop was blocked, and how much of that our own work can have caused. A loop is
 * late because its thread computed, or because the machine ran something else; only the first is
 * ours, and the thread's processor time distinguishes them: a loop turn that was 200 ms late and
 * computed for 3 ms was blocked by us for 3 ms at most.
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

  /** Runs work that blocks the loop on purpose and is not counted. */
  pause(work: () => void): void {
    this.#delayMsMax = this.figures().delayMsMax
    this.#delay.disable()
    work()
    this.#delay.reset()
    this.#delay.enable()
    this.#begin()
  }

  figures(): LoopFigures {
    // The histogram is in nanoseconds and includes the sampling period.
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
