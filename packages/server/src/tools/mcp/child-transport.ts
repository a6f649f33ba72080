import type { ChildProcess } from 'node:child_process'
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import type { Clock } from '#core/base/clock'
import { endEscapedProcesses, endGroup, startGroup } from '../process/posix.ts'
import { shortText } from './clean-text.ts'
import { FloodGauge } from './flood.ts'
import { MessageMeter } from './message-meter.ts'
import type { McpServerFailure } from './server-failure.ts'

/**
 * A server that runs as a child process and communicates over standard input and output, one
 * message per line. It leads a process group, sees only the given environment, and ends with us.
 * The SDK's own transport starts no group, so processes started by `npx` would survive.
 */
export interface ChildTerms {
  readonly command: string
  readonly args: readonly string[]
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

/** Learns of every running group, so that none outlives a killed runtime. */
export interface GroupWatch {
  add(pid: number): void
  remove(pid: number): void
}

/**
 * The limit of unread answers, which stay in our memory: a server may send requests and never read.
 */
const UNREAD_BYTES_MAX = 16 * 1024 * 1024
const CLOSE_MS = 300
const ASK_MS = 1_500
const DRAIN_MS = 200
const LAST_WORDS = 400

export class ChildTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  readonly #terms: ChildTerms
  readonly #clock: Clock
  readonly #groups: GroupWatch
  readonly #gauge: FloodGauge
  readonly #meter: MessageMeter
  readonly #ended = Promise.withResolvers<void>()
  #child: ChildProcess | null = null
  /** The beginning of a line whose end has not come; the buffer is longer. */
  #line = Buffer.alloc(0)
  #lineBytes = 0
  #lastWords = ''
  #verdict: string | null = null

  constructor(
    terms: ChildTerms,
    { clock, groups }: { readonly clock: Clock; readonly groups: GroupWatch },
  ) {
    this.#terms = terms
    this.#clock = clock
    this.#groups = groups
    this.#gauge = new FloodGauge(clock)
    this.#meter = new MessageMeter(this.#gauge, 'line')
  }

  /** Why it ended, as far as is known, and what it wrote last to its standard error. */
  get failure(): McpServerFailure | null {
    if (this.#verdict === null) return null
    const words = shortText(this.#lastWords, LAST_WORDS)
    return { reason: this.#verdict, words: words === '' ? '' : `it wrote last: ${words}` }
  }

  async start(): Promise<void> {
    const { command, args, folder, env } = this.#terms
    const begun = Promise.withResolvers<void>()
    const child = startGroup(command, args, { folder, env, stdin: 'pipe', isMarked: true })
    this.#child = child
    child.once('error', (error) => {
      const code = 'code' in error ? String(error.code) : 'unknown'
      this.#end(`${command} did not start (${code})`)
      begun.reject(new Error(`${command} did not start (${code}).`))
    })
    child.once('spawn', () => {
      if (child.pid !== undefined) this.#groups.add(child.pid)
      begun.resolve()
    })
    child.once('exit', (code, signal) => {
      // Its children end with it; otherwise they would hold its pipes open.
      this.#endGroup('force')
      const verdict = signal === null ? `it ended with code ${code}` : `it was ended by ${signal}`
      // Its last output is still in the pipes, which a process that left the group may hold open
      // forever.
      child.once('close', () => this.#end(verdict))
      this.#clock.after(DRAIN_MS, () => this.#end(verdict))
    })
    child.stdin?.on('error', () => {})
    child.stdout?.on('error', () => {})
    child.stdout?.on('data', (chunk: Buffer) => this.#read(chunk))
    child.stderr?.on('error', () => {})
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#lastWords = (this.#lastWords + chunk.toString('utf8')).slice(-2 * LAST_WORDS)
      this.#judge(this.#gauge.add({ bytes: chunk.length }))
    })
    await begun.promise
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (this.#verdict !== null || !stdin?.writable) throw new Error('The server is not running.')
    // Not awaited: a server that reads nothing must not block us; the deadline ends the call.
    stdin.write(serializeMessage(message))
    if (stdin.writableLength <= UNREAD_BYTES_MAX) return
    this.#judge(`it left more than ${UNREAD_BYTES_MAX} bytes unread`)
  }

  /** Closes its input, asks it to end, then ends it. Resolves when it has. May be called twice. */
  async close(): Promise<void> {
    const child = this.#child
    if (child === null || child.pid === undefined) return this.#end('closed')
    child.stdin?.end()
    const cancels = [
      this.#clock.after(CLOSE_MS, () => this.#endGroup('ask')),
      this.#clock.after(ASK_MS, () => this.#endGroup('force')),
    ]
    await this.#ended.promise
    for (const cancel of cancels) cancel()
  }

  /** At once, and without waiting. */
  kill(): void {
    if (this.#verdict === null) this.#endGroup('force')
  }

  #endGroup(how: 'ask' | 'force'): void {
    const pid = this.#child?.pid
    if (pid !== undefined) endGroup(pid, how)
  }

  #read(chunk: Buffer): void {
    if (this.#verdict !== null || this.#judge(this.#meter.add(chunk))) return
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.#keep(chunk.subarray(from, end))
      from = end + 1
      const line = this.#line.toString('utf8', 0, this.#lineBytes)
      this.#line = Buffer.alloc(0)
      this.#lineBytes = 0
      if (this.#judge(this.#gauge.add({ messages: 1 }))) return
      this.#take(line)
    }
    this.#keep(chunk.subarray(from))
  }

  /** Copied, because a chunk of one byte holds much more memory, and a line may come in millions of them. */
  #keep(piece: Buffer): void {
    const bytes = this.#lineBytes + piece.length
    if (bytes > this.#line.length) {
      const larger = Buffer.allocUnsafe(2 * bytes)
      this.#line.copy(larger, 0, 0, this.#lineBytes)
      this.#line = larger
    }
    piece.copy(this.#line, this.#lineBytes)
    this.#lineBytes = bytes
  }

  #take(line: string): void {
    let message: JSONRPCMessage
    try {
      message = deserializeMessage(line)
    } catch {
      // Many servers print a greeting to standard output; it is harmless.
      return
    }
    this.onmessage?.(message)
  }

  /** True: it is being ended for misbehaving. */
  #judge(offence: string | null): boolean {
    if (offence === null) return false
    this.#endGroup('force')
    this.#end(`${offence}, so it was ended`)
    return true
  }

  #end(verdict: string): void {
    if (this.#verdict !== null) return
    this.#verdict = verdict
    this.#line = Buffer.alloc(0)
    // A process that escaped may hold them open, and write on.
    this.#child?.stdout?.destroy()
    this.#child?.stderr?.destroy()
    void this.#endEscaped()
    this.onclose?.()
  }

  async #endEscaped(): Promise<void> {
    const pid = this.#child?.pid
    if (pid !== undefined) {
      await endEscapedProcesses(pid).catch(() => {})
      this.#groups.remove(pid)
    }
    this.#ended.resolve()
  }
}
