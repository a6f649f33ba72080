import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { type APIInteraction, type APIMessage, type Client, Events, Routes } from 'discord.js'
import { type Clock, pause } from '../../base/clock.ts'
import { Recent } from '../../base/recent.ts'
import type { Logger } from '../../runtime/logger.ts'
import type { LoopRule } from '../../tools/send-message/loop.ts'
import type { AllowList } from '../chat/allow.ts'
import { kindOf } from '../chat/kind.ts'
import type {
  Capabilities,
  Incoming,
  Outgoing,
  Platform,
  PlatformHandlers,
  Sent,
} from '../chat/platform.ts'
import { Acquaintance } from './acquaintance.ts'
import { type AttachmentTerms, fetchAttachments } from './attachments.ts'
import { newClient, refusalText } from './client.ts'
import { accountOf, failureOf } from './failure.ts'
import { Feed, type FeedEvent, isLater, PAGE } from './feed.ts'
import { attachmentsOf, isFromBot, isSaid, readMessage, type Whereabouts } from './incoming.ts'
import { discordMarkdown, TEXT_LENGTH_MAX } from './markdown.ts'
import { snowflakeAt } from './marks.ts'
import { commandList } from './slash.ts'
import { SlashDesk } from './slash-desk.ts'

export interface DiscordTerms {
  readonly token: string
  /** Default: Discord's own. */
  readonly apiUrl?: string
  /** Whose channels are read on after a gap; who may talk is decided behind the seam. */
  readonly allow: AllowList
  /** Other bots that may talk to us, by id. */
  readonly bots: readonly string[]
  /** In a channel also what is not meant for us by name. */
  readonly answersAll: boolean
  readonly attachments: AttachmentTerms
  /** The newest durable message of a channel. */
  readonly findMark: (address: string) => Promise<string | null>
  readonly clock: Clock
  readonly logger: Logger
  /** Five edits in five seconds are allowed per channel. */
  readonly editEveryMs: number
  /** How long until something that failed is tried again, the first time. */
  readonly retryMs?: number
  /** Null: bots may thank each other for ever; for a run that shows it. */
  readonly loopRule?: LoopRule | null
}

/** One channel, thread or direct conversation. */
interface Room {
  readonly feed: Feed
  readonly acquaintance: Acquaintance
}

const TYPING_MS = 9_000
const SEND_AGAIN_MS = 250
const NONCE_LENGTH_MAX = 25
const OWN_MAX = 1_000
const ROOMS_MAX = 10_000
const RETRY_MS = 1_000
/** Sending looks at an outage this much more seldom than connecting does. */
const OUTAGE_RETRIES = 10
const CONNECT_WAIT_MS_MAX = 60_000
const OVERLAP_MS = 60_000

/** Discord through discord.js: its connection and limits; order and completeness are the feeds'. */
export class DiscordPlatform implements Platform {
  readonly name = 'discord'
  readonly account: string
  readonly capabilities: Capabilities
  readonly #terms: DiscordTerms
  readonly #client: Client
  readonly #rooms = new Map<string, Room>()
  readonly #whereabouts = new Map<string, Whereabouts>()
  /** Nonces of ours: what comes back under our name without one was sent by somebody else. */
  readonly #own = new Recent<string, true>(OWN_MAX)
  readonly #commands: SlashDesk
  readonly #closing = new AbortController()
  #handlers: PlatformHandlers | null = null
  #floor: Promise<string> | null = null
  #connecting: Promise<void> = Promise.resolve()

  constructor(terms: DiscordTerms) {
    this.#terms = terms
    this.account = accountOf(terms.token)
    this.capabilities = {
      // A bot reads what others say when they say it; half an answer would mislead it.
      edits: terms.bots.length === 0,
      ...{ threads: true, images: true, nonce: true },
      ...{
        lengthMax: TEXT_LENGTH_MAX,
        editEveryMs: terms.editEveryMs,
        typingMs: TYPING_MS,
      },
    }
    setMaxListeners(0, this.#closing.signal)
    this.#client = newClient(terms)
    this.#commands = new SlashDesk({
      rest: this.#client.rest,
      account: this.account,
      whereIs: (address) => this.#where(address),
    })
  }

  start(handlers: PlatformHandlers): void {
    this.#handlers = handlers
    const client = this.#client
    client.on(Events.Raw, (packet: { readonly t: string; readonly d: unknown }) => {
      if (packet.t === 'MESSAGE_CREATE') this.#hear('message', packet.d as APIMessage)
      if (packet.t === 'MESSAGE_UPDATE') this.#hear('edit', packet.d as APIMessage)
      if (packet.t === 'INTERACTION_CREATE') {
        void this.#commands.take(packet.d as APIInteraction, handlers)
      }
    })
    // A session of its own: whatever happened since the last one has to be looked up.
    client.on(Events.ShardReady, () => void this.#begin(handlers))
    client.on(Events.ShardResume, () => handlers.tell(null))
    client.on(Events.ShardReconnecting, () => handlers.tell('The connection to Discord is lost.'))
    client.on(Events.ShardDisconnect, ({ code }) => handlers.tell(refusalText(code)))
    client.on(Events.ShardError, (error) => this.#warn(error, 'discord connection'))
    client.on(Events.Error, (error) => this.#warn(error, 'discord client'))
    this.#connecting = this.#connect(handlers)
  }

  async send(out: Outgoing): Promise<Sent> {
    const sent = await this.#send(out)
    if (sent.kind === 'sent' || sent.why !== 'outage') return sent
    // Most often only the answer was lost; the nonce makes a second try safe.
    await pause(this.#terms.clock, SEND_AGAIN_MS, this.#closing.signal)
    const again = await this.#send(out)
    if (again.kind === 'sent' || again.why !== 'outage') return again
    return { ...again, retryAfterMs: this.#retryMs * OUTAGE_RETRIES }
  }

  async #send(out: Outgoing): Promise<Sent> {
    const content = discordMarkdown(out.text)
    try {
      const id = await this.#commands.answer(out.nonce, content)
      if (id !== null) return { kind: 'sent', id }
      const nonce = nonceOf(out.nonce)
      this.#own.set(nonce, true)
      const body = { content, nonce, enforce_nonce: true, allowed_mentions: { parse: [] } }
      const path = Routes.channelMessages(out.address)
      const sent = (await this.#client.rest.post(path, { body })) as APIMessage
      // Said before under the same nonce, when it was not yet the whole.
      if (sent.content.trim() !== content.trim()) return await this.edit({ ...out, id: sent.id })
      return { kind: 'sent', id: sent.id }
    } catch (error) {
      return failureOf(error)
    }
  }

  async edit({ address, id, text }: Outgoing & { readonly id: string }): Promise<Sent> {
    const body = { content: discordMarkdown(text), allowed_mentions: { parse: [] } }
    try {
      await this.#client.rest.patch(Routes.channelMessage(address, id), { body })
      return { kind: 'sent', id }
    } catch (error) {
      return failureOf(error)
    }
  }

  async showTyping(address: string): Promise<void> {
    await this.#client.rest.post(Routes.channelTyping(address)).catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#connecting
    await Promise.all([...this.#rooms.values()].map(({ feed }) => feed.close()))
    await this.#client.destroy()
  }

  get #retryMs(): number {
    return this.#terms.retryMs ?? RETRY_MS
  }

  async #connect(handlers: PlatformHandlers): Promise<void> {
    let waitMs = this.#retryMs
    while (!this.#closing.signal.aborted) {
      try {
        await this.#client.login(this.#terms.token)
        return
      } catch (error) {
        const isRefused = error instanceof Error && 'code' in error && error.code === 'TokenInvalid'
        handlers.tell(isRefused ? refusalText(4004) : 'Discord cannot be reached; trying again.')
        this.#warn(error, 'discord login failed')
        if (isRefused) return
      }
      await pause(this.#terms.clock, waitMs, this.#closing.signal)
      waitMs = Math.min(CONNECT_WAIT_MS_MAX, waitMs * 2)
    }
  }

  async #begin(handlers: PlatformHandlers): Promise<void> {
    handlers.tell(null)
    const { rest } = this.#client
    const commands = Routes.applicationCommands(this.account)
    try {
      const addresses = await this.#watched()
      // A feed that begins after the others were closed would be closed by nobody.
      if (this.#closing.signal.aborted) return
      for (const address of new Set([...addresses, ...this.#rooms.keys()])) {
        this.#room(address).feed.catchUp()
      }
      await rest.put(commands, { body: commandList() })
    } catch (error) {
      this.#warn(error, 'discord: what was missed is looked up at the next word')
    }
  }

  /** Places where somebody who may talk could have said something meanwhile. */
  async #watched(): Promise<readonly string[]> {
    const { chats, users } = this.#terms.allow
    const addresses: string[] = []
    for (const channel of this.#client.channels.cache.values()) {
      const around = channel.isThread() ? channel.parentId : channel.id
      if (channel.isTextBased() && around !== null && chats.includes(around)) {
        addresses.push(channel.id)
      }
    }
    for (const user of users) {
      const body = { recipient_id: user }
      const dm = await this.#client.rest.post(Routes.userChannels(), { body }).catch(() => null)
      if (dm === null) continue
      const { id } = dm as { id: string }
      this.#whereabouts.set(id, { isPrivate: true, chat: id })
      addresses.push(id)
    }
    return addresses
  }

  #hear(kind: FeedEvent['kind'], message: APIMessage): void {
    if (message.author === undefined || this.#closing.signal.aborted) return
    if (message.author.id === this.account) {
      this.#hearOwn(kind, message)
      return
    }
    if ('guild_id' in message === false) {
      this.#whereabouts.set(message.channel_id, { isPrivate: true, chat: message.channel_id })
    }
    // Other programs add previews and the like; only people edit what they said.
    if (kind === 'edit' && (message.edited_timestamp === null || isFromBot(message))) return
    this.#room(message.channel_id).feed.push({ kind, message })
  }

  #hearOwn(kind: FeedEvent['kind'], message: APIMessage): void {
    if (kind === 'edit') return
    // In its place among what others say.
    this.#rooms.get(message.channel_id)?.feed.push({ kind, message })
    if ('interaction_metadata' in message || this.#own.has(String(message.nonce))) return
    this.#handlers?.tell('Another process sends messages with the token of this bot.')
  }

  #room(address: string): Room {
    const known = this.#rooms.get(address)
    if (known !== undefined) return known
    const { bots, loopRule, clock } = this.#terms
    const acquaintance = new Acquaintance({
      ...{ self: this.account, bots },
      ...(loopRule !== undefined && { rule: loopRule }),
    })
    const feed = new Feed({
      clock,
      mark: async () => {
        const mark = (await this.#terms.findMark(address)) ?? (await this.#findFloor())
        const before = bots.length === 0 ? [] : await this.#read(address, { upTo: mark })
        for (const message of before) acquaintance.note(message)
        return mark
      },
      read: (after) => this.#read(address, { after }),
      take: (event) => this.#take(event, acquaintance),
      tell: (problem) => this.#handlers?.tell(problem),
    })
    const room = { feed, acquaintance }
    this.#rooms.set(address, room)
    if (this.#rooms.size > ROOMS_MAX) {
      // The one that was opened first; it is opened again with its next message.
      for (const [oldest] of this.#rooms) {
        this.#rooms.delete(oldest)
        break
      }
    }
    return room
  }

  /** A page behind a message, or the last one that ends with it; oldest first. */
  async #read(
    address: string,
    place: { readonly after: string } | { readonly upTo: string },
  ): Promise<readonly APIMessage[]> {
    const from =
      'after' in place ? { after: place.after } : { before: String(BigInt(place.upTo) + 1n) }
    const query = new URLSearchParams({ ...from, limit: String(PAGE) })
    const path = Routes.channelMessages(address)
    const page = (await this.#client.rest.get(path, { query })) as APIMessage[]
    return page.toSorted((a, b) => (isLater(a.id, b.id) ? 1 : -1))
  }

  /** For places without a mark of their own: what came behind the newest mark of all. */
  #findFloor(): Promise<string> {
    this.#floor ??= (async () => {
      const startedAt = snowflakeAt(this.#terms.clock.now())
      let newest: string | null = null
      for (const address of await this.#watched()) {
        const mark = await this.#terms.findMark(address)
        if (mark !== null && (newest === null || isLater(mark, newest))) newest = mark
      }
      if (newest === null) return startedAt
      return String(BigInt(newest) - (BigInt(OVERLAP_MS) << 22n))
    })()
    this.#floor.catch(() => {
      this.#floor = null
    })
    return this.#floor
  }

  async #take({ kind, message }: FeedEvent, acquaintance: Acquaintance): Promise<void> {
    if (!isSaid(message)) return
    await this.#bring({ kind, message }, acquaintance)
    if (kind === 'message') acquaintance.note(message)
  }

  async #bring({ kind, message }: FeedEvent, acquaintance: Acquaintance): Promise<void> {
    if (message.author.id === this.account) return
    const where = await this.#where(message.channel_id)
    if (isFromBot(message)) {
      if (!acquaintance.hears(message)) return
      const verdict = acquaintance.judge(message)
      if (verdict === 'first-hold') {
        const facts = { address: message.channel_id, bot: message.author.id }
        this.#terms.logger.warn(facts, 'bots only acknowledge each other: their messages wait')
      }
      if (verdict !== 'send') return acquaintance.hold(message)
    }
    const earlier =
      kind === 'edit' ? [] : acquaintance.held.map((held) => this.#incoming(held, where))
    const incoming = {
      ...this.#incoming(message, where, await this.#isOurThread(message, where)),
      ...(earlier.length > 0 && { earlier }),
    }
    const reception = await this.#handlers?.receive(incoming)
    if (reception === 'admitted' && earlier.length > 0) acquaintance.release()
  }

  #incoming(message: APIMessage, where: Whereabouts, isForUs = false): Incoming {
    const { attachments: terms } = this.#terms
    const answersAll = this.#terms.answersAll || isForUs
    return {
      ...readMessage(message, { self: this.account, where, answersAll }),
      attachments: () => fetchAttachments(attachmentsOf(message), terms),
    }
  }

  /** Where we were spoken to before, what people say to nobody else is said to us. */
  async #isOurThread(message: APIMessage, { isPrivate, chat }: Whereabouts): Promise<boolean> {
    const { channel_id: address, mentions } = message
    if (isPrivate || chat === address || mentions.length > 0) return false
    return (await this.#terms.findMark(address)) !== null
  }

  async #where(address: string): Promise<Whereabouts> {
    const known = this.#whereabouts.get(address)
    if (known !== undefined) return known
    const channel = await this.#client.channels.fetch(address, { allowUnknownGuild: true })
    const isPrivate = channel?.isDMBased() ?? false
    const chat = (channel?.isThread() ? channel.parentId : null) ?? address
    const where = { isPrivate, chat }
    this.#whereabouts.set(address, where)
    return where
  }

  #warn(error: unknown, sentence: string): void {
    this.#terms.logger.warn({ reason: kindOf(error) }, sentence)
  }
}

/** Discord takes 25 characters; the same reply has to get the same ones. */
function nonceOf(nonce: string): string {
  if (nonce.length <= NONCE_LENGTH_MAX) return nonce
  return createHash('sha256').update(nonce).digest('base64url').slice(0, NONCE_LENGTH_MAX)
}
