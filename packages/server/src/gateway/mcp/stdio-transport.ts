import type { Readable, Writable } from 'node:stream'
import {
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/server'
import { MCP_LINE_BYTES_MAX } from './answers.ts'

/**
 * The Model Context Protocol over a pair of streams, one message per line. The transport of the SDK
 * closes itself at the first line beyond its limit and leaves the input unread; this one skips the
 * line, answers it with an error, and continues reading until the input ends.
 */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport['onmessage']
  readonly #input: Readable
  readonly #output: Writable
  readonly #lines = new BoundedLines(MCP_LINE_BYTES_MAX)
  #isClosed = false

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#read)
    this.#input.on('error', this.#fail)
    this.#output.on('error', this.#fail)
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#write(message)
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
    for (const line of this.#lines.take(chunk)) {
      if (this.#isClosed) return
      if (line.kind === 'whole') this.#receive(line.text)
      else {
        const message = `The message exceeds the limit of ${MCP_LINE_BYTES_MAX} bytes; send less at once.`
        this.#refuse(requestId(line), { code: INVALID_REQUEST, message })
      }
    }
  }

  #receive(text: string): void {
    if (text.trim() === '') return
    const value = jsonOf(text)
    const message = value === undefined ? undefined : messageOf(value)
    if (message !== undefined) this.onmessage?.(message)
    else if (value === undefined) {
      this.#refuse(null, { code: PARSE_ERROR, message: 'The line is not JSON.' })
    } else {
      const problem = 'The line is not a message of JSON-RPC 2.0.'
      this.#refuse(null, { code: INVALID_REQUEST, message: problem })
    }
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
