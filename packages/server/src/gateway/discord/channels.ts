import { type Client, Routes } from 'discord.js'
import type { Clock } from '#core/base/clock'
import { Recent } from '#core/base/recent'
import type { AllowList } from '../chat/allow.ts'
import { isInaccessible } from './failure.ts'
import { isLater } from './feed.ts'
import type { ChannelInfo } from './incoming.ts'
import { snowflakeAt } from './resume-point.ts'

/** Channels, threads and direct messages: their kind, and the message from which to read. */
export interface ChannelsTerms {
  readonly allow: AllowList
  /** The newest durable message of a channel. */
  readonly findMark: (address: string) => Promise<string | null>
  readonly clock: Clock
}

const OVERLAP_MS = 60_000
const KNOWN_MAX = 10_000

export class Channels {
  readonly #client: Client
  readonly #terms: ChannelsTerms
  readonly #known = new Recent<string, ChannelInfo>(KNOWN_MAX)
  #floor: Promise<string> | null = null

  constructor(client: Client, terms: ChannelsTerms) {
    this.#client = client
    this.#terms = terms
  }

  noteDirect(address: string): void {
    this.#known.set(address, { isPrivate: true, chat: address })
  }

  async where(address: string): Promise<ChannelInfo> {
    const known = this.#known.get(address)
    if (known !== undefined) return known
    const asked = this.#client.channels.fetch(address, { allowUnknownGuild: true })
    const channel = await asked.catch((error: unknown) => {
      if (isInaccessible(error)) return null
      throw error
    })
    if (channel === null) return { isPrivate: false, chat: address }
    const isPrivate = channel.isDMBased()
    const chat = (channel.isThread() ? channel.parentId : null) ?? address
    const where = { isPrivate, chat }
    this.#known.set(address, where)
    return where
  }

  /** Channels in which an allowed person may have written in the meantime. */
  async watched(): Promise<readonly string[]> {
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
      this.noteDirect(id)
      addresses.push(id)
    }
    return addresses
  }

  /**
   * Where to begin in channels without a resume point: just before the newest resume point of all
   * channels.
   */
  floor(): Promise<string> {
    this.#floor ??= this.#findFloor()
    this.#floor.catch(() => {
      this.#floor = null
    })
    return this.#floor
  }

  async #findFloor(): Promise<string> {
    const startedAt = snowflakeAt(this.#terms.clock.now())
    let newest: string | null = null
    for (const address of await this.watched()) {
      const mark = await this.#terms.findMark(address)
      if (mark !== null && (newest === null || isLater(mark, newest))) newest = mark
    }
    if (newest === null) return startedAt
    return String(BigInt(newest) - (BigInt(OVERLAP_MS) << 22n))
  }
}
