/** What there is on the local Discord: bots, people, channels, and what was said in them. */

export interface UserRow {
  readonly id: string
  readonly username: string
  readonly discriminator: '0'
  readonly global_name: string
  readonly avatar: null
  readonly bot?: true
}

export interface ChannelRow {
  readonly id: string
  readonly kind: 'text' | 'thread' | 'dm'
  readonly guild?: string
  readonly parent?: string
  /** The two who talk here, where it is a direct message. */
  readonly between?: readonly [bot: UserRow, person: UserRow]
  isForbidden?: boolean
}

export interface MessageRow {
  readonly id: string
  readonly channel_id: string
  readonly guild_id?: string
  readonly author: UserRow
  readonly content: string
  readonly nonce?: string
  readonly edited_timestamp: string | null
  readonly mentions: readonly UserRow[]
  readonly [field: string]: unknown
}

export interface Said {
  readonly author: UserRow
  readonly content: string
  readonly nonce?: string
  readonly mentions?: readonly UserRow[]
  /** The id of the message that it answers. */
  readonly answers?: string
  readonly attachments?: readonly AttachmentRow[]
  readonly type?: number
}

export interface AttachmentRow {
  readonly id: string
  readonly filename: string
  readonly size: number
  readonly url: string
  readonly proxy_url: string
  readonly content_type?: string
}

export interface CommandRow {
  readonly name: string
  readonly description: string
  readonly options?: readonly { readonly name: string; readonly required?: boolean }[]
}

const EPOCH = 1_420_070_400_000n
const KINDS = { text: 0, dm: 1, thread: 11 } as const
const GUILD = '700000000000000001'

export class DiscordWorld {
  readonly channels = new Map<string, ChannelRow>()
  readonly users = new Map<string, UserRow>()
  readonly guild = GUILD
  readonly #tokens = new Map<string, UserRow>()
  readonly #messages = new Map<string, MessageRow[]>()
  #last = 0n

  /** Ids rise, and tell the time as those of Discord do. */
  nextId(): string {
    const now = (BigInt(Date.now()) - EPOCH) << 22n
    this.#last = now > this.#last ? now : this.#last + 1n
    return String(this.#last)
  }

  addBot(username: string, tokenOf: (id: string) => string): UserRow {
    const bot: UserRow = { ...this.#user(username), bot: true }
    this.users.set(bot.id, bot)
    this.#tokens.set(tokenOf(bot.id), bot)
    return bot
  }

  addPerson(username: string): UserRow {
    const person = this.#user(username)
    this.users.set(person.id, person)
    return person
  }

  addChannel(parent?: ChannelRow): ChannelRow {
    const id = this.nextId()
    const channel: ChannelRow =
      parent === undefined
        ? { id, kind: 'text', guild: GUILD }
        : { id, kind: 'thread', guild: GUILD, parent: parent.id }
    this.channels.set(id, channel)
    return channel
  }

  dmOf(bot: UserRow, personId: string): ChannelRow {
    const person = this.users.get(personId)
    if (person === undefined) throw new Error(`No user ${personId}.`)
    for (const channel of this.channels.values()) {
      const [one, other] = channel.between ?? []
      if (one?.id === bot.id && other?.id === personId) return channel
    }
    const channel: ChannelRow = { id: this.nextId(), kind: 'dm', between: [bot, person] }
    this.channels.set(channel.id, channel)
    return channel
  }

  channel(id: string): ChannelRow {
    const channel = this.channels.get(id)
    if (channel === undefined) throw new Error(`No channel ${id}.`)
    return channel
  }

  botOf(token: string | undefined): UserRow | undefined {
    return this.#tokens.get(token ?? '')
  }

  messages(channel: ChannelRow): readonly MessageRow[] {
    return this.#messages.get(channel.id) ?? []
  }

  /** As it is said, without telling anybody. */
  write(channel: ChannelRow, said: Said): MessageRow {
    const message = this.wireMessage(said, channel)
    const rows = this.#messages.get(channel.id) ?? []
    rows.push(message)
    this.#messages.set(channel.id, rows)
    return message
  }

  revise(channelId: string, id: string, content: string): MessageRow {
    const rows = this.#messages.get(channelId) ?? []
    const index = rows.findIndex((row) => row.id === id)
    const row = rows[index]
    if (row === undefined) throw new Error(`No message ${id}.`)
    const edited = { ...row, content, edited_timestamp: new Date().toISOString() }
    rows[index] = edited
    return edited
  }

  /** False: it is not there. */
  remove(channel: ChannelRow, id: string): boolean {
    const rows = this.#messages.get(channel.id) ?? []
    const at = rows.findIndex((row) => row.id === id)
    if (at >= 0) rows.splice(at, 1)
    return at >= 0
  }

  history(channel: ChannelRow, query: URLSearchParams): readonly MessageRow[] {
    const limit = Number(query.get('limit') ?? 50)
    const after = query.get('after')
    const before = query.get('before')
    const rows = this.messages(channel)
    if (after !== null) {
      const behind = rows.filter(({ id }) => BigInt(id) > BigInt(after))
      return behind.slice(0, limit).toReversed()
    }
    const within = before === null ? rows : rows.filter(({ id }) => BigInt(id) < BigInt(before))
    return within.slice(-limit).toReversed()
  }

  /** Nobody is told where the sender forbids it. */
  mentioned(content: string, allowed: unknown): readonly UserRow[] {
    const { parse = ['users'], users = [] } = (allowed ?? {}) as Partial<
      Record<'parse' | 'users', readonly string[]>
    >
    return [...this.users.values()].filter(
      ({ id }) => content.includes(`<@${id}>`) && (parse.includes('users') || users.includes(id)),
    )
  }

  wireChannel(channel: ChannelRow): Readonly<Record<string, unknown>> {
    const { id, kind, guild, parent, between } = channel
    const last = this.messages(channel).at(-1)?.id ?? null
    return {
      ...{ id, type: KINDS[kind], last_message_id: last, name: `${kind}-${id}`, flags: 0 },
      ...(guild !== undefined && { guild_id: guild, position: 0, permission_overwrites: [] }),
      ...(kind === 'thread' && {
        ...{ parent_id: parent, owner_id: '1', message_count: 0, member_count: 1 },
        thread_metadata: {
          ...{ archived: false, auto_archive_duration: 60, locked: false },
          archive_timestamp: new Date(0).toISOString(),
        },
      }),
      ...(between !== undefined && { recipients: [between[1]] }),
    }
  }

  wireMessage(said: Said, channel: ChannelRow): MessageRow {
    const { author, content, nonce, mentions = [], answers, attachments = [], type } = said
    const answered = this.messages(channel).find(({ id }) => id === answers)
    return {
      ...{ id: this.nextId(), channel_id: channel.id, author, content, mentions, attachments },
      ...{ timestamp: new Date().toISOString(), edited_timestamp: null, tts: false },
      ...{ mention_everyone: false, mention_roles: [], embeds: [], pinned: false },
      type: type ?? (answers === undefined ? 0 : 19),
      ...(nonce !== undefined && { nonce }),
      ...(channel.guild !== undefined && { guild_id: channel.guild }),
      ...(answers !== undefined && {
        message_reference: { message_id: answers, channel_id: channel.id },
        referenced_message: answered ?? null,
      }),
    }
  }

  #user(username: string): UserRow {
    const id = this.nextId()
    return { id, username, discriminator: '0', global_name: username, avatar: null }
  }
}
