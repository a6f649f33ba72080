import { isObject, type JsonObject, type JsonValue } from '../../base/json.ts'
import type { Codec } from '../codec.ts'
import type { Message } from '../message.ts'
import { chatReader, writeChatMessage } from './chat-message.ts'
import { conversationOf, rejectRole } from './document.ts'
import { plain } from './items.ts'
import { asList, hasWord, ownOrigin, textField } from './origin.ts'
import { parseOr } from './tool-input.ts'

/**
 * Hermes' transcripts: OpenAI chat messages, one a line, behind a line about the session. Exports of
 * its database keep lists as text (content behind NUL and `json:`, tool calls as JSON) and mark rows
 * that are no longer in the context with `active` 0.
 */
const FORMAT = 'hermes'
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function', 'session_meta']
const LIST_MARK = '\u0000json:'

export const hermes: Codec = {
  name: FORMAT,
  framing: 'lines',

  reject(document) {
    for (const [index, line] of asList(document).entries()) {
      const reason = isObject(line) ? rejectRole(line, ROLES) : 'is not an object'
      if (reason !== undefined) return `line ${index + 1} ${reason}`
    }
    return undefined
  },

  parse(document) {
    const lines = asList(document).filter(isObject)
    const header = lines.filter((line) => line['role'] === 'session_meta')
    const rows = lines.filter((line) => line['role'] !== 'session_meta')
    const active = rows.filter((row) => row['active'] !== 0 && row['active'] !== false)
    const read = chatReader(FORMAT)
    const messages = active.map((row, at) => readRow(row, at, read))
    const left = rows.length - active.length
    const notes = left === 0 ? [] : [`Rows that are no longer active were left out: ${left}.`]
    const model = header[0] && textField(header[0], 'model')
    return conversationOf(FORMAT, messages, { header, model, notes })
  },

  format(conversation) {
    const rows = conversation.messages.flatMap((message) => {
      const written = writeChatMessage(plain(message, FORMAT), FORMAT)
      return written.map((row) => writeRow(row, message))
    })
    return [...(conversation.header ?? []), ...rows]
  },
}

function readRow(
  row: JsonObject,
  at: number,
  read: (item: JsonObject, at: number) => Message,
): Message {
  const content = decoded(row['content'], LIST_MARK)
  const calls = decoded(row['tool_calls'], '')
  const message = read(
    {
      ...row,
      ...(content !== undefined && { content }),
      ...(calls !== undefined && { tool_calls: calls }),
    },
    at,
  )
  const words = [content !== undefined && 'marked-list', calls !== undefined && 'text-calls']
  const time = timeOf(row['timestamp'])
  const shape = [message.origin?.shape, ...words].filter(Boolean).join(' ')
  const origin = { ...message.origin, format: FORMAT, at, ...(shape !== '' && { shape }) } as const
  const isSummary = message.role === 'user' && isHandoffText(message)
  return {
    ...message,
    ...(time !== undefined && { at: time }),
    ...(isSummary && { synthetic: true }),
    origin,
  } as Message
}

/** A value kept as text, where printing it again gives the same text. */
function decoded(text: JsonValue | undefined, mark: string): JsonValue | undefined {
  if (typeof text !== 'string' || !text.startsWith(mark)) return undefined
  const json = text.slice(mark.length)
  const value = parseOr(json, undefined)
  const isList = Array.isArray(value) || isObject(value)
  return isList && JSON.stringify(value) === json ? value : undefined
}

function writeRow(row: JsonObject, message: Message): JsonObject {
  const origin = ownOrigin(message, FORMAT)
  const { content, tool_calls: calls } = row
  return {
    ...row,
    ...(hasWord(origin, 'marked-list') &&
      typeof content === 'object' && { content: LIST_MARK + JSON.stringify(content) }),
    ...(hasWord(origin, 'text-calls') &&
      calls !== undefined && { tool_calls: JSON.stringify(calls) }),
  }
}

/** Seconds since 1970, or a stamp as text. */
function timeOf(stamp: JsonValue | undefined): string | undefined {
  if (typeof stamp === 'string') return stamp
  const date = typeof stamp === 'number' ? new Date(stamp * 1000) : undefined
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/** Hermes' own summaries are told by how they begin. */
function isHandoffText(message: Extract<Message, { role: 'user' }>): boolean {
  const [first] = message.parts
  return first?.type === 'text' && /^\[CONTEXT (?:COMPACTION|SUMMARY)/.test(first.text)
}
