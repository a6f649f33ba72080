import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Logger } from '#core/base/logger'
import type { RecordedPassage } from '../../runtime/client-sessions/passage.ts'
import type { Recorder } from '../../runtime/client-sessions/recorder.ts'
import { PeerUsers } from '../http/access/peer-user.ts'
import { listen } from '../listening.ts'
import { type ProxyRefusal, readAddress, refusalFor, upstreamFor } from './address.ts'
import { AnswerReader } from './answer-reader.ts'
import { answerCompaction, readCompactionRequest } from './compaction-answer.ts'
import {
  BODY_BYTES_MAX,
  isReadable,
  RequestTooLargeError,
  readRequestBody,
  UnreadableBodyError,
} from './request-body.ts'
import { answerHead, BadAnswerError, Upstream, type Upstreams } from './upstream.ts'

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
  const { host = '127.0.0.1' } = options
  const place = { host, port: options.port ?? 0, settings: '--port' }
  const listening = options.accept === undefined ? await listen(server, place) : null
  const { port } = listening?.address ?? place
  proxy.holdsLocalhost = listening?.holdsLocalhost ?? false
  const open = await proxy.findPeers(port)
  options.accept?.((socket) => server.emit('connection', socket))
  return {
    ...{ port, open, url: `http://${host}:${port}` },
    close: async () => {
      const closed = listening?.stop()
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
  holdsLocalhost = false

  constructor(options: ProxyOptions, upstream: Upstream) {
    this.#options = options
    this.#upstream = upstream
  }

  /** Never rejects. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on('error', () => response.destroy())
    const handled = this.#handle(request, response)
      .catch((error: unknown) => this.#fail(error, response))
      .catch((error: unknown) => this.#drop(error, request.socket))
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
    const isOwn = await this.#isOwn(socket).catch(() => false)
    if (!isOwn) setTimeout(() => socket.destroy(), FOREIGN_MS_MAX).unref()
  }

  /** Never rejects. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // After an upgrade, Node's server no longer handles errors of the socket.
    socket.on('error', () => socket.destroy())
    await this.#upgrade(request, socket, head).catch((error) => this.#drop(error, socket))
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
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
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers
    if (Number(length) > 0 || encoding !== undefined) {
      return endWith(socket, 400, 'A request for an upgrade must not have a body.')
    }
    this.#upstream.upgrade(to, { method, path: address.path, headers }, socket, head)
  }

  async #refusalOf(request: IncomingMessage): Promise<ProxyRefusal | null> {
    const refusal = refusalFor(request, this.holdsLocalhost)
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
      answerCompaction(response, passage.compaction, readCompactionRequest(pathname, body))
      return
    }
    try {
      const { 'content-encoding': _, ...plain } = headers
      const sent = { ...outbound, headers: plain, body: passage.send }
      const answer = await this.#upstream.ask(to, sent, leaving.signal)
      await this.#follow(answer, response, passage)
    } finally {
      await this.#end(passage)
    }
  }

  /** The client has its answer, whatever becomes of the record. */
  async #end(passage: RecordedPassage): Promise<void> {
    try {
      await passage.end()
    } catch (error) {
      this.#options.logger.warn(nameOf(error), 'an answer was not recorded')
    }
  }

  /** Forwards the response as it arrives: each chunk goes to the client before we parse it. */
  async #follow(
    answer: IncomingMessage,
    response: ServerResponse,
    passage: RecordedPassage,
  ): Promise<void> {
    let reader: AnswerReader | null = new AnswerReader(answer, passage)
    const read = (act: (reader: AnswerReader) => void) => {
      try {
        if (reader !== null) act(reader)
      } catch (error) {
        reader = null
        this.#options.logger.warn(nameOf(error), 'the rest of an answer is not recorded')
      }
    }
    await pass(answer, response, (chunk) => read((each) => each.take(chunk)))
    read((each) => each.end())
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
    const isAnswered = error instanceof BadAnswerError
    const what = isAnswered
      ? 'the provider sent an invalid answer'
      : 'the provider could not be reached'
    this.#options.logger.warn({ code: code ?? name }, what)
    if (response.headersSent) response.destroy()
    else if (isAnswered) sendError(response, 502, 'The provider sent an invalid HTTP answer.')
    else {
      const why = `Throughline could not reach the provider (${code ?? name}).`
      sendError(response, 502, why)
    }
  }

  /** For what nothing else caught: only this connection ends. */
  #drop(error: unknown, socket: Duplex): void {
    socket.destroy()
    this.#options.logger.error(nameOf(error), 'a request failed and its connection was closed')
  }
}

/** Its message may quote the conversation. */
function nameOf(error: unknown) {
  const { code, name } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
  return { code: code ?? name ?? typeof error }
}

async function pass(
  answer: IncomingMessage,
  response: ServerResponse,
  tap: (chunk: Buffer) => void,
): Promise<void> {
  const { status, reason, headers } = answerHead(answer)
  // The rest of its first packet may have ended it before this line.
  if (answer.destroyed) throw new BadAnswerError()
  response.writeHead(status, reason, headers)
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
  answer.on('error', () => response.destroy())
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
  response.writeHead(status, STATUS_CODES[status], { 'content-type': 'application/json' })
  response.end(JSON.stringify({ type: 'error', error }))
}
