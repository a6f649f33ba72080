import type { APIMessage } from 'discord.js'
import { isArray, isObject, type JsonObject, type JsonValue } from '#core/base/json'

/**
 * Checks every field of Discord's messages that other code reads, so that no message can make it
 * throw: a channel is read in order, and a message that always fails would hold up all that follow.
 */
const ID = /^\d{1,20}$/
const NOT_SAID = -1

/**
 * Null: it cannot be read. Parts of it that cannot be read, such as one of its mentions, are left
 * out.
 */
export function checkMessage(value: unknown): APIMessage | null {
  if (!isObject(value)) return null
  const { id, channel_id: channel, author, content, type } = value
  if (!isSnowflake(id) || !isSnowflake(channel) || !isUser(author) || typeof type !== 'number')
    return null
  if (typeof content !== 'string') return null
  const { edited_timestamp: edited, referenced_message: answered } = value
  const checked = {
    ...value,
    ...partsOf(value),
    content,
    author: userOf(author),
    mentions: listOf(value['mentions']).filter(isUser).map(userOf),
    edited_timestamp: typeof edited === 'string' ? edited : null,
    referenced_message: answeredOf(answered),
    message_snapshots: listOf(value['message_snapshots']).flatMap((each) => {
      const message = isObject(each) ? each['message'] : null
      return isObject(message) ? [{ message: partsOf(message) }] : []
    }),
    sticker_items: listOf(value['sticker_items']),
    flags: typeof value['flags'] === 'number' ? value['flags'] : 0,
  }
  return checked as unknown as APIMessage
}

/**
 * A placeholder for an unreadable message in its channel's order; null if even its id is unknown.
 */
export function unreadableAt(value: unknown, address: string): APIMessage | null {
  const id = isObject(value) ? value['id'] : null
  if (!isSnowflake(id)) return null
  const author = { id: '', username: '' }
  const nothing = { content: '', mentions: [], embeds: [], attachments: [], edited_timestamp: null }
  return { id, channel_id: address, author, ...nothing, type: NOT_SAID } as unknown as APIMessage
}

export function isSnowflake(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value)
}

function partsOf({ content, embeds, attachments }: JsonObject): JsonObject {
  return {
    content: textOr(content, ''),
    embeds: listOf(embeds)
      .filter(isObject)
      .map(({ title, description }) => ({
        title: textOr(title, ''),
        description: textOr(description, ''),
      })),
    attachments: listOf(attachments)
      .filter(isObject)
      .map(({ url, filename, size, content_type: type }) => ({
        ...{ url: textOr(url, ''), filename: textOr(filename, 'file') },
        size: typeof size === 'number' ? size : 0,
        ...(typeof type === 'string' && { content_type: type }),
      })),
  }
}

function answeredOf(value: JsonValue | undefined): JsonObject | null {
  if (!isObject(value)) return null
  const { author, content } = value
  return isUser(author) ? { author: userOf(author), content: textOr(content, '') } : null
}

function isUser(value: JsonValue | undefined): value is JsonObject {
  return isObject(value) && isSnowflake(value['id'])
}

function userOf({ id, username, global_name: name, bot }: JsonObject): JsonObject {
  return {
    ...{ id: textOr(id, ''), username: textOr(username, '') },
    global_name: typeof name === 'string' ? name : null,
    ...(bot === true && { bot }),
  }
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isArray(value) ? value : []
}

function textOr(value: JsonValue | undefined, other: string): string {
  return typeof value === 'string' ? value : other
}
