import { Bot } from 'grammy'
import type { Update } from 'grammy/types'
import { type Clock, pause, systemClock } from '#core/base/clock'
import { KnownError } from '#core/base/errors'
import { Recent } from '#core/base/recent'
import { errorKind } from '../chat/error-kind.ts'
import type {
  Incoming,
  Outgoing,
  Platform,
  PlatformCapabilities,
  PlatformHandlers,
  Sent,
} from '../chat/platform.ts'
import { ListenError } from '../listening.ts'
import {
  isAboutMarkup,
  isUnauthorized,
  isUnchanged,
  movedTo,
  readTelegramFailure,
} from './failures.ts'
import { TelegramFiles } from './files.ts'
import { renderTelegramHtml } from './html.ts'
import {
  backOff,
  grammySignal,
  pollUpdates,
  QUIET_FAILURES_MAX,
  REFUSED,
  UNREACHABLE,
} from './polling.ts'
import { checkUpdate, readMove, readTelegramAddress, readUpdate, UPDATE_KINDS } from './updates.ts'
import { Webhook, type WebhookAddress } from './webhook.ts'

export interface TelegramOptions {
  readonly token: string
  /** `https://api.telegram.org`, or your own Bot API server. */
  readonly apiRoot: string
  /** Telegram pushes updates to this address; without it the bot polls. */
  readonly webhook?: Omit<WebhookAddress, 'path'> & { readonly url: string }
  readonly clock?: Clock
  /** The delay before the first retry. */
  readonly retryMs?: number
  readonly editEveryMs?: number
}

export class TelegramTokenError extends KnownError {
  override readonly name = 'TelegramTokenError'
  readonly code = 'telegram-token'
  readonly retryable = false

  constructor() {
    super(
      'A Telegram token is a number, a colon and letters, as @BotFather gives it; found something else.',
    )
  }
}

const TOKEN = /^(\d{1,20}):[\w-]{1,200}$/
const REQUEST_SECONDS_MAX = 60
const RETRY_MS = 1_000
/** Sending retries after an outage this much less often than receiving. */
const OUTAGE_RETRIES = 10
/** Telegram allows about one message a second in a chat and twenty a minute in a group. */
const EDIT_EVERY_MS = 3_000
const CAPABILITIES: PlatformCapabilities = {
  edits: true,
  threads: true,
  images: true,
  // 4096 after markup, which only removes characters.
  lengthMax: 4_096,
  editEveryMs: EDIT_EVERY_MS,
  typingMs: 4_500,
  nonce: false,
}

const ALBUMS_MAX = 1_000

/** Telegram through grammY. The Bot API has no nonce: see `ReplyPresenter` for what that means. */
export class Telegram implements Platform {
  readonly name = 'telegram'
  readonly account: string
  readonly capabilities: PlatformCapabilities
  readonly #options: TelegramOptions
  readonly #bot: Bot
  readonly #files: TelegramFiles
  readonly #clock: Clock
  readonly #closing = new AbortController()
  /** Groups that became supergroups: Telegram refuses messages to their old ids. */
  readonly #moved = new Map<number, number>()
  /** Albums whose first picture was addressed to us. */
  readonly #albums = new Recent<string, true>(ALBUMS_MAX)
  #handlers: PlatformHandlers | null = null
  #running: Promise<void> = Promise.resolve()

  constructor(options: TelegramOptions) {
    const { token, apiRoot, editEveryMs = EDIT_EVERY_MS, clock = systemClock } = options
    const account = TOKEN.exec(token)?.[1]
    if (account === undefined) throw new TelegramTokenError()
    this.account = account
    this.capabilities = { ...CAPABILITIES, editEveryMs }
    this.#options = options
    this.#clock = clock
    const root = apiRoot.replace(/\/$/, '')
    this.#bot = new Bot(token, { client: { apiRoot: root, timeoutSeconds: REQUEST_SECONDS_MAX } })
    const { signal } = this.#closing
    this.#files = new TelegramFiles(this.#bot.api, `${root}/file/bot${token}`, signal)
  }

  start(handlers: PlatformHandlers): void {
    this.#handlers = handlers
    this.#bot.use(async ({ update, me }) => {
      const read = this.#read(update, me, handlers)
      if (read.move !== null) await handlers.moved(read.move)
      if (read.incoming !== null) await handlers.receive(read.incoming)
    })
    this.#running = this.#run(handlers)
  }

  async #run(handlers: PlatformHandlers): Promise<void> {
    const { signal } = this.#closing
    await this.#until(handlers.report, () => this.#bot.init(grammySignal(signal)))
    if (signal.aborted) return
    const take = (update: Update) => this.#bot.handleUpdate(update)
    const setAside = () => handlers.setAside({ id: null, reason: 'unreadable' })
    const { report } = handlers
    const { webhook, retryMs = RETRY_MS } = this.#options
    if (webhook === undefined) {
      const { api } = this.#bot
      // Telegram delivers updates by webhook or by polling; while a webhook is set, it refuses
      // polling.
      await this.#until(report, () => api.deleteWebhook({}, grammySignal(signal)))
      await pollUpdates({ api, take, setAside, report, signal, clock: this.#clock, retryMs })
    } else await this.#listen(webhook, { take, setAside }, report)
  }

  async #listen(
    { url, ...options }: NonNullable<TelegramOptions['webhook']>,
    uses: ConstructorParameters<typeof Webhook>[1],
    report: PlatformHandlers['report'],
  ): Promise<void> {
    const { signal } = this.#closing
    const webhook = new Webhook({ ...options, path: new URL(url).pathname }, uses)
    try {
      await webhook.listen()
    } catch (error) {
      report(
        `Telegram's webhook: ${error instanceof ListenError ? error.message : errorKind(error)}`,
      )
      return
    }
    await this.#until(report, async () => {
      // One after another: Telegram repeats a failed update before it sends later ones.
      const terms = { secret_token: options.secret, max_connections: 1 }
      const asked = { ...terms, allowed_updates: UPDATE_KINDS }
      await this.#bot.api.setWebhook(url, asked, grammySignal(signal))
    })
    report(null)
    if (!signal.aborted) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    }
    await webhook.close()
  }

  async send(out: Outgoing): Promise<Sent> {
    const { chat, thread } = this.#targetOf(out.address)
    const options = thread === undefined ? {} : { message_thread_id: thread }
    return await this.#attempt(async (text, markup) => {
      const other = { link_preview_options: { is_disabled: true }, ...options, ...markup }
      const send = (to: number) => this.#bot.api.sendMessage(to, text, other)
      const sent = await send(chat).catch(async (error: unknown) => {
        const to = await this.#follow(chat, error)
        if (to === undefined) throw error
        return await send(to)
      })
      return String(sent.message_id)
    }, out.text)
  }

  async edit({ id, address, text }: Outgoing & { readonly id: string }): Promise<Sent> {
    const { chat } = this.#targetOf(address)
    const other = { link_preview_options: { is_disabled: true } }
    return await this.#attempt(
      async (words, markup) => {
        await this.#bot.api.editMessageText(chat, Number(id), words, { ...other, ...markup })
        return id
      },
      text,
      id,
    )
  }

  async remove({ address, id }: { readonly address: string; readonly id: string }): Promise<Sent> {
    const { chat } = this.#targetOf(address)
    try {
      await this.#bot.api.deleteMessage(chat, Number(id))
      return { kind: 'sent', id }
    } catch (error) {
      const failure = this.#failed(error)
      return failure.why === 'gone' ? { kind: 'sent', id } : failure
    }
  }

  async showTyping(address: string): Promise<void> {
    const { chat, thread } = this.#targetOf(address)
    const options = thread === undefined ? {} : { message_thread_id: thread }
    await this.#bot.api.sendChatAction(chat, 'typing', options).catch(() => {})
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  #targetOf(address: string): ReturnType<typeof readTelegramAddress> {
    const { chat, ...rest } = readTelegramAddress(address)
    return { chat: this.#moved.get(chat) ?? chat, ...rest }
  }

  async #follow(chat: number, error: unknown): Promise<number | undefined> {
    const to = movedTo(error)
    if (to === undefined) return undefined
    this.#moved.set(chat, to)
    await this.#handlers?.moved({ from: String(chat), to: String(to) })
    return to
  }

  /** Sends with markup, and as plain text if Telegram refuses the markup. */
  async #attempt(
    call: (text: string, markup: { parse_mode?: 'HTML' }) => Promise<string>,
    text: string,
    messageId?: string,
  ): Promise<Sent> {
    try {
      try {
        return { kind: 'sent', id: await call(renderTelegramHtml(text), { parse_mode: 'HTML' }) }
      } catch (error) {
        if (!isAboutMarkup(error)) throw error
        return { kind: 'sent', id: await call(text, {}) }
      }
    } catch (error) {
      if (messageId !== undefined && isUnchanged(error)) return { kind: 'sent', id: messageId }
      return this.#failed(error)
    }
  }

  #failed(error: unknown): Extract<Sent, { kind: 'failed' }> {
    const failure = readTelegramFailure(error)
    if (failure.why !== 'outage') return failure
    return { ...failure, retryAfterMs: (this.#options.retryMs ?? RETRY_MS) * OUTAGE_RETRIES }
  }

  /** An unreadable update stays unreadable, so it must not block the rest. */
  #read(update: Update, me: Bot['botInfo'], { setAside }: PlatformHandlers) {
    try {
      checkUpdate(update)
      const incoming = readUpdate(update, me, (files) => this.#files.fetchAll(files))
      return {
        move: readMove(update),
        incoming: incoming === null ? null : this.#withAlbum(incoming, update),
      }
    } catch (error) {
      setAside({ id: String(update.update_id), reason: errorKind(error) })
      return { move: null, incoming: null }
    }
  }

  /** The pictures of an album arrive one by one, and only the first names the addressee. */
  #withAlbum(incoming: Incoming, { message }: Update): Incoming {
    if (message?.media_group_id === undefined) return incoming
    const album = `${message.chat.id}:${message.media_group_id}`
    const isAddressed = incoming.chat.isAddressed || this.#albums.has(album)
    if (isAddressed) this.#albums.set(album, true)
    return { ...incoming, chat: { ...incoming.chat, isAddressed } }
  }

  async #until(report: PlatformHandlers['report'], work: () => Promise<unknown>): Promise<void> {
    const { signal } = this.#closing
    const { retryMs = RETRY_MS } = this.#options
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        await work()
        return
      } catch (error) {
        if (isUnauthorized(error)) report(REFUSED)
        else if (failures >= QUIET_FAILURES_MAX) report(UNREACHABLE)
        await pause(this.#clock, backOff(retryMs, failures), signal)
      }
    }
  }
}
