import type { Readable, Writable } from 'node:stream'
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type RequestId,
  type Transport,
} from '@modelcontextprotocol/server'
import { MCP_LINE_BYTES_MAX } from './answers.ts'

/**
 * The Model Context Protocol over a pair of streams, one message per line. The transport of the SDK
 * closes itself at the first line beyond its limit and leaves the input unread; this one skips the
 * line, answers it with an error, and continues reading until the input ends. What was received by
 * then is still answered: a client may write its requests, close its end and read.
 */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  readonly #input: Readable
  readonly #output: Writable
  readonly #lines = new BoundedLines(MCP_LINE_BYTES_MAX)
  /** The requests that wait for their answers. */
  readonly #open = new Set<RequestId>()
  readonly #answered = Promise.withResolvers<void>()
  #hasEnded = false
  #isClosed = false

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#read)
    this.#input.once('end', this.#end)
    this.#input.once('close', this.#end)
    this.#input.on('error', this.#fail)
    this.#output.on('error', this.#fail)
  }

  /** Resolves when the input has ended and every request in it was answered or cancelled. */
  get answered(): Promise<void> {
    return this.#answered.promise
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.#write(message)
    if (!('method' in message) && message.id !== undefined) this.#settle(message.id)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#input.off('data', this.#read)
    this.onclose?.()
  }

  readonly #fail = (error: Error) => {
    if (!this.#isClosed) this.onerror?.(error)
  }

  readonly #read = (chunk: Buffer) => {
    for (const line of this.#lines.take(chunk)) this.#take(line)
  }

  readonly #end = () => {
    if (this.#hasEnded) return
    // The last line may lack its line break.
    this.#take(this.#lines.rest())
    this.#hasEnded = true
    this.#settle(undefined)
  }

  #take(line: Line): void {
    if (this.#isClosed) return
    if (line.kind === 'whole') this.#receive(line.text)
    else {
      const message = `The message exceeds the limit of ${MCP_LINE_BYTES_MAX} bytes; send less at once.`
      this.#refuse(requestId(line), { code: INVALID_REQUEST, message })
    }
  }

  #settle(id: RequestId | undefined): void {
    if (id !== undefined) this.#open.delete(id)
    if (this.#hasEnded && this.#open.size === 0) this.#answered.resolve()
  }

  #receive(text: string): void {
    if (text.trim() === '') return
    const value = jsonOf(text)
    const message = value === undefined ? undefined : messageOf(value)
    if (message !== undefined) this.#accept(message)
    else if (value === undefined) {
      this.#refuse(null, { code: PARSE_ERROR, message: 'The line is not JSON.' })
    } else {
      const problem = 'The line is not a message of JSON-RPC 2.0.'
      this.#refuse(null, { code: INVALID_REQUEST, message: problem })
    }
  }

  #accept(message: JSONRPCMessage): void {
    // A subscription is answered when the connection closes.
    const isListen = 'method' in message && message.method === 'subscriptions/listen'
    if ('method' in message && 'id' in message && !isListen) this.#open.add(message.id)
    this.onmessage?.(message)
    // A cancelled request gets no answer.
    if (!('method' in message) || message.method !== 'notifications/cancelled') return
    const id = message.params?.['requestId']
    if (typeof id === 'string' || typeof id === 'number') this.#settle(id)
  }

  #refuse(
    id: string | number | null,
    error: { readonly code: number; readonly message: string },
  ): void {
    this.onerror?.(new Error(error.message))
    this.#write({ jsonrpc: '2.0', id, error }).catch(this.#fail)
  }

  async #write(message: object): Promise<void> {
    if (this.#isClosed) throw new Error('The connection is closed.')
    if (this.#output.write(`${JSON.stringify(message)}\n`)) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const over = () => {
      for (const event of ['drain', 'error', 'close']) this.#output.off(event, over)
      resolve()
    }
    for (const event of ['drain', 'error', 'close']) this.#output.once(event, over)
    await promise
  }
}

const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function messageOf(value: unknown): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(value)
  } catch {
    return undefined
  }
}

type Line =
  | { readonly kind: 'whole'; readonly text: string }
  /** The start and the end of an overlong line; the middle was dropped. */
  | { readonly kind: 'too-long'; readonly head: string; readonly tail: string }

const EDGE_BYTES = 1_024

/** Cuts chunks into lines. Of a line beyond the limit it keeps only both ends. */
export class BoundedLines {
  readonly #bytesMax: number
  #pieces: Buffer[] = []
  #bytes = 0
  #head = ''

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  *take(chunk: Buffer): Generator<Line> {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      this.#add(chunk.subarray(from, end))
      from = end + 1
      yield this.#finish()
    }
    this.#add(chunk.subarray(from))
  }

  /** What follows the last line break. */
  rest(): Line {
    return this.#finish()
  }

  #add(piece: Buffer): void {
    if (piece.length === 0) return
    this.#pieces.push(piece)
    this.#bytes += piece.length
    if (this.#bytes <= this.#bytesMax) return
    const kept = Buffer.concat(this.#pieces.slice(-2).map((each) => each.subarray(-EDGE_BYTES)))
    if (this.#head === '') this.#head = this.#beginning()
    // A copy: a view would keep the whole chunk in memory.
    this.#pieces = [Buffer.from(kept.subarray(-EDGE_BYTES))]
  }

  #beginning(): string {
    const first = this.#pieces.slice(0, EDGE_BYTES)
    return Buffer.concat(first).subarray(0, EDGE_BYTES).toString('utf8')
  }

  #finish(): Line {
    const text = Buffer.concat(this.#pieces).toString('utf8')
    const isWhole = this.#bytes <= this.#bytesMax
    const line: Line = isWhole
      ? { kind: 'whole', text }
      : { kind: 'too-long', head: this.#head, tail: text }
    this.#pieces = []
    this.#bytes = 0
    this.#head = ''
    return line
  }
}

/** Only string members may come before it, so no nested id can match. */
const FIRST_ID =
  /^\s{0,9}\{\s{0,9}(?:"(?:jsonrpc|method)"\s{0,9}:\s{0,9}"[^"\\]{0,200}"\s{0,9},\s{0,9}){0,2}"id"\s{0,9}:\s{0,9}(\d{1,15}|"[^"\\]{1,200}")\s{0,9},/
/** The last member of the outermost object: its brace ends the line. */
const LAST_ID = /,\s{0,9}"id"\s{0,9}:\s{0,9}(\d{1,15}|"[^"\\]{1,200}")\s{0,9}\}\s{0,9}$/

/** The id of a request that was not parsed, if it is found at either end. */
export function requestId(line: {
  readonly head: string
  readonly tail: string
}): string | number | null {
  const found = FIRST_ID.exec(line.head)?.[1] ?? LAST_ID.exec(line.tail)?.[1]
  return found === undefined ? null : (JSON.parse(found) as string | number)
}
