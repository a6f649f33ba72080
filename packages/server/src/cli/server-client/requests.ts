import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { KnownError } from '#core/base/errors'
import { isObject, type JsonObject } from '#core/base/json'
import { findServers } from '../../host/served-store.ts'

/**
 * Requests to a server of the store, over its Unix domain socket. If the server goes away, they wait
 * until one is back and are sent again: reads change nothing, and everything else carries an
 * idempotency key.
 */
export interface ServerRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly key?: string
  readonly body?: JsonObject
  readonly signal?: AbortSignal
}

export interface ServerAnswer {
  readonly status: number
  readonly body: JsonObject
}

export class ServerAwayError extends KnownError {
  override readonly name = 'ServerAwayError'
  readonly code = 'server-away'
  readonly retryable = true

  constructor() {
    super('The server did not come back in time, so this was not sent.')
  }
}

/** The server answered with a problem that a later try does not solve. */
export class ServerRefusedError extends KnownError {
  override readonly name = 'ServerRefusedError'
  readonly code = 'server-refused'
  readonly retryable = false

  constructor({ title, detail, status }: JsonObject) {
    super(`The server refused: ${[title ?? `status ${status}`, detail].filter(Boolean).join('. ')}`)
  }
}

/** How often a server that went away is looked for. */
const LOOK_EVERY_MS = 200
/** Statuses with which a server asks for a later try. */
const LATER: readonly number[] = [429, 503]
const LATER_MS_MAX = 5_000

export class ServerRequests {
  readonly #storeUrl: string
  readonly #givenUp = new AbortController()
  #socket: string | null = null
  #isAway = false
  /** Called when the server goes away, and when one is back. */
  onPresence: (presence: 'away' | 'back') => void = () => {}

  constructor(storeUrl: string) {
    this.#storeUrl = storeUrl
  }

  /** From now on, requests that find no server fail instead of waiting. */
  giveUp(): void {
    this.#givenUp.abort()
  }

  async send(asked: ServerRequest): Promise<ServerAnswer> {
    for (;;) {
      const answer = await this.#try(asked)
      if (answer === null) continue
      const { response, text } = answer
      const { statusCode: status = 0, headers } = response
      const body = parseObject(text)
      const isLater = LATER.includes(status) && body['code'] !== 'mailbox-full'
      if (!isLater || this.#givenUp.signal.aborted) return { status, body }
      const waitMs = Math.min(Number(headers['retry-after'] ?? 1) * 1_000, LATER_MS_MAX)
      await this.#pause(waitMs, asked.signal)
    }
  }

  /** The lines of an event stream, from one connection; they end with it. */
  async *lines(
    asked: Pick<ServerRequest, 'path'> & { readonly signal: AbortSignal },
  ): AsyncGenerator<string> {
    const socket = await this.#find(asked.signal)
    const response = await open(socket, { method: 'GET', ...asked }).catch(() => null)
    if (response === null) return this.#lose(socket)
    const { statusCode: status = 0 } = response
    if (LATER.includes(status)) return await this.#pause(LATER_MS_MAX, asked.signal)
    if (status !== 200) throw new ServerRefusedError(parseObject(await readText(response)))
    try {
      let rest = ''
      for await (const piece of response.setEncoding('utf8')) {
        const lines = `${rest}${piece}`.split('\n')
        rest = lines.pop() ?? ''
        yield* lines
      }
    } catch {
      // The connection broke; the caller opens another one.
    } finally {
      response.destroy()
      this.#lose(socket)
    }
  }

  /** Null: the server went away before it answered. */
  async #try(
    asked: ServerRequest,
  ): Promise<{ readonly response: IncomingMessage; readonly text: string } | null> {
    const socket = await this.#find(asked.signal)
    try {
      const response = await open(socket, asked)
      return { response, text: await readText(response) }
    } catch {
      asked.signal?.throwIfAborted()
      this.#lose(socket)
      return null
    }
  }

  async #find(signal?: AbortSignal): Promise<string> {
    while (this.#socket === null) {
      const [server] = await findServers(this.#storeUrl)
      if (server !== undefined) this.#socket = server.socket
      else {
        this.#report('away')
        await this.#pause(LOOK_EVERY_MS, signal)
      }
    }
    this.#report('back')
    return this.#socket
  }

  #lose(socket: string): void {
    if (this.#socket === socket) this.#socket = null
  }

  #report(presence: 'away' | 'back'): void {
    if (this.#isAway === (presence === 'away')) return
    this.#isAway = presence === 'away'
    this.onPresence(presence)
  }

  async #pause(ms: number, signal?: AbortSignal): Promise<void> {
    const given = this.#givenUp.signal
    const both = signal === undefined ? given : AbortSignal.any([signal, given])
    await sleep(ms, undefined, { signal: both }).catch(() => {})
    signal?.throwIfAborted()
    if (given.aborted) throw new ServerAwayError()
  }
}

function open(
  socketPath: string,
  { method, path, key, body, signal }: ServerRequest,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const text = body === undefined ? undefined : JSON.stringify(body)
  const sent = request(
    {
      ...{ socketPath, method, path },
      ...(signal !== undefined && { signal }),
      headers: {
        ...(text !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(text),
        }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
    },
    resolve,
  )
  sent.once('error', reject)
  sent.end(text)
  return promise
}

async function readText(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of response.setEncoding('utf8')) text += piece
  return text
}

function parseObject(text: string): JsonObject {
  if (text === '') return {}
  const value: unknown = JSON.parse(text)
  return isObject(value) ? value : {}
}
