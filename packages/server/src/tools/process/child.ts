import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setImmediate as nextRound } from 'node:timers/promises'
import type { Clock } from '#core/base/clock'
import type { Matches } from './matches.ts'
import { Lines, Output } from './output.ts'
import { endGroup, endStrays } from './posix.ts'

export interface ChildLimits {
  readonly timeMs: number
  /** All that it may write; more ends it. */
  readonly outputBytesMax: number
  /** What of it is kept to be read. */
  readonly keptCharactersMax: number
  /** Between the asking to end and the ending by force. */
  readonly graceMs: number
}

export type ChildEnd =
  | { readonly kind: 'exited'; readonly code: number | null; readonly signal: string | null }
  | { readonly kind: 'stopped' | 'out-of-time' | 'too-much-output' }

/**
 * One program in the background with everything it starts. *running* until its process exits; then
 * the rest of its group is ended, what it still had to say is read, and it is *ended*. Stopping asks
 * first and insists after a grace.
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
    // A flooding program is killed at once: asked to end, it would keep writing meanwhile.
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
    await endStrays(this.pid).catch(() => {})
    // One that got away may keep the pipe open; it is not waited for.
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
      // Destroyed, by us or with the pipe: what came until then counts.
    }
    await take(decoder.end())
    await this.#match(lines.finish())
  }

  /** Not longer at a time than others can wait; the program waits in its pipe meanwhile. */
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
