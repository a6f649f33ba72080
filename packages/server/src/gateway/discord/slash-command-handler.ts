import {
  type APIChatInputApplicationCommandInteraction,
  type APIMessage,
  type REST,
  Routes,
} from 'discord.js'
import { type Clock, pause } from '#core/base/clock'
import type { Incoming, PlatformHandlers } from '../chat/platform.ts'
import { WITHOUT_EFFECTS } from './client.ts'
import type { ChannelInfo } from './incoming.ts'
import { isCommand, typedForm } from './slash.ts'

/**
 * Slash commands from their arrival to their answer. Discord requires a first answer within three
 * seconds, so a placeholder is sent at once; the command is handled as if it had been typed, and
 * the answer replaces the placeholder. Only the person who asked sees it.
 */
export interface SlashParts {
  readonly rest: REST
  readonly account: string
  readonly whereIs: (address: string) => Promise<ChannelInfo>
  readonly clock: Clock
  readonly signal: AbortSignal
}

const WAIT = 5
const ONLY_FOR_WHO_ASKED = 64
const FAILED = 'That did not work just now; please try again.'
const SILENT = 'There is no answer to that here.'
/** `SILENT` is sent if there is no answer for this long, for example to people who may not talk. */
const SILENCE_MS = 15_000
const KEY = /interaction-\d{1,20}$/

export class SlashCommandHandler {
  readonly #parts: SlashParts
  /** Tokens of unanswered commands, by their key. */
  readonly #asked = new Map<string, string>()

  constructor(parts: SlashParts) {
    this.#parts = parts
  }

  async take(interaction: unknown, handlers: PlatformHandlers): Promise<void> {
    if (!isCommand(interaction)) return
    const { id, token } = interaction
    const body = { type: WAIT, data: { flags: ONLY_FOR_WHO_ASKED } }
    const first = this.#parts.rest.post(Routes.interactionCallback(id, token), {
      ...{ body, auth: false },
    })
    // Another process with this token answered first, or the person has left: no answer is needed.
    if (!(await first.then(isDone, isFailed))) return
    const key = `interaction-${id}`
    this.#asked.set(key, token)
    const isIn = await this.#asTyped(interaction, key)
      .then((incoming) => handlers.receive(incoming))
      .then(isDone, isFailed)
    if (isIn) await pause(this.#parts.clock, SILENCE_MS, this.#parts.signal)
    if (this.#asked.has(key)) await this.answer(key, isIn ? SILENT : FAILED).catch(() => null)
    this.#asked.delete(key)
  }

  /**
   * Answers the command with this nonce. Null: no command has this nonce. `late`: the command
   * already has an answer, and a private answer must not go to the whole channel.
   */
  async answer(nonce: string, content: string): Promise<string | 'late' | null> {
    const key = KEY.exec(nonce)?.[0]
    if (key === undefined) return null
    const token = this.#asked.get(key)
    if (token === undefined) return 'late'
    const path = Routes.webhookMessage(this.#parts.account, token, '@original')
    const body = { content, ...WITHOUT_EFFECTS }
    const answered = await this.#parts.rest.patch(path, { body, auth: false })
    this.#asked.delete(key)
    return (answered as APIMessage).id
  }

  async #asTyped(
    interaction: APIChatInputApplicationCommandInteraction,
    key: string,
  ): Promise<Incoming> {
    const { channel, member, user } = interaction
    const by = member?.user ?? user
    const isPrivate = member === undefined
    const { chat } = isPrivate ? { chat: channel.id } : await this.#parts.whereIs(channel.id)
    return {
      key,
      address: channel.id,
      chat: { kind: isPrivate ? 'private' : 'group', id: chat, isAddressed: true },
      sender: { id: by?.id ?? '', name: by?.global_name ?? by?.username ?? '', isBot: false },
      text: typedForm(interaction),
      attachments: async () => [],
    }
  }
}

const isDone = () => true
const isFailed = () => false
