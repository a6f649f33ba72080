import {
  Agent,
  request as askHttp,
  type IncomingHttpHeaders,
  type IncomingMessage,
  STATUS_CODES,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http'
import { request as askHttps, Agent as SecureAgent } from 'node:https'
import type { Duplex } from 'node:stream'

/** The providers behind the proxy, by kind of request. */
export interface Upstreams {
  readonly anthropic: URL
  readonly openai: URL
  /** By the name in the path: `/p/<name>/…`. */
  readonly named?: ReadonlyMap<string, URL>
}

/** Headers that belong to the connection, not to the message. */
const OF_THE_CONNECTION = new Set([
  ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade', 'host'],
])

export interface Outbound {
  readonly method: string
  /** The path with its query. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** Null: the caller pipes the body. */
  readonly body: readonly Buffer[] | null
}

export class Upstream {
  readonly #plain: Agent
  readonly #secure: SecureAgent

  /** `proxyEnv`: the environment from which HTTP_PROXY and similar settings are read. */
  constructor(proxyEnv: NodeJS.ProcessEnv) {
    const options = { keepAlive: true, proxyEnv }
    this.#plain = new Agent(options)
    this.#secure = new SecureAgent(options)
  }

  /**
   * Resolves with the response as soon as its headers arrive. A connection that the provider closed
   * while it was idle is replaced once, because the provider received nothing of the request.
   */
  async ask(to: URL, outbound: Outbound, signal: AbortSignal, source?: IncomingMessage) {
    try {
      return await this.#ask(to, outbound, signal, source)
    } catch (error) {
      const isStale = error instanceof StaleConnectionError
      if (!isStale || outbound.body === null || signal.aborted) throw error
      return await this.#ask(to, outbound, signal, source)
    }
  }

  #ask(
    to: URL,
    { method, path, headers, body }: Outbound,
    signal: AbortSignal,
    source: IncomingMessage | undefined,
  ): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const isSecure = to.protocol === 'https:'
    const request = (isSecure ? askHttps : askHttp)(addressOf(to, path), {
      ...{ method, signal, agent: isSecure ? this.#secure : this.#plain },
      headers: headersFor(headers, body),
    })
    request.once('response', resolve)
    // Not asked for: the client could not use the connection that follows.
    request.once('upgrade', (_, socket) => {
      socket.destroy()
      reject(new BadAnswerError())
    })
    request.once('close', () => reject(new BadAnswerError()))
    request.on('error', (error: NodeJS.ErrnoException) => {
      const isStale = request.reusedSocket && error.code === 'ECONNRESET'
      reject(isStale ? new StaleConnectionError() : error)
    })
    if (body === null) source?.pipe(request)
    else {
      for (const piece of body) request.write(piece)
      request.end()
    }
    return promise
  }

  /** Joins two connections after an upgrade, such as a websocket's. */
  upgrade(
    to: URL,
    { method, path, headers }: Omit<Outbound, 'body'>,
    client: Duplex,
    head: Buffer,
  ) {
    const isSecure = to.protocol === 'https:'
    const request = (isSecure ? askHttps : askHttp)(addressOf(to, path), {
      method,
      headers: { ...headers, host: to.host },
    })
    request.on('error', () => client.destroy())
    client.once('close', () => request.destroy())
    request.once('response', (response) => {
      response.on('error', () => client.destroy())
      if (!isFinal(response)) {
        client.destroy()
        return
      }
      const head = answerHead(response)
      // Its body ends with the connection: how the provider framed it was the connection's matter.
      head.headers.push('connection', 'close')
      client.write(headOf(head), 'latin1')
      response.pipe(client)
    })
    request.once('upgrade', (response, provider, first) => {
      client.write(headOf(writableHead(response)), 'latin1')
      if (first.length > 0) client.write(first)
      if (head.length > 0) provider.write(head)
      provider.on('error', () => provider.destroy())
      // When one end closes, the other closes after its pending writes.
      provider.once('close', () => client.end())
      client.once('close', () => provider.destroySoon())
      client.pipe(provider).pipe(client)
    })
    request.end()
  }

  close(): void {
    this.#plain.destroy()
    this.#secure.destroy()
  }
}

class StaleConnectionError extends Error {}

/** The provider's answer cannot be given to the client. */
export class BadAnswerError extends Error {
  override readonly name = 'BadAnswerError'
}

function addressOf(to: URL, path: string): URL {
  const base = to.pathname.endsWith('/') ? to.pathname.slice(0, -1) : to.pathname
  // A base URL may include the version, as OpenAI clients write it.
  const rest = base.endsWith('/v1') && path.startsWith('/v1/') ? path.slice(3) : path
  return new URL(`${to.origin}${base}${rest}`)
}

function headersFor(headers: IncomingHttpHeaders, body: readonly Buffer[] | null) {
  const sent: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !OF_THE_CONNECTION.has(name)) sent[name] = value
  }
  // The response is parsed as it passes, so it must not be compressed.
  sent['accept-encoding'] = 'identity'
  if (body !== null) {
    sent['content-length'] = String(body.reduce((sum, { length }) => sum + length, 0))
  } else if (headers['transfer-encoding'] !== undefined) {
    // Node does not frame the body of a GET, so the provider would read it as the next request.
    sent['transfer-encoding'] = 'chunked'
  }
  return sent
}

export interface AnswerHead {
  readonly status: number
  readonly reason: string
  /** In the provider's order and spelling. */
  readonly headers: string[]
}

/** The head of a provider's answer for the client. Throws BadAnswerError. */
export function answerHead(answer: IncomingMessage): AnswerHead {
  if (!isFinal(answer)) throw new BadAnswerError()
  const { status, reason, headers } = writableHead(answer)
  const kept: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? ''
    if (!OF_THE_CONNECTION.has(name.toLowerCase())) kept.push(name, headers[at + 1] ?? '')
  }
  return { status, reason, headers: kept }
}

function isFinal({ statusCode = 0 }: IncomingMessage): boolean {
  return statusCode >= 200 && statusCode <= 999
}

/** Node reads heads that it refuses to write, such as a reason with a control character. */
function writableHead({
  statusCode = 0,
  statusMessage = '',
  rawHeaders,
}: IncomingMessage): AnswerHead {
  const headers: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2)
    if (isWritable(name, value)) headers.push(name, value)
  }
  const isReason = isWritable('reason', statusMessage)
  const reason = isReason ? statusMessage : (STATUS_CODES[statusCode] ?? '')
  return { status: statusCode, reason, headers }
}

function isWritable(name: string, value: string): boolean {
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

function headOf({ status, reason, headers }: AnswerHead): string {
  const lines = [`HTTP/1.1 ${status} ${reason}`]
  for (let at = 0; at < headers.length; at += 2) {
    lines.push(`${headers[at]}: ${headers[at + 1]}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}
