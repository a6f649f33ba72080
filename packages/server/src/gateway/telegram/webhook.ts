import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Update } from 'grammy/types'
import { isObject, type JsonValue } from '#core/base/json'

/**
 * The endpoint to which Telegram pushes updates. Requests need the secret. An update gets a success
 * status only after it was accepted; on any other status Telegram repeats it.
 */
export interface WebhookAddress {
  readonly host: string
  readonly port: number
  /** The path of the address that Telegram was given. */
  readonly path: string
  readonly secret: string
}

const BODY_BYTES_MAX = 1024 * 1024
const REQUEST_MS_MAX = 60_000
const CONNECTIONS_MAX = 100
const SECRET_HEADER = 'x-telegram-bot-api-secret-token'

export class Webhook {
  readonly #server: Server
  readonly #address: WebhookAddress
  readonly #take: (update: Update) => Promise<void>
  /** One after another, so that messages are admitted in order. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(address: WebhookAddress, take: (update: Update) => Promise<void>) {
    this.#address = address
    this.#take = take
    this.#server = createServer({ requestTimeout: REQUEST_MS_MAX }, (request, response) => {
      void this.#answer(request).then((status) => {
        response.writeHead(status, { connection: status === 200 ? 'keep-alive' : 'close' }).end()
      })
    })
    this.#server.maxConnections = CONNECTIONS_MAX
  }

  /** Resolves with the port; rejects if the port is in use. */
  listen(): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>()
    this.#server.once('error', reject)
    this.#server.listen(this.#address.port, this.#address.host, () => {
      const address = this.#server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
    return promise
  }

  async close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#server.close(() => resolve())
    this.#server.closeIdleConnections()
    await this.#last
    this.#server.closeAllConnections()
    await promise
  }

  async #answer(request: IncomingMessage): Promise<number> {
    const { path, secret } = this.#address
    if (request.url !== path) return 404
    if (request.method !== 'POST') return 405
    if (!isSame(String(request.headers[SECRET_HEADER] ?? ''), secret)) return 401
    const update = await readUpdateBody(request)
    if (typeof update === 'number') return update
    const work = this.#last.then(() => this.#take(update))
    this.#last = work.catch(() => {})
    return await work.then(
      () => 200,
      () => 500,
    )
  }
}

function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return wanted !== '' && timingSafeEqual(digest(given), digest(wanted))
}

/** The update, or the status that says why there is none. */
async function readUpdateBody(request: IncomingMessage): Promise<Update | number> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > BODY_BYTES_MAX) return 413
      chunks.push(chunk)
    }
    const value = JSON.parse(Buffer.concat(chunks).toString('utf8')) as JsonValue
    const isUpdate = isObject(value) && Number.isSafeInteger(value['update_id'])
    return isUpdate ? (value as unknown as Update) : 400
  } catch {
    return 400
  }
}
