import type { APIAttachment, APIMessage } from 'discord.js'
import { forwardedText } from '../chat/message-text.ts'
import type { Incoming } from '../chat/platform.ts'

/** Reads Discord's messages: the addressee, the text, unsupported parts. Pure. */

/** Where a message was posted, as routes and the allow-list need it. */
export interface ChannelInfo {
  readonly isPrivate: boolean
  /** For a thread, its parent channel. */
  readonly chat: string
}

export type Read = Omit<Incoming, 'attachments'>

const DEFAULT = 0
const REPLY = 19
const VOICE_FLAG = 1 << 13
const ANSWERED_LENGTH_MAX = 200

/** Joins, pins, boosts and the like are not messages of people. */
export function isSaid({ type }: Pick<APIMessage, 'type'>): boolean {
  return type === DEFAULT || type === REPLY
}

export function isFromBot({ author, webhook_id }: APIMessage): boolean {
  return author.bot === true || webhook_id !== undefined
}

/**
 * Whether a message addresses us: by a mention in the text (which notifies nobody if a bot wrote
 * it), or by a reply.
 */
export function addressesBot(message: APIMessage, self: string): boolean {
  return (
    mentionsOf(self).some((mention) => message.content.includes(mention)) ||
    message.referenced_message?.author.id === self
  )
}

/** The time of the last edit, as a number that rises; undefined: never edited. */
export function editOf({ edited_timestamp }: APIMessage): string | undefined {
  const at = edited_timestamp === null ? Number.NaN : Date.parse(edited_timestamp)
  return Number.isNaN(at) ? undefined : String(at)
}

export function readDiscordMessage(
  message: APIMessage,
  terms: { readonly self: string; readonly where: ChannelInfo; readonly answersAll: boolean },
): Read {
  const { self, where, answersAll } = terms
  const { author } = message
  const isBot = isFromBot(message)
  const name = message.author.global_name ?? author.username
  const answered = message.referenced_message?.content
  const edit = editOf(message)
  const unsupported = unsupportedIn(message)
  return {
    key: message.id,
    ...(edit !== undefined && { edit }),
    address: message.channel_id,
    chat: {
      kind: where.isPrivate ? 'private' : 'group',
      id: where.chat,
      isAddressed: where.isPrivate || addressesBot(message, self) || (answersAll && !isBot),
    },
    // The model must write a bot's mention to answer it, so the text contains that mention.
    sender: { id: author.id, name: isBot ? `${name} (<@${author.id}>)` : name, isBot },
    text: spoken(message, self),
    ...(answered && { answers: answered.slice(0, ANSWERED_LENGTH_MAX) }),
    ...(unsupported !== undefined && { unsupported }),
  }
}

function mentionsOf(id: string): readonly string[] {
  return [`<@${id}>`, `<@!${id}>`]
}

/** A forwarded message has its own attachments. */
export function attachmentsOf(message: APIMessage): readonly APIAttachment[] {
  return [message, ...forwardedIn(message)].flatMap(({ attachments }) => attachments)
}

function forwardedIn({ message_snapshots: snapshots = [] }: APIMessage) {
  return snapshots.map(({ message }) => message)
}

/**
 * Other programs often put their whole message in an embed; an embed beside text only repeats it.
 */
function wordsOf({ content, embeds }: Pick<APIMessage, 'content' | 'embeds'>): string {
  if (content !== '') return content
  const cards = embeds.map(({ title, description }) => [title, description])
  return cards.map((words) => words.filter(Boolean).join('\n')).join('\n')
}

/**
 * Removes our own mention and adds the names of others beside their ids. In one pass: people choose
 * their names, which can look like a mention.
 */
function spoken(message: APIMessage, self: string): string {
  const forwarded = forwardedIn(message).map((each) => forwardedText(wordsOf(each)))
  const names = new Map(
    message.mentions.map((each) => [each.id, each.global_name ?? each.username]),
  )
  return [wordsOf(message), ...forwarded]
    .join('\n')
    .replaceAll(MENTION, (mention, id: string) => {
      if (id === self) return ''
      const name = names.get(id)
      return name === undefined ? mention : `@${name} (<@${id}>)`
    })
    .trim()
}
const MENTION = /<@!?(\d+)>/g

function unsupportedIn(message: APIMessage): string | undefined {
  const { sticker_items = [], poll, flags = 0 } = message
  if ((flags & VOICE_FLAG) !== 0) return 'I cannot listen to voice messages; please write it.'
  if (poll !== undefined) return 'I cannot read polls; please write it.'
  return sticker_items.length > 0 ? 'I cannot see stickers; please write it.' : undefined
}
