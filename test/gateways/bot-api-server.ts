import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/**
 * A server that speaks Telegram's Bot API over HTTP: updates that stay until an offset acknowledges
 * them, long polling with its conflict, chats with messages that are sent and changed, the HTML it
 * accepts, files, and its refusals. It can be slow, limited or unreachable.
 */
export interface ShownMessage {
  readonly id: number
  readonly chat: number
  readonly thread: number | undefined
  /** As written by the bot, and as a reader sees it. */
  html: string
  text: string
  edits: number
}

interface Refusal {
  readonly code: number
  readonly description: string
  readonly retryAfter?: number
  readonly movedTo?: number
}

type Json = { [name: string]: unknown }

const ME = { id: 7001, is_bot: true, first_name: 'Bot', username: 'thread_bot' }
export const TOKEN = `${ME.id}:local-test-token_x`
const LENGTH_MAX = 4_096

export class BotApiServer {
  url = ''
  readonly messages: ShownMessage[] = []
  readonly calls: { readonly method: string; readonly payload: Json }[] = []
  readonly files = new Map<string, Buffer>()
  readonly #moved = new Map<number, number>()
  webhook: { url: string; secret: string } | null = null
  isDead = false
  #updates: Json[] = []
  readonly #all = new Map<number, Json>()
  #nextUpdate: number
  #nextMessage: number
  #poll: { respond: (updates: Json[] | Refusal) => void } | null = null
  readonly #refusals: { readonly method: RegExp; readonly refusal: Refusal }[] = []
  readonly #sockets = new Set<Socket>()
  readonly #server = createServer((request, response) => void this.#answer(request, response))
  #isStuck = false

  /** Ids are never used again: a server that continues for another one starts above its ids. */
  constructor(firstId = 1) {
    this.#nextMessage = firstId
    this.#nextUpdate = 999 + firstId
  }

  async start(port = 0): Promise<this> {
    this.#server.on('connection', (socket) => {
      if (this.isDead) {
        socket.destroy()
        return
      }
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve))
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this
  }

  get connections(): number {
    return this.#sockets.size
  }

  /** Somebody waits for updates. */
  get isAsked(): boolean {
    return this.#poll !== null
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Nobody gets through, in either direction. */
  die(): void {
    this.isDead = true
    this.#poll = null
    for (const socket of this.#sockets) socket.destroy()
  }

  live(): void {
    this.isDead = false
  }

  /** Takes requests and never answers, until told to go on. */
  stick(isStuck: boolean): void {
    this.#isStuck = isStuck
  }

  refuseNext(method: RegExp, refusal: Refusal): void {
    this.#refusals.push({ method, refusal })
  }

  /** Somebody says something; gives the number of the update. */
  say(fields: Json & { readonly chat?: Json; readonly from?: Json }): number {
    const message = this.messageOf(fields)
    return this.push({ message })
  }

  edit(update: number, text: string): number {
    const before = (this.#all.get(update)?.['message'] ?? {}) as Json
    return this.push({ edited_message: { ...before, text, edit_date: 2 } })
  }

  messageOf({ chat, from, ...rest }: Json): Json {
    const who = { id: 42, is_bot: false, first_name: 'Ada', ...(from as Json | undefined) }
    return {
      message_id: this.#nextMessage++,
      date: 1,
      chat: { id: 42, type: 'private', ...(chat as Json | undefined) },
      from: who,
      ...rest,
    }
  }

  push(update: Json): number {
    const id = this.#nextUpdate++
    this.#all.set(id, { update_id: id, ...update })
    this.#updates.push({ update_id: id, ...update })
    this.#flush()
    return id
  }

  /** The same update once more, as after a lost acknowledgment. */
  again(id: number): void {
    const update = this.#all.get(id)
    if (update === undefined) throw new Error(`No update ${id}.`)
    this.#updates.push(update)
    this.#updates.sort((a, b) => Number(a['update_id']) - Number(b['update_id']))
    this.#flush()
  }

  isAcknowledged(id: number): boolean {
    return !this.#updates.some((update) => update['update_id'] === id)
  }

  updateOf(id: number): Json {
    return this.#all.get(id) ?? {}
  }

  chat(id: number): readonly ShownMessage[] {
    return this.messages.filter((message) => message.chat === id)
  }

  count(method: string): number {
    return this.calls.filter((call) => call.method === method).length
  }

  /** The group becomes a supergroup: another id, told on both sides. */
  upgrade(from: number, to: number): void {
    this.#moved.set(from, to)
    this.say({ chat: { id: from, type: 'group' }, migrate_to_chat_id: to })
    this.say({ chat: { id: to, type: 'supergroup' }, migrate_from_chat_id: from })
  }

  #flush(): void {
    if (this.#poll === null || this.#updates.length === 0) return
    const { respond } = this.#poll
    this.#poll = null
    respond(this.#updates.slice(0, 100))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, bot = '', name = ''] = /^\/bot([^/]+)\/(\w+)/.exec(request.url ?? '') ?? []
    const body = await readBody(request)
    if (this.#isStuck) return
    if (request.url?.startsWith('/file/')) return this.#sendFile(request.url, response)
    const payload = (body === '' ? {} : JSON.parse(body)) as Json
    if (bot !== TOKEN) return this.#send(response, { code: 401, description: 'Unauthorized' })
    this.calls.push({ method: name, payload })
    const at = this.#refusals.findIndex(({ method }) => method.test(name))
    const [refused] = at < 0 ? [] : this.#refusals.splice(at, 1)
    if (refused !== undefined) return this.#send(response, refused.refusal)
    if (name === 'getUpdates') return this.#getUpdates(payload, response)
    this.#send(response, this.#run(name, payload))
  }

  #getUpdates(payload: Json, response: ServerResponse): void {
    const description =
      'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running'
    this.#poll?.respond({ code: 409, description })
    this.#poll = null
    const offset = Number(payload['offset'] ?? 0)
    this.#updates = this.#updates.filter((update) => Number(update['update_id']) >= offset)
    const respond = (result: Json[] | Refusal) => this.#send(response, result)
    if (this.#updates.length > 0 || payload['timeout'] === 0) {
      respond(this.#updates.slice(0, 100))
      return
    }
    const poll = { respond }
    this.#poll = poll
    const end = () => {
      if (this.#poll !== poll) return
      this.#poll = null
      respond([])
    }
    const timer = setTimeout(end, Number(payload['timeout'] ?? 0) * 1_000)
    response.on('close', () => {
      clearTimeout(timer)
      if (this.#poll === poll) this.#poll = null
    })
  }

  #run(name: string, payload: Json): unknown {
    const movedTo = this.#moved.get(Number(payload['chat_id']))
    if (movedTo !== undefined) {
      const description = 'Bad Request: group chat was upgraded to a supergroup chat'
      return { code: 400, description, movedTo }
    }
    switch (name) {
      case 'getMe':
        return { ...ME, can_join_groups: true, can_read_all_group_messages: false }
      case 'setWebhook':
        this.webhook = { url: String(payload['url']), secret: String(payload['secret_token']) }
        return true
      case 'deleteWebhook':
        this.webhook = null
        return true
      case 'sendMessage':
        return this.#sendMessage(payload)
      case 'editMessageText':
        return this.#editMessage(payload)
      case 'deleteMessage':
        return this.#deleteMessage(payload)
      case 'getFile': {
        const id = String(payload['file_id'])
        return { file_id: id, file_unique_id: id, file_path: id }
      }
      default:
        return true
    }
  }

  #sendMessage(payload: Json): unknown {
    const read = readText(payload)
    if ('code' in read) return read
    const id = this.#nextMessage++
    const chat = Number(payload['chat_id'])
    const thread = payload['message_thread_id'] as number | undefined
    this.messages.push({ id, chat, thread, ...read, edits: 0 })
    return { message_id: id, date: 1, chat: { id: chat, type: 'private' }, text: read.text }
  }

  #editMessage(payload: Json): unknown {
    const found = this.messages.find(({ id }) => id === Number(payload['message_id']))
    if (found === undefined) {
      return { code: 400, description: 'Bad Request: message to edit not found' }
    }
    const read = readText(payload)
    if ('code' in read) return read
    if (read.html === found.html) {
      return { code: 400, description: 'Bad Request: message is not modified' }
    }
    Object.assign(found, read, { edits: found.edits + 1 })
    return { message_id: found.id, date: 1, chat: { id: found.chat, type: 'private' } }
  }

  #deleteMessage(payload: Json): unknown {
    const at = this.messages.findIndex(({ id }) => id === Number(payload['message_id']))
    if (at < 0) return { code: 400, description: 'Bad Request: message to delete not found' }
    this.messages.splice(at, 1)
    return true
  }

  #sendFile(url: string, response: ServerResponse): void {
    const bytes = this.files.get(decodeURIComponent(url.slice(`/file/bot${TOKEN}/`.length)))
    response.writeHead(bytes === undefined ? 404 : 200).end(bytes)
  }

  #send(response: ServerResponse, result: unknown): void {
    if (this.isDead) return void response.destroy()
    const refusal = isRefusal(result) ? result : null
    const body =
      refusal === null
        ? { ok: true, result }
        : {
            ok: false,
            error_code: refusal.code,
            description: refusal.description,
            parameters: {
              ...(refusal.retryAfter !== undefined && { retry_after: refusal.retryAfter }),
              ...(refusal.movedTo !== undefined && { migrate_to_chat_id: refusal.movedTo }),
            },
          }
    response.writeHead(refusal?.code ?? 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
}

function isRefusal(result: unknown): result is Refusal {
  return typeof result === 'object' && result !== null && 'code' in result
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  } catch {
    return ''
  }
  return Buffer.concat(chunks).toString('utf8')
}

function readText(payload: Json): { html: string; text: string } | Refusal {
  const html = String(payload['text'] ?? '')
  const text = payload['parse_mode'] === 'HTML' ? visibleText(html) : html
  if (text === null) return { code: 400, description: "Bad Request: can't parse entities" }
  if (text.trim() === '') return { code: 400, description: 'Bad Request: message text is empty' }
  if (text.length > LENGTH_MAX) {
    return { code: 400, description: 'Bad Request: message is too long' }
  }
  return { html, text }
}

const TAG = /<(\/?)(b|i|s|code|pre|a|blockquote)((?: (?:href|class)="[^"<>]*")?)>/y
const ENTITIES: { readonly [name: string]: string } = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&quot;': '"',
}

/** What a reader sees; null where Telegram refuses the markup. */
export function visibleText(html: string): string | null {
  const open: string[] = []
  let text = ''
  for (let at = 0; at < html.length; ) {
    const character = html[at] ?? ''
    if (character === '<') {
      TAG.lastIndex = at
      const [tag, slash, name = ''] = TAG.exec(html) ?? []
      if (tag === undefined) return null
      if (slash === '/') {
        if (open.pop() !== name) return null
      } else open.push(name)
      at += tag.length
      continue
    }
    const entity = character === '&' ? (/^&\w{2,4};/.exec(html.slice(at, at + 6))?.[0] ?? '') : ''
    text += entity === '' ? character : (ENTITIES[entity] ?? entity)
    at += entity === '' ? 1 : entity.length
  }
  return open.length === 0 ? text : null
}
