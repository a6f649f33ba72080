import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { isObject } from '#core/base/json'
import type { Logger } from '#core/base/logger'
import { EventLines } from '../../proxy/event-lines.ts'
import type { RecordedPassage } from '../../runtime/client-sessions/passage.ts'
import type { Recorder } from '../../runtime/client-sessions/recorder.ts'
import { PeerUsers } from '../http/access/peer-user.ts'
import {
  type ProxyAddress,
  type ProxyRefusal,
  readAddress,
  refusalFor,
  upstreamFor,
} from './address.ts'
import { answerCompaction } from './compaction-answer.ts'
import {
  BODY_BYTES_MAX,
  isReadable,
  RequestTooLargeError,
  readRequestBody,
  UnreadableBodyError,
} from './request-body.ts'
import { answerHeaders, Upstream, type Upstreams } from './upstream.ts'

/**
 * The proxy between clients and their providers. It forwards what it does not know, delays nothing,
 * and stores no header: credentials go from the client to the provider and nowhere else.
 */
export interface ProxyOptions {
  readonly recorder: Pick<Recorder, 'begin'>
  readonly upstreams: Upstreams
  readonly logger: Logger
  readonly host?: string
  readonly port?: number
  /** Another process listens at the port and hands its connections over. */
  readonly accept?: (take: (socket: Socket) => void) => void
  readonly proxyEnv?: NodeJS.ProcessEnv
}

export interface RunningProxy {
  readonly url: string
  readonly port: number
  /** Who may use the proxy: only programs of the user who runs it, if the system reports owners. */
  readonly open: 'own-user' | 'every-user'
  /** Cuts off running responses; recorded messages stay. */
  close(): Promise<void>
}

/** Enough to read why a request is refused. */
const FOREIGN_MS_MAX = 1_000
const RECORDED = /\/(?:messages(?:\/count_tokens)?|responses(?:\/compact)?|chat\/completions)$/

export async function serveProxy(options: ProxyOptions): Promise<RunningProxy> {
  const upstream = new Upstream(options.proxyEnv ?? {})
  const proxy = new ProxyServer(options, upstream)
  const server = createServer((request, response) => void proxy.handle(request, response))
  // Clients set their own time limits for a model.
  Object.assign(server, { requestTimeout: 0, timeout: 0, keepAliveTimeout: 65_000 })
  // Node's server does not track upgraded connections or those handed over.
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    void proxy.endForeign(socket)
  })
  server.on('upgrade', (request, socket, head) => void proxy.upgrade(request, socket, head))
  server.on('clientError', (_error, socket) => socket.destroy())
  if (options.accept === undefined) {
    await listen(server, options.host ?? '127.0.0.1', options.port ?? 0)
  }
  const { port } = (server.address() as AddressInfo | null) ?? { port: options.port ?? 0 }
  const open = await proxy.findPeers(port)
  options.accept?.((socket) => server.emit('connection', socket))
  return {
    ...{ port, open, url: `http://${options.host ?? '127.0.0.1'}:${port}` },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      upstream.close()
      await closed
      await proxy.settled()
    },
  }
}

class ProxyServer {
  readonly #options: ProxyOptions
  readonly #upstream: Upstream
  readonly #open = new Set<Promise<void>>()
  readonly #peers = Promise.withResolvers<PeerUsers | null>()

  constructor(options: ProxyOptions, upstream: Upstream) {
    this.#options = options
    this.#upstream = upstream
  }

  /** Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const handled = this.#handle(request, response)
      .catch((error: unknown) => this.#fail(error, response))
      .finally(() => this.#open.delete(handled))
    this.#open.add(handled)
    return handled
  }

  async settled(): Promise<void> {
    await Promise.all(this.#open)
  }

  /** Opens the check of a connection's owner; requests wait for it. */
  async findPeers(port: number): Promise<RunningProxy['open']> {
    const peers = await PeerUsers.open(port).catch(() => null)
    this.#peers.resolve(peers)
    return peers === null ? 'every-user' : 'own-user'
  }

  /** Another user could otherwise hold thousands of connections open, and so lock out the owner. */
  async endForeign(socket: Socket): Promise<void> {
    if (!(await this.#isOwn(socket))) setTimeout(() => socket.destroy(), FOREIGN_MS_MAX).unref()
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // After an upgrade, Node's server no longer handles errors of the socket.
    socket.on('error', () => socket.destroy())
    const refusal = await this.#refusalOf(request)
    if (refusal !== null) {
      endWith(socket, refusal.status, refusal.message)
      return
    }
    const address = readAddress(request.url ?? '/')
    // Clients that prefer a websocket then use HTTP, which is recorded.
    if (RECORDED.test(address.pathname)) {
      endWith(socket, 426, 'Throughline records this path over HTTP only.')
      return
    }
    const { method = 'GET', headers } = request
    const to = upstreamFor(address, headers, this.#options.upstreams)
    if (!(to instanceof URL)) return endWith(socket, to.status, to.message)
    this.#upstream.upgrade(to, { method, path: address.path, headers }, socket, head)
  }

  async #refusalOf(request: IncomingMessage): Promise<ProxyRefusal | null> {
    const refusal = refusalFor(request)
    if (refusal !== null) return refusal
    // Another user could otherwise retrieve a stored handoff and write into a conversation.
    if (await this.#isOwn(request.socket)) return null
    const message = 'This proxy answers only programs of the user who runs it.'
    return { status: 403, message }
  }

  async #isOwn(socket: Socket): Promise<boolean> {
    return (await (await this.#peers.promise)?.isOwner(socket)) ?? true
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const leaving = new AbortController()
    response.once('close', () => leaving.abort())
    const refusal = await this.#refusalOf(request)
    if (refusal !== null) {
      sendError(response, refusal.status, refusal.message)
      return
    }
    const address = readAddress(request.url ?? '/')
    const { method = 'GET', headers } = request
    const to = upstreamFor(address, headers, this.#options.upstreams)
    if (!(to instanceof URL)) return sendError(response, to.status, to.message)
    const outbound = { method, path: address.path, headers }
    const isKnown = method === 'POST' && RECORDED.test(address.pathname)
    if (isKnown && !isReadable(request)) {
      const { 'content-encoding': encoding, 'content-length': bytes } = headers
      this.#options.logger.warn(
        { encoding, bytes },
        'a request was not recorded: it cannot be read',
      )
    }
    if (!isKnown || !isReadable(request)) {
      const answer = await this.#upstream.ask(
        to,
        { ...outbound, body: null },
        leaving.signal,
        request,
      )
      await pass(answer, response, () => {})
      return
    }
    const body = await readRequestBody(request)
    const { launch, pathname } = address
    const facts = { path: pathname, headers: single(headers), body, launch, baseUrl: to.href }
    const passage = await this.#options.recorder.begin(facts)
    if (leaving.signal.aborted) return
    if (passage.compaction !== null) {
      answerCompaction(response, passage.compaction, compactionRequest(address, body))
      return
    }
    try {
      const { 'content-encoding': _, ...plain } = headers
      const sent = { ...outbound, headers: plain, body: passage.send }
      const answer = await this.#upstream.ask(to, sent, leaving.signal)
      await follow(answer, response, passage)
    } finally {
      await passage.end()
    }
  }

  #fail(error: unknown, response: ServerResponse): void {
    const { code, name } = error as NodeJS.ErrnoException
    if (error instanceof RequestTooLargeError) {
      sendError(response, 413, `The request is larger than ${BODY_BYTES_MAX} bytes.`)
      return
    }
    if (error instanceof UnreadableBodyError) {
      sendError(response, 400, 'The body is not what its content-encoding says.')
      return
    }
    if (response.destroyed || name === 'AbortError') {
      response.destroy()
      return
    }
    this.#options.logger.warn({ code: code ?? name }, 'the provider could not be reached')
    if (response.headersSent) response.destroy()
    else {
      const why = `Throughline could not reach the provider (${code ?? name}).`
      sendError(response, 502, why)
    }
  }
}

/** Forwards the response as it arrives: each chunk goes to the client before we parse it. */
async function follow(
  answer: IncomingMessage,
  response: ServerResponse,
  passage: RecordedPassage,
): Promise<void> {
  const type = answer.headers['content-type'] ?? ''
  const isOk = answer.statusCode === 200
  const isPlain = (answer.headers['content-encoding'] ?? 'identity') === 'identity'
  const lines = isOk && isPlain && type.startsWith('text/event-stream') ? new EventLines() : null
  const isRead = isOk && isPlain && type.startsWith('application/json')
  const chunks: Buffer[] = []
  let bytes = 0
  await pass(answer, response, (chunk) => {
    bytes += chunk.length
    // An answer without end is forwarded without end, but not kept.
    if (bytes > ANSWER_BYTES_MAX) chunks.length = 0
    else if (isRead) chunks.push(chunk)
    else for (const event of lines?.take(chunk) ?? []) passage.take(event)
  })
  const document = isRead ? parse(Buffer.concat(chunks)) : undefined
  if (isObject(document)) passage.take(document)
}

/** What is read of an answer; the longest of any provider are a hundred times shorter. */
const ANSWER_BYTES_MAX = BODY_BYTES_MAX

async function pass(
  answer: IncomingMessage,
  response: ServerResponse,
  tap: (chunk: Buffer) => void,
): Promise<void> {
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answerHeaders(answer))
  response.flushHeaders()
  const { promise, resolve } = Promise.withResolvers<void>()
  answer.on('data', (chunk: Buffer) => {
    if (!response.write(chunk)) {
      answer.pause()
      response.once('drain', () => answer.resume())
    }
    tap(chunk)
  })
  answer.once('end', () => response.end())
  // Cut off by the provider: the client must not take it for complete.
  answer.once('error', () => response.destroy())
  answer.once('close', () => {
    if (!answer.complete) response.destroy()
    resolve()
  })
  await promise
}

function single(headers: IncomingMessage['headers']): { [name: string]: string | undefined } {
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ])
  return Object.fromEntries(entries)
}

function compactionRequest({ pathname }: ProxyAddress, body: Buffer) {
  const parsed = parse(body)
  const fields = isObject(parsed) ? parsed : {}
  const { model } = fields
  return {
    isStream: fields['stream'] === true,
    isDocument: pathname.endsWith('/compact'),
    model: typeof model === 'string' ? model : '',
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

/** Answers an upgrade that is refused; Node no longer writes the response. */
function endWith(socket: Duplex, status: number, message: string): void {
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...(status === 426 ? ['upgrade: HTTP/1.1'] : []),
    'connection: close',
    `content-length: ${Buffer.byteLength(message)}`,
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${message}`)
}

/** In a form that clients of either provider understand. */
function sendError(response: ServerResponse, status: number, message: string): void {
  const error = { type: 'api_error', message }
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ type: 'error', error }))
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, host, () => resolve())
  await promise
  server.off('error', reject)
}
