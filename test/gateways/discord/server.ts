import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { DiscordSessions } from './sessions.ts'
import {
  type ChannelRow,
  type CommandRow,
  DiscordWorld,
  type MessageRow,
  type Said,
  type UserRow,
} from './world.ts'

/**
 * Discord as far as a bot meets it: REST and the gateway's WebSocket on one loopback port, with the
 * faults that happen there: limits, broken connections, sessions that cannot be resumed, a network
 * that is gone for a while.
 */
export class DiscordServer {
  readonly world = new DiscordWorld()
  readonly #server: Server
  readonly #sessions: DiscordSessions
  readonly #sockets = new Set<Socket>()
  readonly #interactions = new Map<string, Interaction>()
  /** Method and path of every request, in order. */
  readonly requests: string[] = []
  readonly files = new Map<string, { readonly type: string; readonly bytes: Buffer }>()
  readonly commands = new Map<string, readonly CommandRow[]>()
  #closed: Promise<unknown> = Promise.resolve()
  #limited = { left: 0, retryAfterSeconds: 0 }
  #failing = 0
  #deaf = 0
  #port = 0
  typing = 0
  /** Addresses that Discord would call for a preview. */
  readonly previewed: string[] = []
  /** How often a nonce kept a message from being there twice. */
  repeats = 0

  constructor() {
    this.#server = createServer((request, response) => {
      void this.#answer(request, response).catch(() => response.destroy())
    })
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    this.#sessions = new DiscordSessions(this.#server, this.world)
  }

  async start(): Promise<this> {
    await this.comeBack()
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  connectionsOf(bot: UserRow): number {
    return this.#sessions.connectionsOf(bot.id)
  }

  get connections(): number {
    return this.#sockets.size
  }

  /** Nobody can connect, and who was connected is cut off. */
  async goDark(): Promise<void> {
    this.#closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await this.#closed
  }

  async comeBack(): Promise<void> {
    await this.#closed
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve))
    this.#port = (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.goDark()
  }

  /** The next requests that write are answered with 429. */
  limit(count: number, retryAfterSeconds: number): void {
    this.#limited = { left: count, retryAfterSeconds }
  }

  /** The next requests that write are answered with 500. */
  fail(count: number): void {
    this.#failing = count
  }

  /** The next writes are done, and their answers never arrive. */
  loseAnswers(count: number): void {
    this.#deaf = count
  }

  /** Cuts the connections; 1006 as a network would, 4000 and others as Discord does. */
  disconnect(bot: UserRow, code = 1006): void {
    this.#sessions.disconnect(bot.id, code)
  }

  /** Who wants to connect is turned away with this code; null: nobody. */
  turnAway(code: number | null): void {
    this.#sessions.refusal = code
  }

  get deadConnections(): number {
    return this.#sessions.deadConnections
  }

  /** Connections from now on are open and dead: nothing is answered, heartbeats included. */
  playDead(isDead: boolean): void {
    this.#sessions.isDead = isDead
  }

  disconnectAll(): void {
    this.#sessions.disconnectAll()
  }

  /** What these bots missed can no longer be replayed. */
  forgetSessions(bot: UserRow): void {
    this.#sessions.forget(bot.id)
  }

  say(channel: ChannelRow, said: Said): MessageRow {
    const message = this.world.write(channel, said)
    this.#sessions.dispatch('MESSAGE_CREATE', message, channel)
    return message
  }

  /** A message with fields as Discord never sends them, also in the channel's history. */
  sayRaw(channel: ChannelRow, said: Said, fields: object): void {
    const message = Object.assign(this.world.write(channel, said), fields)
    this.#sessions.dispatch('MESSAGE_CREATE', message, channel)
  }

  /** Tells of a message again, as it is now. */
  repeat(message: MessageRow): void {
    const kind = message.edited_timestamp === null ? 'MESSAGE_CREATE' : 'MESSAGE_UPDATE'
    this.#sessions.dispatch(kind, message, this.world.channel(message.channel_id))
  }

  revise(message: MessageRow, content: string): MessageRow {
    const edited = this.world.revise(message.channel_id, message.id, content)
    this.#sessions.dispatch('MESSAGE_UPDATE', edited, this.world.channel(message.channel_id))
    return edited
  }

  /** A person uses a slash command; what the bot answers is in the result once it has. */
  interact(channel: ChannelRow, user: UserRow, bot: UserRow, command: CommandUse): Interaction {
    const id = this.world.nextId()
    const interaction: Interaction = { id, token: `t${id}`, bot, channel, user, answers: [] }
    this.#interactions.set(interaction.token, interaction)
    const options = Object.entries(command.options ?? {}).map(([name, value]) => ({
      ...{ name, value, type: 3 },
    }))
    const where = channel.kind === 'dm' ? { user } : { guild_id: channel.guild, member: { user } }
    this.#sessions.dispatchTo(bot.id, 'INTERACTION_CREATE', {
      ...{ id, token: interaction.token, application_id: bot.id, type: 2, version: 1 },
      ...{ channel_id: channel.id, channel: this.world.wireChannel(channel), locale: 'en-US' },
      data: { id: '1', name: command.name, type: 1, options },
      entitlements: [],
      authorizing_integration_owners: {},
      attachment_size_limit: 1_000_000,
      ...where,
    })
    return interaction
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url)
    const file = this.files.get(url.pathname)
    if (file !== undefined) {
      response.writeHead(200, { 'content-type': file.type })
      response.end(file.bytes)
      return
    }
    const method = request.method ?? 'GET'
    const path = url.pathname.replace(/^\/v\d+/, '')
    this.requests.push(`${method} ${path}`)
    const raw = await buffer(request)
    const isWrite = method !== 'GET' && path.includes('/messages')
    if (isWrite && this.#limited.left > 0) {
      this.#limited.left--
      const { retryAfterSeconds } = this.#limited
      const body = { message: 'You are being rate limited.', retry_after: retryAfterSeconds }
      return send(response, 429, { ...body, global: false }, { 'retry-after': retryAfterSeconds })
    }
    if (isWrite && this.#failing > 0) {
      this.#failing--
      return send(response, 500, { message: 'failed', code: 0 })
    }
    const bot = this.world.botOf(request.headers.authorization?.replace(/^Bot /, ''))
    const [status, body] = this.#serve(method, path.split('/').slice(1), {
      ...{ query: url.searchParams, bot, body: await readBody(request, raw) },
    })
    if (isWrite && this.#deaf > 0) {
      this.#deaf--
      response.destroy()
      return
    }
    send(response, status, body)
  }

  #serve(method: string, path: readonly string[], call: Call): [number, unknown] {
    const [first = '', id = '', what = '', messageId = ''] = path
    // An interaction's token is all that these need.
    if (first === 'interactions') return this.#callBack(what, call.body)
    if (first === 'webhooks') return this.#answerLater(what, method, call.body)
    const { bot } = call
    if (bot === undefined) return [401, { message: '401: Unauthorized', code: 0 }]
    if (first === 'gateway') return [200, this.#sessions.information(this.#port)]
    if (first === 'users') {
      if (what !== 'channels') return [200, bot]
      const dm = this.world.dmOf(bot, String(call.body['recipient_id']))
      return [200, this.world.wireChannel(dm)]
    }
    if (first === 'applications') {
      this.commands.set(id, call.body as unknown as readonly CommandRow[])
      return [200, call.body]
    }
    if (first !== 'channels') return [404, { message: '404: Not Found', code: 0 }]
    const channel = this.world.channels.get(id)
    if (channel === undefined) return [404, { message: 'Unknown Channel', code: 10003 }]
    if (channel.isForbidden) return [403, { message: 'Missing Access', code: 50001 }]
    if (what === '') return [200, this.world.wireChannel(channel)]
    if (what === 'typing') {
      this.typing++
      return [204, undefined]
    }
    if (method === 'GET') return [200, this.world.history(channel, call.query)]
    if (method === 'POST') return this.#post(channel, bot, call.body)
    if (method === 'DELETE') return [this.world.remove(channel, messageId) ? 204 : 404, UNKNOWN]
    return this.#patch(channel, messageId, bot, call.body)
  }

  #post(channel: ChannelRow, author: UserRow, body: Body): [number, unknown] {
    const content = String(body['content'] ?? '')
    const wrong = refusal(content)
    if (wrong !== undefined) return wrong
    const nonce = body['nonce'] as string | undefined
    if (nonce !== undefined && nonce.length > 25) return [400, { message: 'nonce', code: 50035 }]
    const known =
      body['enforce_nonce'] === true
        ? this.world.messages(channel).find((row) => row.nonce === nonce && row.author === author)
        : undefined
    if (known !== undefined) {
      this.repeats++
      return [200, known]
    }
    this.#preview(content, body)
    const reference = body['message_reference'] as { message_id: string } | undefined
    const message = this.say(channel, {
      ...{ author, content },
      ...(nonce !== undefined && { nonce }),
      ...(reference !== undefined && { answers: reference.message_id }),
      mentions: this.world.mentioned(content, body['allowed_mentions']),
    })
    return [200, message]
  }

  #patch(channel: ChannelRow, id: string, author: UserRow, body: Body): [number, unknown] {
    const message = this.world.messages(channel).find((row) => row.id === id)
    if (message === undefined) return [404, UNKNOWN]
    if (message.author !== author) return [403, { message: 'Another author', code: 50005 }]
    const content = String(body['content'] ?? '')
    this.#preview(content, body)
    return refusal(content) ?? [200, this.revise(message, content)]
  }

  #preview(content: string, { flags }: Body): void {
    if ((Number(flags ?? 0) & SUPPRESS_EMBEDS) !== 0) return
    this.previewed.push(...(content.match(/https?:\/\/[^\s)>]+/g) ?? []))
  }

  #callBack(token: string, body: Body): [number, unknown] {
    const interaction = this.#interactions.get(token)
    if (interaction === undefined) return [404, { message: 'Unknown interaction', code: 10062 }]
    if (interaction.deferred !== undefined) return [400, { message: 'Acknowledged', code: 40060 }]
    interaction.deferred = Number(body['type'])
    return [204, undefined]
  }

  #answerLater(token: string, method: string, body: Body): [number, unknown] {
    const interaction = this.#interactions.get(token)
    if (interaction === undefined) return [404, { message: 'Unknown Webhook', code: 10015 }]
    if (method === 'DELETE') return [204, undefined]
    const content = String(body['content'] ?? '')
    const wrong = refusal(content)
    if (wrong !== undefined) return wrong
    this.#preview(content, body)
    interaction.answers.push(content)
    const { bot, channel } = interaction
    return [200, this.world.wireMessage({ author: bot, content }, channel)]
  }
}

export interface CommandUse {
  readonly name: string
  readonly options?: Readonly<Record<string, string>>
}

export interface Interaction {
  readonly id: string
  readonly token: string
  readonly bot: UserRow
  readonly channel: ChannelRow
  readonly user: UserRow
  /** The kind of the first answer: 5 is "wait". */
  deferred?: number
  readonly answers: string[]
}

type Body = Readonly<Record<string, unknown>>

interface Call {
  readonly query: URLSearchParams
  readonly bot: UserRow | undefined
  readonly body: Body
}

const LENGTH_MAX = 2_000
const SUPPRESS_EMBEDS = 4
const UNKNOWN = { message: 'Unknown Message', code: 10008 }

function refusal(content: string): [number, unknown] | undefined {
  if (content.trim() === '') return [400, { message: 'Cannot send an empty message', code: 50006 }]
  if (content.length > LENGTH_MAX) return [400, { message: 'Invalid Form Body', code: 50035 }]
  return undefined
}

async function readBody(request: IncomingMessage, raw: Buffer): Promise<Body> {
  if (raw.length === 0) return {}
  const type = request.headers['content-type'] ?? ''
  if (!type.startsWith('multipart/')) return JSON.parse(raw.toString()) as Body
  const form = await new Response(raw, { headers: { 'content-type': type } }).formData()
  return JSON.parse(await text(Readable.from([String(form.get('payload_json'))]))) as Body
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string | number>> = {},
): void {
  if (body === undefined || status === 204) return void response.writeHead(status).end()
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}
