import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { isObject } from '#core/base/json'
import { parseDocument } from '#core/message/read-lines'
import type { Script } from './answer.ts'
import { type Fault, Faults, UnknownFaultError } from './faults.ts'
import { Journal, type OpenEntry } from './journal.ts'
import { Rejection } from './protocols/protocol.ts'
import { findEndpoint, respond, respondWithError } from './respond.ts'
import { type PlayedResponse, play, type Speed, silence } from './sending/play.ts'

/**
 * A model server without a provider: OpenAI chat and Responses and Anthropic Messages over real
 * HTTP with event streams, and embeddings as OpenAI, Ollama and Gemini have them. It answers from the request alone, records requests, and injects faults
 * on demand. It keeps no conversation and uses no clock and no randomness for its answers: the same
 * request gets the same body.
 */
export interface StandInOptions {
  /** Its result, if any, replaces the stand-in's own answer. Must not throw. */
  readonly script?: Script
  /** The model's window; larger requests get the provider's own error. Absent: no limit. */
  readonly windowTokens?: number | ((model: string) => number | undefined)
  readonly speed?: Speed
  /** The list of `GET /v1/models`; requests may name any model. */
  readonly models?: readonly string[]
  /** How many requests the journal keeps verbatim; a few are enough if no test reads it. */
  readonly journalEntriesMax?: number
}

export interface Running {
  /** `http://127.0.0.1:34567`, followed by a secret path if `isPrivate`. */
  readonly url: string
  readonly port: number
  /** Closes every connection, including those that a fault holds open. May be called twice. */
  close(): Promise<void>
}

export interface StandInAddress {
  readonly host?: string
  readonly port?: number
  /**
   * Drops requests without a secret path before their body is read, because other users of the
   * machine and pages in a browser can reach the port.
   */
  readonly isPrivate?: boolean
}

const BODY_BYTES_MAX = 64 * 1024 * 1024

const CLOSING = Symbol('the server closes')

export function standIn(options: StandInOptions = {}): StandIn {
  return new StandIn(options)
}

export class StandIn {
  readonly faults = new Faults()
  readonly journal: Journal
  readonly #options: StandInOptions
  #server: Server | undefined

  constructor(options: StandInOptions) {
    this.#options = options
    this.journal = new Journal(options.journalEntriesMax)
  }

  /** Call it again only after `close`; the same port simulates a server that comes back. */
  async start(address: StandInAddress = {}): Promise<Running> {
    if (this.#server !== undefined) throw new Error('this stand-in is running; close it first')
    const { host = '127.0.0.1', port = 0, isPrivate = false } = address
    const base = isPrivate ? `/${randomBytes(16).toString('hex')}` : ''
    const exchanges = new Map<AbortController, Promise<void>>()
    const server = createServer((request, response) => {
      if (!request.url?.startsWith(`${base}/`)) return void request.destroy()
      const leaving = new AbortController()
      const exchange = this.#exchange(request, response, leaving)
      exchanges.set(leaving, exchange)
      void exchange.finally(() => exchanges.delete(leaving))
    })
    // Idle connections stay open until the client or a test closes them, however long it takes.
    server.keepAliveTimeout = 0
    server.on('connection', (socket: Socket) => this.journal.openSocket(socket))
    // Input that is not HTTP gets no answer.
    server.on('clientError', (_error, socket) => socket.destroy())
    this.#server = server
    try {
      await listen(server, host, port)
    } catch (error) {
      this.#server = undefined
      throw error
    }
    let closed: Promise<void> | undefined
    const found = (server.address() as AddressInfo).port
    const shown = host.includes(':') ? `[${host}]` : host
    return {
      url: `http://${shown}:${found}${base}`,
      port: found,
      close: () => {
        closed ??= this.#close(server, exchanges)
        return closed
      },
    }
  }

  /** Closes idle connections, as servers do after a while. */
  closeIdleSockets(): void {
    this.#server?.closeIdleConnections()
  }

  async #close(
    server: Server,
    exchanges: ReadonlyMap<AbortController, Promise<void>>,
  ): Promise<void> {
    const ended = Promise.withResolvers<void>()
    server.close(() => ended.resolve())
    for (const leaving of exchanges.keys()) leaving.abort(CLOSING)
    await Promise.all(exchanges.values())
    server.closeAllConnections()
    await Promise.all([ended.promise, this.journal.closed()])
    // Requests may have arrived on open connections meanwhile.
    await Promise.all(exchanges.values())
    this.#server = undefined
  }

  /** One request and its answer. Never rejects. */
  async #exchange(
    request: IncomingMessage,
    response: ServerResponse,
    leaving: AbortController,
  ): Promise<void> {
    const { signal } = leaving
    response.once('close', () => leaving.abort())
    response.on('error', () => leaving.abort())
    let entry: OpenEntry | undefined
    try {
      const bodyText = await readBody(request, signal)
      entry = this.#open(request, bodyText ?? '')
      if (bodyText === undefined) entry.outcome = await this.#refuseSize(entry, response, signal)
      else entry.outcome = await this.#answer(entry, response, signal)
    } catch {
      // The client disconnected, or the server is closing; the answer stays incomplete.
      if (entry !== undefined) entry.outcome = signal.reason === CLOSING ? 'faulted' : 'left'
      request.destroy()
    }
    if (entry !== undefined) entry.endedAtMs = performance.now()
  }

  #open(request: IncomingMessage, bodyText: string): OpenEntry {
    const { method = 'GET', url = '/', socket } = request
    const [path = '/'] = url.split('?')
    const headers = request.headers as OpenEntry['headers']
    const body = parsed(bodyText)
    const facts = { method, path, headers, bodyText, ...(body !== undefined && { body }) }
    return this.journal.openEntry(socket, facts)
  }

  async #answer(
    entry: OpenEntry,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<'answered' | 'faulted'> {
    const endpoint = findEndpoint(entry)
    let performance: PlayedResponse
    try {
      const body = isObject(entry.body) ? entry.body : undefined
      const model = typeof body?.['model'] === 'string' ? body['model'] : undefined
      entry.fault = this.faults.take({ ...entry, model }, entry.number)
      if (strikesFirst(entry.fault, entry.reused)) {
        return await strike(entry.fault, response, signal)
      }
      performance = respond(endpoint, entry, this.#options)
    } catch (error) {
      performance = respondWithError(endpoint, rejectionOf(error), entry)
    }
    entry.status = performance.status
    const { fault } = entry
    return await play(response, performance, { fault, speed: this.#options.speed ?? {}, signal })
  }

  async #refuseSize(entry: OpenEntry, response: ServerResponse, signal: AbortSignal) {
    const message = `The request is larger than ${BODY_BYTES_MAX} bytes.`
    const rejection = new Rejection(message, { status: 413 })
    const performance = respondWithError(findEndpoint(entry), rejection, entry)
    entry.status = performance.status
    return await play(response, performance, { fault: undefined, speed: {}, signal })
  }
}

/** The faults that come before the first byte of an answer. */
async function strike(
  fault: Fault | undefined,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<'faulted'> {
  if (fault?.kind === 'half-open') return await silence(signal)
  response.socket?.resetAndDestroy()
  return 'faulted'
}

function strikesFirst(fault: Fault | undefined, reused: boolean): boolean {
  if (fault?.kind === 'reset-reused-socket') return reused
  return fault?.kind === 'half-open' || fault?.kind === 'reset-before-headers'
}

function rejectionOf(error: unknown): Rejection {
  if (error instanceof Rejection) return error
  if (error instanceof UnknownFaultError) return new Rejection(error.message)
  const message = error instanceof Error ? error.message : String(error)
  return new Rejection(`The stand-in failed: ${message}`, { status: 500 })
}

function parsed(text: string) {
  try {
    return parseDocument(text)
  } catch {
    return undefined
  }
}

/** `undefined` if it is too large; it is still read to the end, so that it can be answered. */
async function readBody(
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  const leave = () => request.destroy()
  signal.addEventListener('abort', leave, { once: true })
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk)
  }
  signal.removeEventListener('abort', leave)
  return bytes <= BODY_BYTES_MAX ? Buffer.concat(chunks).toString() : undefined
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, host, () => {
    server.off('error', reject)
    resolve()
  })
  await promise
}
