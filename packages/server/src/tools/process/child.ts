import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate as nextRound } from 'node:timers/promises'
import type { Clock } from '#core/base/clock'
import type { Matches } from './matches.ts'
import { Lines, Output } from './output.ts'
import { endEscapedProcesses, endGroup } from './posix.ts'

export interface ChildLimits {
  readonly timeMs: number
  /** The most it may write; more ends it. */
  readonly outputBytesMax: number
  /** How much of its output is kept. */
  readonly keptCharactersMax: number
  /** The time between the request to end and the kill. */
  readonly graceMs: number
}

export type ChildEnd =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'stopped' | 'out-of-time' | 'too-much-output' }

/**
 * One program in the background with everything it starts. *running* until its process exits; then
 * the rest of its group is ended, its remaining output is read, and it is *ended*. Stopping
 * requests first and kills after a grace period.
 */
export class Child {
  readonly pid: number
  readonly startedAt: number
  readonly output: Output
  readonly ended: Promise<ChildEnd>
  readonly #process: ChildProcess
  readonly #clock: Clock
  readonly #limits: ChildLimits
  readonly #matches: Matches
  readonly #onMatch: () => void
  #reason: Exclude<ChildEnd, { kind: 'exited' }>['kind'] | null = null
  #bytes = 0
  #end: ChildEnd | null = null
  #cancelForce = () => {}

  constructor(
    started: { readonly process: ChildProcess; readonly pid: number },
    parts: {
      readonly clock: Clock
      readonly limits: ChildLimits
      readonly matches: Matches
      /** There may be something to report. */
      readonly onMatch: () => void
    },
  ) {
    this.#process = started.process
    this.pid = started.pid
    this.#clock = parts.clock
    this.#limits = parts.limits
    this.#matches = parts.matches
    this.#onMatch = parts.onMatch
    this.startedAt = parts.clock.now()
    this.output = new Output(parts.limits.keptCharactersMax)
    this.ended = this.#run()
  }

  get end(): ChildEnd | null {
    return this.#end
  }

  /** May be called again; the first reason stays. */
  stop(reason: Exclude<ChildEnd, { kind: 'exited' }>['kind'] = 'stopped'): void {
    if (this.#end !== null || this.#reason !== null) return
    this.#reason = reason
    // A flooding program is killed at once; during a grace period it would keep writing.
    endGroup(this.pid, reason === 'too-much-output' ? 'force' : 'ask')
    this.#cancelForce = this.#clock.after(this.#limits.graceMs, () => endGroup(this.pid, 'force'))
  }

  async #run(): Promise<ChildEnd> {
    const cancelLimit = this.#clock.after(this.#limits.timeMs, () => this.stop('out-of-time'))
    const { stdout, stderr } = this.#process
    const exited = Promise.withResolvers<ChildEnd>()
    this.#process.once('exit', (code, signal) => exited.resolve({ kind: 'exited', code, signal }))
    const reading = Promise.all([this.#read(stdout), this.#read(stderr)])
    const end = await exited.promise
    cancelLimit()
    this.#cancelForce()
    // Processes left in its group end with it, and so do those outside the group that can be found.
    endGroup(this.pid, 'force')
    await endEscapedProcesses(this.pid).catch(() => {})
    // A process that escaped may keep the pipe open; it is not awaited.
    const cancelReading = this.#clock.after(READING_MS_MAX, () => {
      stdout?.destroy()
      stderr?.destroy()
    })
    await reading
    cancelReading()
    this.#end = this.#reason === null ? end : { kind: this.#reason }
    return this.#end
  }

  async #read(stream: Readable | null): Promise<void> {
    if (stream === null) return
    const decoder = new StringDecoder('utf8')
    const lines = new Lines()
    const take = async (text: string) => {
      this.output.write(text)
      await this.#match(lines.take(text))
    }
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        this.#bytes += chunk.length
        if (this.#bytes > this.#limits.outputBytesMax) this.stop('too-much-output')
        await take(decoder.write(chunk))
      }
    } catch {
      // The stream was destroyed, by us or with the pipe; the output so far counts.
    }
    await take(decoder.end())
    await this.#match(lines.finish())
  }

  /**
   * Works in short slices so that others are not delayed; meanwhile the pipe holds the program
   * back.
   */
  async #match(lines: readonly string[]): Promise<void> {
    if (!this.#matches.isNeeded) return
    let since = this.#clock.monotonic()
    for (const line of lines) {
      this.#matches.take(line)
      if (this.#clock.monotonic() - since < ROUND_MS_MAX) continue
      await nextRound()
      since = this.#clock.monotonic()
    }
    this.#onMatch()
  }
}

const READING_MS_MAX = 1_000
const ROUND_MS_MAX = 10
