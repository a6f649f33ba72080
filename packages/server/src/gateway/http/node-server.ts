import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Door } from '#core/base/door'
import { type ListenAddress, ListenError, type Listening, listen } from '../listening.ts'
import { type HttpLimits, SlotPool } from './access/limits.ts'
import { HttpProblem, type ProblemCode } from './problems.ts'

export type Handler = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown

const KEEP_ALIVE_MS = 30_000
/**
 * A request costs a few tenths of a millisecond, so this many take less time than a person notices.
 */
const BEGUN_PER_TURN = 16
const CHECK_MS = 1_000

/** Connections beyond the limits that still get answers to health checks. */
const RESERVE = 16
const SIGNS_OF_LIFE = /^\/(?:healthz|readyz)(?:\?|$)/

/**
 * Requests that wait on one connection behind the one being answered. Clients send one at a time; a
 * client that sends many and reads nothing would fill our memory with responses.
 */
const WAITING_MAX = 100

interface Exchange {
  readonly incoming: IncomingMessage
  readonly outgoing: ServerResponse
}

interface Connection {
  /** Null: a trusted proxy, which forwards for many addresses. */
  readonly address: string | null
  /** Accepted beyond the limits. */
  readonly isReserve: boolean
  /** Releases its slot, once. */
  readonly leave: () => void
}

/**
 * The socket side: how many clients may connect, how long a request may take to arrive, and an
 * orderly shutdown. Node counts a connection that never sent anything as busy and would wait for
 * it, so connections with a request in progress are tracked here. At the limit, the connection that
 * has been idle longest is closed, or one that waits for its client to send the rest of a body or
 * to read an answer. If there is none, a few more connections are accepted for the health checks.
 */
export class NodeServer {
  readonly #server: Server
  readonly #graceMs: number
  readonly #isProxy: (address: string | undefined) => boolean
  readonly #onFailure: (error: unknown) => void
  readonly #slots: SlotPool
  readonly #reserve = new SlotPool({ total: RESERVE, perName: RESERVE })
  /** The one that has been idle longest comes first. */
  readonly #sockets = new Map<Socket, Connection>()
  /** The requests of each connection, in order; the first is being answered. */
  readonly #busy = new Map<Socket, Exchange[]>()
  readonly #door = new Door(BEGUN_PER_TURN)
  #listening: Listening | null = null
  #isClosing = false

  constructor(
    handler: Handler,
    limits: HttpLimits,
    isProxy: (address: string | undefined) => boolean = () => false,
    onFailure: (error: unknown) => void = () => {},
  ) {
    this.#onFailure = onFailure
    this.#graceMs = limits.graceMs
    this.#isProxy = isProxy
    this.#slots = new SlotPool({
      total: limits.connectionsMax,
      perName: limits.connectionsPerAddressMax,
    })
    this.#server = createServer(
      {
        maxHeaderSize: limits.headerBytesMax,
        headersTimeout: limits.headersMs,
        requestTimeout: limits.requestMs,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: Math.min(CHECK_MS, limits.headersMs),
      },
      (incoming, outgoing) => {
        if (this.#sockets.get(incoming.socket)?.isReserve) {
          outgoing.shouldKeepAlive = false
          if (!SIGNS_OF_LIFE.test(incoming.url ?? '')) return refuseConnection(outgoing)
        }
        this.#enter({ incoming, outgoing }, handler)
      },
    )
    this.#server.on('connection', (socket: Socket) => {
      const connection = this.#admit(socket.remoteAddress)
      if (connection === undefined) {
        socket.destroy()
        return
      }
      this.#sockets.set(socket, connection)
      socket.once('close', () => {
        this.#sockets.delete(socket)
        this.#busy.delete(socket)
        connection.leave()
      })
    })
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      const [answering] = this.#busy.get(socket) ?? []
      // A refusal would be read as the answer to an earlier request, or as a part of it.
      const isTurn = answering === undefined || isUnanswered(answering)
      if (error.code === 'ECONNRESET' || !socket.writable || !isTurn) socket.destroy()
      else socket.end(rawRefusal(CLIENT_ERRORS[error.code ?? ''] ?? 'bad-request'))
    })
  }

  async listen(place: ListenAddress): Promise<AddressInfo> {
    this.#listening = await listen(this.#server, place)
    return this.#listening.address
  }

  /** Whether no other program can answer at `localhost` and this port. */
  get holdsLocalhost(): boolean {
    return this.#listening?.holdsLocalhost ?? false
  }

  async listenAtPath(path: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.on('error', (error) => reject(new ListenError(path, error)))
      this.#server.listen(path, () => resolve())
    })
  }

  /** Accepts nothing new; running requests are answered within the grace period. */
  async close(): Promise<void> {
    this.#isClosing = true
    const closed =
      this.#listening?.stop() ?? new Promise((resolve) => void this.#server.close(resolve))
    for (const socket of this.#sockets.keys()) {
      if (!this.#busy.has(socket)) socket.destroy()
    }
    const force = setTimeout(() => {
      for (const socket of this.#sockets.keys()) socket.destroy()
    }, this.#graceMs)
    await closed
    clearTimeout(force)
  }

  #admit(remoteAddress: string | undefined): Connection | undefined {
    const address = this.#isProxy(remoteAddress) ? null : (remoteAddress ?? 'unknown')
    const leave =
      this.#slots.enter(address) ??
      this.#instead(this.#slots, address, (each) => each.address === address) ??
      this.#instead(this.#slots, address, () => this.#slots.hasShare(address))
    if (leave !== undefined) return { address, isReserve: false, leave }
    const late =
      this.#reserve.enter(null) ?? this.#instead(this.#reserve, null, ({ isReserve }) => isReserve)
    return late && { address, isReserve: true, leave: late }
  }

  /** Closes the first idle connection of a kind, else one that waits for its client, and takes its slot. */
  #instead(
    slots: SlotPool,
    address: string | null,
    isOfKind: (connection: Connection) => boolean,
  ): (() => void) | undefined {
    const ofKind = () => this.#sockets.entries().filter(([, each]) => isOfKind(each))
    const found =
      ofKind().find(([socket]) => !this.#busy.has(socket)) ??
      ofKind().find(([socket]) => isWaitingForClient(this.#busy.get(socket)?.[0]))
    if (found === undefined) return undefined
    const [socket, connection] = found
    socket.destroy()
    this.#sockets.delete(socket)
    connection.leave()
    return slots.enter(address)
  }

  /** Moves the connection to the end of the idle order. */
  #idle(socket: Socket): void {
    const connection = this.#sockets.get(socket)
    if (connection === undefined) return
    this.#sockets.delete(socket)
    this.#sockets.set(socket, connection)
  }

  /**
   * Handles the requests of a connection one at a time: the next one starts when the previous
   * response was read.
   */
  #enter(exchange: Exchange, handler: Handler): void {
    const { socket } = exchange.incoming
    if (socket.destroyed) return
    const exchanges = this.#busy.get(socket) ?? []
    this.#busy.set(socket, exchanges)
    exchanges.push(exchange)
    if (exchanges.length > WAITING_MAX) socket.destroy()
    else if (exchanges.length === 1) this.#begin(exchanges, handler)
  }

  #begin(exchanges: Exchange[], handler: Handler): void {
    const [exchange] = exchanges
    if (exchange === undefined) return
    const { incoming, outgoing } = exchange
    const { socket } = incoming
    outgoing.on('error', () => socket.destroy())
    outgoing.once('close', () => {
      exchanges.shift()
      if (exchanges.length > 0 && !socket.destroyed) return this.#begin(exchanges, handler)
      this.#busy.delete(socket)
      this.#idle(socket)
      if (this.#isClosing) socket.destroySoon()
    })
    this.#door.pass(() => void this.#handle(exchange, handler))
  }

  /** A handler that fails ends its own connection only. */
  async #handle({ incoming, outgoing }: Exchange, handler: Handler): Promise<void> {
    try {
      await handler(incoming, outgoing)
    } catch (error) {
      incoming.socket.destroy()
      this.#onFailure(error)
    }
  }
}

function isWaitingForClient(exchange: Exchange | undefined): boolean {
  return exchange !== undefined && (!exchange.incoming.complete || exchange.outgoing.writableEnded)
}

/** Whether an error in what the client sends is one of this request. */
function isUnanswered({ incoming, outgoing }: Exchange): boolean {
  return !incoming.complete && !outgoing.headersSent
}

/** Bypasses the pipeline, whose lookups and counters are the overloaded part. */
function refuseConnection(outgoing: ServerResponse): void {
  const { status, body, headers } = new HttpProblem('too-many-connections')
  const text = JSON.stringify(body)
  const type = { 'content-type': 'application/problem+json' }
  outgoing.writeHead(status, { ...type, ...headers, 'content-length': Buffer.byteLength(text) })
  outgoing.end(text)
}

const CLIENT_ERRORS: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'timeout',
}

/** For bytes that are not HTTP: only the socket is left to answer on. */
function rawRefusal(code: ProblemCode): string {
  const problem = new HttpProblem(code)
  const body = JSON.stringify(problem.body)
  const head = [
    `HTTP/1.1 ${problem.status} ${problem.message}`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
