import type { Clock } from '#core/base/clock'

/**
 * The four deadlines of a call, with our own timers: undici's are late by up to half a second, and
 * its body timer stops while nothing is read.
 *
 * `connect` runs until a connection takes the request, `first-byte` from then until the first byte
 * of the answer's body, `idle` from one chunk at the socket to the next, `total` from beginning to
 * end. A keep-alive of the provider (a comment, a ping) restarts `idle`, but only for half of the
 * total time: a server that sends nothing else leaves the other half to later tries. A healthy
 * stream is never ended by the clock of an earlier phase.
 */
export interface Deadlines {
  readonly connectMs: number
  readonly firstByteMs: number
  readonly idleMs: number
  readonly totalMs: number
}

export type DeadlineName = 'connect' | 'first-byte' | 'idle' | 'total'

/**
 * Ten minutes in total and at most two of silence: long thinking is fine, but a dead peer is given
 * up.
 */
export const DEADLINES: Deadlines = {
  connectMs: 10_000,
  firstByteMs: 120_000,
  idleMs: 60_000,
  totalMs: 600_000,
}

export class DeadlineTimers {
  readonly #clock: Clock
  readonly #deadlines: Deadlines
  readonly #expire: (deadline: DeadlineName) => void
  readonly #totalAt: number
  readonly #aliveMs: number
  #phase: Exclude<DeadlineName, 'total'> = 'connect'
  #phaseAt: number
  #saidAt = 0
  #cancel: () => void = () => {}
  #armedAt = Number.POSITIVE_INFINITY
  #warned = false
  #stopped = false

  constructor(
    clock: Clock,
    { deadlines, expire }: { deadlines: Deadlines; expire: (deadline: DeadlineName) => void },
  ) {
    this.#clock = clock
    this.#deadlines = deadlines
    this.#expire = expire
    const now = clock.monotonic()
    this.#totalAt = now + deadlines.totalMs
    this.#aliveMs = Math.max(deadlines.totalMs / 2, deadlines.idleMs)
    // Until the request is sent only `total` counts: reading a credential is not connecting.
    this.#phaseAt = Number.POSITIVE_INFINITY
    this.#arm()
  }

  connecting(): void {
    this.#enter('connect', this.#deadlines.connectMs)
  }

  sent(): void {
    this.#enter('first-byte', this.#deadlines.firstByteMs)
  }

  /** Called for every chunk, so it only notes the time; the timer reads it when it fires. */
  heard(): void {
    this.#saidAt = this.#clock.monotonic()
    this.#enter('idle', this.#deadlines.idleMs)
  }

  /** A keep-alive without content. */
  alive(): void {
    const now = this.#clock.monotonic()
    if (this.#phase !== 'idle') this.#saidAt = now
    const leftMs = this.#saidAt + this.#aliveMs - now
    if (leftMs > 0) this.#enter('idle', Math.min(this.#deadlines.idleMs, leftMs))
  }

  /** Nothing is read now, so silence proves nothing; `total` continues. */
  pause(): void {
    this.#phaseAt = Number.POSITIVE_INFINITY
  }

  stop(): void {
    this.#stopped = true
    this.#cancel()
  }

  #enter(phase: Exclude<DeadlineName, 'total'>, delayMs: number): void {
    if (this.#stopped) return
    this.#phase = phase
    this.#phaseAt = this.#clock.monotonic() + delayMs
    this.#warned = false
    if (this.#phaseAt < this.#armedAt) this.#arm()
  }

  #arm(): void {
    this.#cancel()
    this.#armedAt = Math.min(this.#phaseAt, this.#totalAt)
    const delayMs = Math.ceil(this.#armedAt - this.#clock.monotonic())
    this.#cancel = this.#clock.after(Math.min(delayMs, TIMER_MS_MAX), () => this.#look())
  }

  #look(): void {
    if (this.#stopped) return
    const now = this.#clock.monotonic()
    if (now >= this.#totalAt) this.#fire('total')
    else if (now < this.#phaseAt) this.#arm()
    else if (this.#warned) this.#fire(this.#phase)
    else {
      // After a stall, a process runs due timers before it reads its sockets. One more tick of the
      // event loop shows whether the peer was silent or our process was stalled.
      this.#warned = true
      this.#cancel = this.#clock.after(1, () => this.#look())
    }
  }

  #fire(deadline: DeadlineName): void {
    this.stop()
    this.#expire(deadline)
  }
}

// Node fires longer timers at once.
const TIMER_MS_MAX = 2 ** 31 - 1
