import { isObject, type JsonObject, type JsonValue } from '../../../base/json.ts'
import type { Codec } from '../../codec.ts'
import type { AssistantPart, Message, Origin, ToolCallPart } from '../../message.ts'
import { conversationOf, rejectRole } from '../document.ts'
import { chatReader, writeChatMessage } from '../openai-chat/chat-message.ts'
import { plain } from '../openai-responses/items.ts'
import { asList, textField } from '../origin.ts'
import { asChatParts, asFirstSpelled } from './parts.ts'
import { type JsonStyle, readPythonJson, writeJson } from './python-json.ts'

/**
 * Hermes' transcripts: OpenAI chat messages, one per line, after a line about the session. Exports
 * of its database store lists as text (content after NUL and `json:`, tool calls as JSON),
 * formatted as Python does, and mark rows outside the context with `active` 0. A column that we
 * would write back differently is kept as text in `as_written`.
 */
const FORMAT = 'hermes'
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function', 'session_meta']
const LIST_MARK = '\u0000json:'

export const hermesFormat: Codec = {
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
    return [...(conversation.header ?? []), ...conversation.messages.flatMap(writeRows)]
  },
}

function writeRows(message: Message): readonly JsonObject[] {
  const written = writeChatMessage(plain(byId(message), FORMAT), FORMAT)
  return written.map((row) => writeRow(row, message))
}

function readRow(
  row: JsonObject,
  at: number,
  read: (item: JsonObject, at: number) => Message,
): Message {
  const lists = LISTS.flatMap((list) => readList(row, list))
  const message = read(
    { ...row, ...Object.fromEntries(lists.map(({ name, value }) => [name, value])) },
    at,
  )
  const words = lists.map(({ word, style }) => (style === null ? word : `${word}:${style}`))
  const time = timeOf(row['timestamp'])
  const isSummary = message.role === 'user' && isHandoffText(message)
  const timed = {
    ...message,
    ...(time !== undefined && { at: time }),
    ...(isSummary && { synthetic: true }),
  } as Message
  const spelt = byCallId(spelled(timed, words))
  if (lists.length === 0) return spelt
  const [again] = writeRows(spelt)
  const other = lists.filter(({ name }) => again?.[name] !== row[name])
  if (other.length === 0) return spelt
  return withWritten(spelt, Object.fromEntries(other.map(({ name }) => [name, row[name] ?? null])))
}

interface List {
  readonly name: 'content' | 'tool_calls'
  readonly mark: string
  readonly word: string
}

const LISTS: readonly List[] = [
  { name: 'content', mark: LIST_MARK, word: 'marked-list' },
  { name: 'tool_calls', mark: '', word: 'text-calls' },
]

function readList(row: JsonObject, list: List) {
  const text = row[list.name]
  if (typeof text !== 'string' || !text.startsWith(list.mark)) return []
  const json = readPythonJson(text.slice(list.mark.length))
  if (json === undefined) return []
  const value = list.name === 'content' ? asChatParts(json.value) : json.value
  return [{ ...list, ...json, value }]
}

/**
 * Fields that only Hermes' rows have are kept on the message; for a tool message, on its result.
 */
function spelled(message: Message, words: readonly string[], written?: JsonObject): Message {
  if (words.length === 0 && written === undefined) return message
  const add = (origin: Origin | undefined): Origin => {
    const shape = [origin?.shape, ...words].filter(Boolean).join(' ')
    const before = origin?.fields?.[WRITTEN]
    const texts = written && { ...(isObject(before) && before), ...written }
    const fields = texts === undefined ? origin?.fields : { ...origin?.fields, [WRITTEN]: texts }
    const position = { format: FORMAT, at: 0, ...origin } as const
    return { ...position, ...(shape !== '' && { shape }), ...(fields && { fields }) }
  }
  if (message.role !== 'tool') return { ...message, origin: add(message.origin) }
  const [first, ...others] = message.parts
  const parts = first === undefined ? [] : [{ ...first, origin: add(first.origin) }, ...others]
  return { ...message, parts }
}

const WRITTEN = 'as_written'

/** The same message, plus the columns that we would write differently. */
export function withWritten(message: Message, columns: JsonObject): Message {
  return spelled(message, [], columns)
}

/** Codex's calls have two ids, and results refer to `call_id`. */
function byCallId(message: Message): Message {
  if (message.role !== 'assistant') return message
  const isOther = (part: AssistantPart) => part.type === 'tool-call' && otherIdOf(part) !== null
  if (!message.parts.some(isOther)) return message
  const parts = message.parts.map((part) => {
    const callId = part.type === 'tool-call' ? otherIdOf(part) : null
    if (part.type !== 'tool-call' || callId === null) return part
    const fields = { ...part.origin?.fields, [OTHER_ID]: part.id }
    const origin: Origin = { format: FORMAT, at: 0, ...part.origin, fields }
    return { ...part, id: callId, origin }
  })
  return { ...message, parts }
}

const OTHER_ID = 'other_id'

function otherIdOf({ id, origin }: ToolCallPart): string | null {
  const callId = origin?.fields?.['call_id']
  return typeof callId === 'string' && callId !== '' && callId !== id ? callId : null
}

/** The other id of a call that has two. */
export function otherNameOf({ origin }: ToolCallPart): string | null {
  const other = origin?.fields?.[OTHER_ID]
  return typeof other === 'string' && other !== '' ? other : null
}

/** Restores the ids that the calls had in the source. */
function byId(message: Message): Message {
  if (message.role !== 'assistant') return message
  const parts = message.parts.map((part) => {
    if (part.type !== 'tool-call' || part.origin?.format !== FORMAT) return part
    const { [OTHER_ID]: id, ...fields } = part.origin.fields ?? {}
    return typeof id === 'string' ? { ...part, id, origin: { ...part.origin, fields } } : part
  })
  return { ...message, parts }
}

function writeRow(row: JsonObject, message: Message): JsonObject {
  const { [WRITTEN]: written, ...columns } = row
  const own = message.role === 'tool' ? message.parts[0]?.origin : originOf(message)
  const words = own?.format === FORMAT ? (own.shape?.split(' ') ?? []) : []
  const texts: { [name: string]: JsonValue } = {}
  for (const { name, mark, word } of LISTS) {
    const found = words.find((one) => one.startsWith(word))
    const value = columns[name]
    if (found === undefined || typeof value !== 'object' || value === null) continue
    const style = (found.slice(word.length + 1) || 'compact') as JsonStyle
    texts[name] = mark + writeJson(name === 'content' ? asFirstSpelled(value) : value, style)
  }
  return { ...columns, ...texts, ...(isObject(written) && written) }
}

function originOf(message: Message): Origin | undefined {
  return 'origin' in message ? message.origin : undefined
}

/** From seconds since 1970, or from a timestamp as text. */
function timeOf(stamp: JsonValue | undefined): string | undefined {
  if (typeof stamp === 'string') return stamp
  const date = typeof stamp === 'number' ? new Date(stamp * 1000) : undefined
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/** Hermes' own summaries are recognized by their beginning. */
function isHandoffText(message: Extract<Message, { role: 'user' }>): boolean {
  const [first] = message.parts
  return first?.type === 'text' && /^\[CONTEXT (?:COMPACTION|SUMMARY)/.test(first.text)
}
