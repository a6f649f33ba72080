import type { Clock } from '#core/base/clock'

/**
 * How much a server may send. Parsing costs time whatever the content, so a server that never stops
 * is ended before it slows down others. The limits are far above normal use: a screen recording
 * sent as images stays below them.
 */
const WINDOW_MS = 10_000
export const FLOOD_BYTES_MAX = 64 * 1024 * 1024
export const FLOOD_MESSAGES_MAX = 5_000
/** Values of JSON and lines of event streams, as `message-meter.ts` counts them. */
export const FLOOD_VALUES_MAX = 300_000

export class FloodGauge {
  readonly #clock: Clock
  #since: number
  #bytes = 0
  #messages = 0
  #values = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#since = clock.monotonic()
  }

  /** Null: all is well. Otherwise what was too much. */
  add(what: {
    readonly bytes?: number
    readonly messages?: number
    readonly values?: number
  }): string | null {
    const now = this.#clock.monotonic()
    if (now - this.#since > WINDOW_MS) {
      this.#since = now
      this.#bytes = 0
      this.#messages = 0
      this.#values = 0
    }
    this.#bytes += what.bytes ?? 0
    this.#messages += what.messages ?? 0
    this.#values += what.values ?? 0
    const span = `within ${WINDOW_MS / 1_000} s`
    if (this.#bytes > FLOOD_BYTES_MAX) return `it sent more than ${FLOOD_BYTES_MAX} bytes ${span}`
    if (this.#values > FLOOD_VALUES_MAX)
      return `it sent more than ${FLOOD_VALUES_MAX} values ${span}`
    return this.#messages > FLOOD_MESSAGES_MAX
      ? `it sent more than ${FLOOD_MESSAGES_MAX} messages ${span}`
      : null
  }
}
