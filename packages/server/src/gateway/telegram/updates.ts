import type { Message, MessageEntity, MessageOrigin, Update, UserFromGetMe } from 'grammy/types'
import { isObject } from '#core/base/json'
import type { UserPart } from '#core/message/message'
import { readTyped, SLASH_COMMANDS } from '../chat/commands.ts'
import { forwardedText } from '../chat/message-text.ts'
import type { Incoming } from '../chat/platform.ts'

/** The kinds of updates that we request from Telegram. */
export const UPDATE_KINDS = ['message', 'edited_message'] as const

/** Enough for update ids, which are 32-bit numbers. */
const UPDATE_DIGITS = 10

export interface RemoteFile {
  readonly id: string
  readonly name?: string
  readonly mediaType: string
  readonly bytes: number | undefined
}

class UnreadableUpdateError extends Error {
  override readonly name = 'UnreadableUpdateError'
}

/**
 * Throws if a field that other code reads has another type than Telegram documents. Everything below
 * may rely on it.
 */
export function checkUpdate({ message, edited_message: edited }: Update): void {
  const said: unknown = message ?? edited
  if (said === undefined) return
  if (!isObject(said)) throw new UnreadableUpdateError()
  const { chat, from, sender_chat: behind, message_id: number } = said
  const { migrate_to_chat_id: to, migrate_from_chat_id: origin, message_thread_id: thread } = said
  const numbers = [
    ...[isObject(chat) ? chat['id'] : null, number, ...[to, origin, thread].filter(isGiven)],
    ...[from, behind].filter(isGiven).map((each) => (isObject(each) ? each['id'] : null)),
  ]
  const answered = isObject(said['reply_to_message']) ? said['reply_to_message'] : {}
  const quote = isObject(said['quote']) ? said['quote'] : {}
  const texts = [
    ...[said['text'], said['caption'], quote['text'], answered['text'], answered['caption']],
  ]
  if (!numbers.every((each) => Number.isSafeInteger(each))) throw new UnreadableUpdateError()
  if (!texts.filter(isGiven).every((each) => typeof each === 'string')) {
    throw new UnreadableUpdateError()
  }
}

function isGiven(value: unknown): boolean {
  return value !== undefined
}

/** Null: not a message to us. Throws if the update cannot be read. */
export function readUpdate(
  update: Update,
  me: UserFromGetMe,
  fetchFiles: (files: readonly RemoteFile[]) => Promise<readonly UserPart[]>,
): Incoming | null {
  const message = update.message ?? update.edited_message
  if (message?.chat === undefined) return null
  const { chat, message_id: number } = message
  const files = filesOf(message)
  const unsupported = unsupportedText(message)
  const raw = message.text ?? message.caption ?? ''
  const text = forwarded(message, raw) ?? withoutOurName(raw, me.username)
  if (text === null) return null
  if (raw === '' && files.length === 0 && unsupported === undefined) return null
  const answered = answeredBy(message)
  const quoted = message.quote?.text ?? answered?.text ?? answered?.caption
  return {
    key: `${chat.id}:${number}`,
    ...(update.message === undefined && { edit: editOf(update.update_id, message) }),
    address: addressOf(message),
    chat: {
      kind: chat.type === 'private' ? 'private' : 'group',
      id: String(chat.id),
      isAddressed: isOurs(raw, text) || namesUs(message, me) || answered?.from?.id === me.id,
    },
    sender: senderOf(message),
    text,
    attachments: () => fetchFiles(files),
    ...(quoted !== undefined && { answers: quoted }),
    ...(unsupported !== undefined && { unsupported }),
  }
}

/** A group that became a supergroup has another id; Telegram reports it in both chats. */
export function readMove({ message }: Update): { from: string; to: string } | null {
  if (message?.chat === undefined) return null
  const { chat, migrate_to_chat_id: to, migrate_from_chat_id: from } = message
  if (to !== undefined) return { from: String(chat.id), to: String(to) }
  return from === undefined ? null : { from: String(from), to: String(chat.id) }
}

/**
 * Update ids may restart elsewhere after a quiet week, and several edits may fall into one second:
 * only both together always rise and identify an edit.
 */
function editOf(update: number, { edit_date: seconds = 0 }: Message): string {
  return `${seconds}${String(update).padStart(UPDATE_DIGITS, '0')}`
}

/** Each topic of a group has its own address; the general one has the group's. */
function addressOf({
  chat,
  is_topic_message: isTopic,
  message_thread_id: thread,
}: Message): string {
  return isTopic && thread !== undefined ? `${chat.id}/${thread}` : String(chat.id)
}

export function readTelegramAddress(address: string): { chat: number; thread?: number } {
  const [chat = '', thread] = address.split('/')
  return { chat: Number(chat), ...(thread !== undefined && { thread: Number(thread) }) }
}

/** Every message of a topic refers to the message that opened it; that is not a reply. */
function answeredBy({ reply_to_message: answered }: Message) {
  return answered?.forum_topic_created === undefined ? answered : undefined
}

function senderOf({ from, sender_chat: behind, chat }: Message): Incoming['sender'] {
  if (behind !== undefined) {
    const name = 'title' in behind ? (behind.title ?? '') : String(behind.id)
    return { id: String(behind.id), name: String(name), isBot: false }
  }
  if (from === undefined) return { id: String(chat.id), name: '', isBot: false }
  const name = [from.first_name, from.last_name].filter(Boolean).join(' ')
  return { id: String(from.id), name, isBot: from.is_bot }
}

/** A forwarded message is marked as such, and its commands are not run. */
function forwarded({ forward_origin: origin }: Message, text: string): string | null {
  if (origin === undefined) return null
  return forwardedText(text, nameOf(origin))
}

function nameOf(origin: MessageOrigin): string {
  switch (origin.type) {
    case 'user':
      return [origin.sender_user.first_name, origin.sender_user.last_name].filter(Boolean).join(' ')
    case 'hidden_user':
      return origin.sender_user_name
    case 'chat':
      return 'title' in origin.sender_chat ? (origin.sender_chat.title ?? '') : ''
    case 'channel':
      return origin.chat.title
    default:
      return 'elsewhere'
  }
}

/** A command of ours, or one that names us: other bots in the group have commands as well. */
function isOurs(raw: string, text: string): boolean {
  if (!text.startsWith('/')) return false
  return raw !== text || text === '/start' || readTyped(text, SLASH_COMMANDS).kind === 'command'
}

/**
 * `/stop@ours` is ours, `/stop@theirs` is not; a leading mention of our name is removed. Null: not
 * for us.
 */
function withoutOurName(text: string, username: string): string | null {
  const command = /^\/[^\s@]{0,64}@(\w{1,64})/.exec(text)
  if (command !== null) {
    if (command[1]?.toLowerCase() !== username.toLowerCase()) return null
    const [whole] = command
    return whole.slice(0, whole.indexOf('@')) + text.slice(whole.length)
  }
  const greeting = `@${username}`
  const isGreeted = text.slice(0, greeting.length).toLowerCase() === greeting.toLowerCase()
  return isGreeted ? text.slice(greeting.length).replace(/^[,:]?\s+/, '') : text
}

function namesUs(message: Message, me: UserFromGetMe): boolean {
  const text = message.text ?? message.caption ?? ''
  const entities = message.entities ?? message.caption_entities ?? []
  return entities.some((entity: MessageEntity) => {
    if (entity.type === 'text_mention') return entity.user.id === me.id
    if (entity.type !== 'mention') return false
    const name = text.slice(entity.offset + 1, entity.offset + entity.length)
    return name.toLowerCase() === me.username.toLowerCase()
  })
}

function filesOf({ photo, document }: Message): readonly RemoteFile[] {
  const largest = photo?.at(-1)
  return [
    ...(largest === undefined
      ? []
      : [{ id: largest.file_id, mediaType: 'image/jpeg', bytes: largest.file_size }]),
    ...(document === undefined
      ? []
      : [
          {
            id: document.file_id,
            mediaType: document.mime_type ?? 'application/octet-stream',
            bytes: document.file_size,
            ...(document.file_name !== undefined && { name: document.file_name }),
          },
        ]),
  ]
}

const UNSUPPORTED = {
  voice: 'Voice messages',
  audio: 'Audio',
  video: 'Videos',
  video_note: 'Video messages',
  sticker: 'Stickers',
  poll: 'Polls',
  location: 'Places',
  contact: 'Contacts',
  dice: 'Dice',
  story: 'Stories',
  paid_media: 'Paid pictures',
  game: 'Games',
  checklist: 'Checklists',
} as const

function unsupportedText(message: Message): string | undefined {
  // An animation is also sent as a document, for older apps.
  const kind = (Object.keys(UNSUPPORTED) as (keyof typeof UNSUPPORTED)[]).find(
    (each) => message[each] !== undefined,
  )
  if (kind === undefined) return undefined
  return `${UNSUPPORTED[kind]} cannot be read here. Text, pictures and files can.`
}
