import { setMaxListeners } from 'node:events'
import { type APIMessage, type Client, Events, Routes } from 'discord.js'
import { type Clock, pause } from '#core/base/clock'
import { isObject } from '#core/base/json'
import type { Logger } from '#core/base/logger'
import { Recent } from '#core/base/recent'
import type { LoopRule } from '../../tools/send-message/loop.ts'
import type { AllowList } from '../chat/allow.ts'
import { errorKind } from '../chat/error-kind.ts'
import type {
  Incoming,
  Outgoing,
  Platform,
  PlatformCapabilities,
  PlatformHandlers,
  Sent,
} from '../chat/platform.ts'
import { type AttachmentTerms, fetchAttachments } from './attachments.ts'
import { Breaker } from './breaker.ts'
import { Channels } from './channels.ts'
import { checkMessage, isSnowflake, unreadableAt } from './checked-message.ts'
import {
  isTokenInvalid,
  newDiscordClient,
  nonceOf,
  refusalText,
  TOKEN_REFUSED,
  WITHOUT_EFFECTS,
} from './client.ts'
import { accountOf, discordFailure, isInaccessible } from './failure.ts'
import { Feed, type FeedEvent, isLater, PAGE } from './feed.ts'
import {
  attachmentsOf,
  type ChannelInfo,
  isFromBot,
  isSaid,
  readDiscordMessage,
} from './incoming.ts'
import { discordMarkdown, TEXT_LENGTH_MAX } from './markdown.ts'
import { commandList } from './slash.ts'
import { SlashCommandHandler } from './slash-command-handler.ts'

export interface DiscordTerms {
  readonly token: string
  /** Default: Discord's own. */
  readonly apiUrl?: string
  /** The people whose channels are read after a gap; the chat gateway decides who may talk. */
  readonly allow: AllowList
  /** Other bots that may talk to us, by id. */
  readonly bots: readonly string[]
  /** In a channel, also read messages that do not mention us. */
  readonly answersAll: boolean
  readonly attachments: AttachmentTerms
  /** The newest durable message of a channel. */
  readonly findMark: (address: string) => Promise<string | null>
  readonly clock: Clock
  readonly logger: Logger
  /** Five edits in five seconds are allowed per channel. */
  readonly editEveryMs: number
  /** The delay before the first retry. */
  readonly retryMs?: number
  /** When one of these bots last called a tool because of a message in this channel. */
  readonly findAct: (address: string, bots: readonly string[]) => Promise<number | null>
  /** Null: no limit on short messages between bots, so that tests can show the loop. */
  readonly loopRule: LoopRule | null
}

const TYPING_MS = 9_000
const SEND_AGAIN_MS = 250
const OWN_MAX = 1_000
const FEEDS_MAX = 10_000
const RETRY_MS = 1_000
/** Sending retries after an outage this much less often than connecting. */
const OUTAGE_RETRIES = 10
const CONNECT_WAIT_MS_MAX = 60_000
/**
 * How much less often to retry after a refusal: Discord revokes the token of a bot that identifies
 * too often.
 */
const REFUSED_RETRIES = 600
const UNREACHABLE = 'Discord cannot be reached; trying again.'

/**
 * Discord through discord.js, which handles the connection and rate limits; feeds handle order and
 * completeness.
 */
export class DiscordPlatform implements Platform {
  readonly name = 'discord'
  readonly account: string
  readonly capabilities: PlatformCapabilities
  readonly #terms: DiscordTerms
  readonly #client: Client
  /** One per channel, thread or direct message. */
  readonly #feeds = new Map<string, Feed>()
  readonly #channels: Channels
  /** Our nonces: a message under our name without one was sent by another process. */
  readonly #own = new Recent<string, true>(OWN_MAX)
  readonly #commands: SlashCommandHandler
  readonly #closing = new AbortController()
  #handlers: PlatformHandlers | null = null
  /** The close code with which Discord ended the connection for good. */
  #refusal: number | null = null
  #connecting: Promise<void> = Promise.resolve()

  constructor(terms: DiscordTerms) {
    this.#terms = terms
    this.account = accountOf(terms.token)
    this.capabilities = {
      // Another bot reads a message when it is sent, so half an answer would mislead it.
      edits: terms.bots.length === 0,
      ...{ threads: true, images: true, nonce: true },
      ...{
        lengthMax: TEXT_LENGTH_MAX,
        editEveryMs: terms.editEveryMs,
        typingMs: TYPING_MS,
      },
    }
    setMaxListeners(0, this.#closing.signal)
    this.#client = newDiscordClient(terms)
    this.#channels = new Channels(this.#client, terms)
    this.#commands = new SlashCommandHandler({
      rest: this.#client.rest,
      account: this.account,
      whereIs: (address) => this.#channels.where(address),
      ...{ clock: terms.clock, signal: this.#closing.signal },
    })
  }

  start(handlers: PlatformHandlers): void {
    this.#handlers = handlers
    const client = this.#client
    client.on(Events.Raw, (packet: { readonly t: string; readonly d: unknown }) => {
      if (packet.t === 'MESSAGE_CREATE') this.#hear('message', packet.d)
      if (packet.t === 'MESSAGE_UPDATE') this.#hear('edit', packet.d)
      if (packet.t === 'INTERACTION_CREATE') {
        this.#commands.take(packet.d, handlers).catch((error: unknown) => {
          handlers.setAside({ id: null, reason: errorKind(error) })
        })
      }
    })
    // A new connection, not a resumed one: missed messages have to be looked up.
    client.on(Events.ShardReady, () => void this.#begin(handlers))
    client.on(Events.ShardResume, () => handlers.report(null))
    client.on(Events.ShardReconnecting, () => handlers.report('The connection to Discord is lost.'))
    client.on(Events.ShardDisconnect, ({ code }) => {
      this.#refusal = code
      handlers.report(refusalText(code))
    })
    client.on(Events.ShardError, (error) => this.#warn(error, 'discord connection'))
    client.on(Events.Error, (error) => this.#warn(error, 'discord client'))
    this.#connecting = this.#connect(handlers)
  }

  async send(out: Outgoing): Promise<Sent> {
    const sent = await this.#send(out)
    if (sent.kind === 'sent' || sent.why !== 'outage') return sent
    // Usually only the response was lost; the nonce makes a second attempt safe.
    await pause(this.#terms.clock, SEND_AGAIN_MS, this.#closing.signal)
    const again = await this.#send(out)
    if (again.kind === 'sent' || again.why !== 'outage') return again
    return { ...again, retryAfterMs: this.#retryMs * OUTAGE_RETRIES }
  }

  async #send(out: Outgoing): Promise<Sent> {
    const content = discordMarkdown(out.text)
    try {
      const id = await this.#commands.answer(out.nonce, content)
      if (id === 'late') return { kind: 'failed', why: 'final', text: 'the command was answered' }
      if (id !== null) return { kind: 'sent', id }
      const nonce = nonceOf(out.nonce)
      this.#own.set(nonce, true)
      const body = { content, nonce, enforce_nonce: true, ...WITHOUT_EFFECTS }
      const path = Routes.channelMessages(out.address)
      const sent = (await this.#client.rest.post(path, { body })) as APIMessage
      // An earlier attempt with the same nonce sent an incomplete text.
      if (sent.content.trim() !== content.trim()) return await this.edit({ ...out, id: sent.id })
      return { kind: 'sent', id: sent.id }
    } catch (error) {
      return this.#failed(error)
    }
  }

  async edit({ address, id, text }: Outgoing & { readonly id: string }): Promise<Sent> {
    const body = { content: discordMarkdown(text), ...WITHOUT_EFFECTS }
    try {
      await this.#client.rest.patch(Routes.channelMessage(address, id), { body })
      return { kind: 'sent', id }
    } catch (error) {
      return this.#failed(error)
    }
  }

  async remove({ address, id }: { readonly address: string; readonly id: string }): Promise<Sent> {
    try {
      await this.#client.rest.delete(Routes.channelMessage(address, id))
      return { kind: 'sent', id }
    } catch (error) {
      const failure = this.#failed(error)
      return failure.why === 'gone' ? { kind: 'sent', id } : failure
    }
  }

  #failed(error: unknown): ReturnType<typeof discordFailure> {
    // discord.js forgets the token at the first 401, which may pass; then it would ask nothing more.
    this.#client.rest.setToken(this.#terms.token)
    return discordFailure(error)
  }

  async showTyping(address: string): Promise<void> {
    await this.#client.rest.post(Routes.channelTyping(address)).catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#connecting
    await Promise.all([...this.#feeds.values()].map((feed) => feed.close()))
    await this.#client.destroy()
  }

  get #retryMs(): number {
    return this.#terms.retryMs ?? RETRY_MS
  }

  async #connect(handlers: PlatformHandlers): Promise<void> {
    let waitMs = this.#retryMs
    while (!this.#closing.signal.aborted) {
      this.#refusal = null
      try {
        await this.#client.login(this.#terms.token)
        return
      } catch (error) {
        const refusal = isTokenInvalid(error) ? TOKEN_REFUSED : this.#refusal
        handlers.report(refusal === null ? UNREACHABLE : refusalText(refusal))
        this.#warn(error, 'discord login failed')
        if (refusal === TOKEN_REFUSED) return
        const restMs = refusal === null ? waitMs : this.#retryMs * REFUSED_RETRIES
        await pause(this.#terms.clock, restMs, this.#closing.signal)
      }
      waitMs = Math.min(CONNECT_WAIT_MS_MAX, waitMs * 2)
    }
  }

  async #begin(handlers: PlatformHandlers): Promise<void> {
    handlers.report(null)
    const { rest } = this.#client
    const commands = Routes.applicationCommands(this.account)
    try {
      const addresses = await this.#channels.watched()
      // Nothing would close a feed that starts after the others were closed.
      if (this.#closing.signal.aborted) return
      for (const address of new Set([...addresses, ...this.#feeds.keys()])) {
        this.#feed(address).catchUp()
      }
      await rest.put(commands, { body: commandList() })
    } catch (error) {
      this.#warn(error, 'discord: what was missed is looked up at the next word')
    }
  }

  #hear(kind: FeedEvent['kind'], packet: unknown): void {
    // Discord reports previews without naming the author.
    const isPreview = kind === 'edit' && isObject(packet) && packet['author'] === undefined
    if (isPreview || this.#closing.signal.aborted) return
    const message = this.#check(packet)
    if (message === null) return
    if (message.author.id === this.account) {
      this.#hearOwn(kind, message)
      return
    }
    if ('guild_id' in message === false) {
      this.#channels.noteDirect(message.channel_id)
    }
    // Other programs add previews and the like; only people edit their messages.
    if (kind === 'edit' && (message.edited_timestamp === null || isFromBot(message))) return
    this.#feed(message.channel_id).push({ kind, message })
  }

  #hearOwn(kind: FeedEvent['kind'], message: APIMessage): void {
    if (kind === 'edit') return
    // Counted in the order of the channel.
    this.#feeds.get(message.channel_id)?.push({ kind, message })
    if ('interaction_metadata' in message || this.#own.has(String(message.nonce))) return
    this.#handlers?.report('Another process sends messages with the token of this bot.')
  }

  #feed(address: string): Feed {
    const known = this.#feeds.get(address)
    if (known !== undefined) return known
    const { bots, loopRule: rule, clock, logger } = this.#terms
    const breaker = new Breaker({
      ...{ self: this.account, bots, rule, address, logger },
      findAct: (bot) => this.#terms.findAct(address, [this.account, bot]),
      readAfter: (after) => this.#read(address, { after }),
      send: (out) => this.send(out),
    })
    const feed = new Feed({
      clock,
      mark: async () => {
        const mark = (await this.#terms.findMark(address)) ?? (await this.#channels.floor())
        const before = bots.length === 0 ? [] : await this.#read(address, { upTo: mark })
        for (const message of before) breaker.note(message)
        return mark
      },
      read: (after) => this.#read(address, { after }),
      take: (event) => this.#take(event, breaker),
      report: (problem) => this.#handlers?.report(problem),
    })
    this.#feeds.set(address, feed)
    if (this.#feeds.size > FEEDS_MAX) {
      // Closes the oldest feed; its next message opens it again.
      for (const [oldest] of this.#feeds) {
        this.#feeds.delete(oldest)
        break
      }
    }
    return feed
  }

  /** The page after a message, or the page that ends with it; oldest first. */
  async #read(
    address: string,
    position: { readonly after: string } | { readonly upTo: string },
  ): Promise<readonly APIMessage[]> {
    const from =
      'after' in position
        ? { after: position.after }
        : { before: String(BigInt(position.upTo) + 1n) }
    const query = new URLSearchParams({ ...from, limit: String(PAGE) })
    const path = Routes.channelMessages(address)
    const page = (await this.#client.rest.get(path, { query }).catch((error: unknown) => {
      if (!isInaccessible(error)) throw error
      this.#terms.logger.warn(
        { address, reason: errorKind(error) },
        'discord channel cannot be read',
      )
      return []
    })) as readonly unknown[]
    return page
      .flatMap((each) => this.#check(each) ?? unreadableAt(each, address) ?? [])
      .toSorted((a, b) => (isLater(a.id, b.id) ? 1 : -1))
  }

  #check(value: unknown): APIMessage | null {
    const message = checkMessage(value)
    if (message !== null) return message
    const id = isObject(value) && isSnowflake(value['id']) ? value['id'] : null
    this.#handlers?.setAside({ id, reason: 'unreadable' })
    return null
  }

  async #take({ kind, message }: FeedEvent, breaker: Breaker): Promise<void> {
    if (!isSaid(message)) return
    await this.#bring({ kind, message }, breaker)
    if (kind === 'message') breaker.note(message)
  }

  async #bring({ kind, message }: FeedEvent, breaker: Breaker): Promise<void> {
    if (message.author.id === this.account) return
    const where = await this.#channels.where(message.channel_id)
    if (isFromBot(message)) {
      if (!breaker.hears(message) || !(await breaker.passes(message))) return
    }
    const earlier =
      kind === 'edit'
        ? []
        : breaker.kept.map(({ message: kept, note }) => {
            const incoming = this.#incoming(kept, where)
            return note === null ? incoming : { ...incoming, note }
          })
    const incoming = {
      ...this.#incoming(message, where, await this.#isOurThread(message, where)),
      ...(earlier.length > 0 && { earlier }),
    }
    const reception = await this.#handlers?.receive(incoming)
    if (reception === 'admitted' && earlier.length > 0) breaker.release()
  }

  #incoming(message: APIMessage, where: ChannelInfo, isForUs = false): Incoming {
    const { attachments: terms } = this.#terms
    const answersAll = this.#terms.answersAll || isForUs
    return {
      ...readDiscordMessage(message, { self: this.account, where, answersAll }),
      attachments: () => fetchAttachments(attachmentsOf(message), terms),
    }
  }

  /** In a thread where we were addressed before, messages without a mention are for us. */
  async #isOurThread(message: APIMessage, { isPrivate, chat }: ChannelInfo): Promise<boolean> {
    const { channel_id: address, mentions } = message
    if (isPrivate || chat === address || mentions.length > 0) return false
    return (await this.#terms.findMark(address)) !== null
  }

  #warn(error: unknown, sentence: string): void {
    this.#terms.logger.warn({ reason: errorKind(error) }, sentence)
  }
}
