import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Update } from 'grammy/types'
import { isObject, type JsonValue } from '#core/base/json'
import { HTTP_LIMITS } from '../http/access/limits.ts'
import { NodeServer } from '../http/node-server.ts'

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
/** Longer bodies are not read to their end. */
const REST_BYTES_MAX = 64 * 1024 * 1024
const CONNECTIONS_MAX = 100
const LIMITS = {
  ...HTTP_LIMITS,
  requestMs: 60_000,
  connectionsMax: CONNECTIONS_MAX,
  // Behind a reverse proxy all have one address.
  connectionsPerAddressMax: CONNECTIONS_MAX,
}
const SETTINGS = 'gateways.telegram.webhook'
const SECRET_HEADER = 'x-telegram-bot-api-secret-token'

export interface WebhookUses {
  readonly take: (update: Update) => Promise<void>
  /** For a body that is not an update: any other status would make Telegram resend it forever. */
  readonly setAside: () => void
}

export class Webhook {
  /** At the limit, connections that send nothing make room: every user of the machine can open some. */
  readonly #server = new NodeServer((request, response) => this.#handle(request, response), LIMITS)
  readonly #address: WebhookAddress
  readonly #uses: WebhookUses
  /** One after another, so that messages are admitted in order. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(address: WebhookAddress, uses: WebhookUses) {
    this.#address = address
    this.#uses = uses
  }

  /** Resolves with the port; rejects if the port is in use. */
  async listen(): Promise<number> {
    const { port } = await this.#server.listen({ ...this.#address, settings: SETTINGS })
    return port
  }

  async close(): Promise<void> {
    await Promise.all([this.#server.close(), this.#last])
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const status = await this.#answer(request).catch(() => 500)
    response.writeHead(status, { connection: status === 200 ? 'keep-alive' : 'close' }).end()
  }

  async #answer(request: IncomingMessage): Promise<number> {
    const { path, secret } = this.#address
    if (request.url !== path) return 404
    if (request.method !== 'POST') return 405
    if (!isSame(String(request.headers[SECRET_HEADER] ?? ''), secret)) return 401
    const update = await readUpdateBody(request)
    if (update === 'cut-off') return 400
    if (update === null) {
      this.#uses.setAside()
      return 200
    }
    const work = this.#last.then(() => this.#uses.take(update))
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

/** Null: it is too long, or no update. */
async function readUpdateBody(request: IncomingMessage): Promise<Update | 'cut-off' | null> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length <= BODY_BYTES_MAX) chunks.push(chunk)
      else if (length > REST_BYTES_MAX) return 'cut-off'
    }
  } catch {
    return 'cut-off'
  }
  if (length > BODY_BYTES_MAX) return null
  try {
    const value = JSON.parse(Buffer.concat(chunks).toString('utf8')) as JsonValue
    const isUpdate = isObject(value) && Number.isSafeInteger(value['update_id'])
    return isUpdate ? (value as unknown as Update) : null
  } catch {
    return null
  }
}
