import type { ChildProcess } from 'node:child_process'
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/client'
import type { Clock } from '#core/base/clock'
import { endGroup, startGroup } from '../process/posix.ts'
import { shortText } from './clean-text.ts'
import { FloodGauge } from './flood.ts'
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

export const MESSAGE_BYTES_MAX = 16 * 1024 * 1024
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
  readonly #ended = Promise.withResolvers<void>()
  #child: ChildProcess | null = null
  #pieces: Buffer[] = []
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
    const child = startGroup(command, args, { folder, env, stdin: 'pipe' })
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
    if (this.#verdict !== null || this.#judge(this.#gauge.add({ bytes: chunk.length }))) return
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.#pieces.push(chunk.subarray(from, end))
      from = end + 1
      const line = Buffer.concat(this.#pieces).toString('utf8')
      this.#pieces = []
      this.#lineBytes = 0
      if (this.#judge(this.#gauge.add({ messages: 1 }))) return
      this.#take(line)
    }
    if (from === chunk.length) return
    this.#pieces.push(chunk.subarray(from))
    this.#lineBytes += chunk.length - from
    if (this.#lineBytes > MESSAGE_BYTES_MAX) {
      this.#judge(`it sent one message of more than ${MESSAGE_BYTES_MAX} bytes`)
    }
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
    const child = this.#child
    child?.stdout?.destroy()
    child?.stderr?.destroy()
    this.#endGroup('force')
    this.#end(`${offence}, so it was ended`)
    return true
  }

  #end(verdict: string): void {
    if (this.#verdict !== null) return
    this.#verdict = verdict
    this.#pieces = []
    const pid = this.#child?.pid
    if (pid !== undefined) this.#groups.remove(pid)
    this.#ended.resolve()
    this.onclose?.()
  }
}
