import { isArray, isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { hermesFormat, withWritten } from '#core/message/formats/hermes/hermes'
import type { FormatName } from '#core/message/formats/names'
import type { Handoff, PreservedMessage } from '#core/message/handoff/handoff'
import type { Message, Origin, ToolCallPart, UserMessage } from '#core/message/message'
import { textOf } from '#core/message/text'
import type { AdoptedEntry } from '#core/store/adoption'
import { DEPTH_MAX } from '#core/store/integrity/canonical'
import { resultBody } from '../../stored-message.ts'
import type { RawRow } from '../read/raw-rows.ts'
import type { CallNames } from './call-names.ts'
import { findDifferences } from './differences.ts'

/** A Hermes row as an entry: its body holds every column, in our model's fields or as they were. */
export type CountMessage = (message: Message) => number

export function entryOf(row: RawRow, count: CountMessage, names?: CallNames): AdoptedEntry {
  const position = { row: row.id, at: row.at, format: 'hermes' } as const
  const make = (message: Message) => entryFor(message, position, () => 0)
  return entryFor(exact(row, make, names), position, count)
}

/** A foreign message as an entry; for a tool message, its only result. */
export function entryFor(
  message: Message,
  { row, at, format }: { readonly row: number; readonly at: number; readonly format: FormatName },
  count: CountMessage,
): AdoptedEntry {
  const base = { row, at, tokens: count(message) }
  switch (message.role) {
    case 'assistant': {
      const calls = message.parts.filter((part): part is ToolCallPart => part.type === 'tool-call')
      const ids = [...new Set(calls.map((call) => call.id))]
      return { ...base, kind: 'assistant', calls: ids, body: asBody(message) }
    }
    case 'tool': {
      const [part] = message.parts
      const outcome = part?.isError ? 'error' : 'ok'
      const body = resultBody(part, { format, at: row })
      return { ...base, kind: 'result', call: part?.callId ?? '', outcome, body }
    }
    case 'user': {
      const lane = message.synthetic ? 'notification' : 'user'
      return { ...base, kind: 'input', lane, body: asBody({ message }) }
    }
    default: {
      const told = asInput(message)
      const body = asBody({ message: told })
      return { ...base, kind: 'input', lane: 'notification', body, tokens: count(told) }
    }
  }
}

/** Kept whole but never shown to the model: rows that the user took back, misplaced handoffs. */
export function asideOf(row: RawRow): AdoptedEntry {
  const position = { row: row.id, at: row.at }
  return asideFor(
    exact(row, (message) => asideFor(message, position)),
    position,
  )
}

export function asideFor(
  message: Message,
  { row, at }: { readonly row: number; readonly at: number },
): AdoptedEntry {
  return { kind: 'aside', row, at, tokens: 0, body: asBody({ aside: message }) }
}

export interface HandoffPosition {
  readonly covers: number
  readonly kept: number
  readonly compactions: number
  /** The user's messages that Hermes kept from before the covered range. */
  readonly preserved: readonly { readonly row: RawRow; readonly number: number }[]
}

export function handoffOf(
  row: RawRow,
  position: HandoffPosition,
  count: CountMessage,
): AdoptedEntry {
  const make = (message: Message) => handoffFor(message, row, position, () => 0)
  return handoffFor(exact(row, make), row, position, count)
}

function handoffFor(
  message: Message,
  row: RawRow,
  position: HandoffPosition,
  count: CountMessage,
): AdoptedEntry {
  const { covers, kept, compactions } = position
  const preserved: PreservedMessage[] = position.preserved.flatMap(({ row: one, number }) => {
    const said = messageOf(one)
    return said.role === 'user' ? [{ message: said, number, state: 'answered' }] : []
  })
  // A summary may share a row with an image, which text alone would lose.
  const hasMore = message.role === 'user' && message.parts.some((part) => part.type !== 'text')
  if (hasMore) preserved.push({ message: message as UserMessage, number: covers, state: 'open' })
  const handoff: Handoff = {
    ...{ version: 1, by: 'given', covers, kept, compactions, preserved },
    ...{ tasks: [], files: [], ledger: [] },
    summary: textOf(message),
  }
  const body = asBody({ ...handoff, origin: ownOrigin(message) })
  const tokens = count({ role: 'handoff', handoff })
  return { kind: 'compaction', row: row.id, at: row.at, covers: covers as never, tokens, body }
}

export function messageOf(row: RawRow): Message {
  const read = tryCodec(row)
  if (read !== null && isStorable(read as unknown as JsonValue)) return withRow(read, row.id)
  // Nested too deeply to store as a value: kept as text.
  const { content, role: _, ...fields } = row.fields
  const text = typeof content === 'string' ? content : JSON.stringify(content ?? '')
  const origin = { format: 'hermes', at: row.id, fields: { ...fields, role: row.role } } as const
  const role = row.role === 'assistant' ? 'assistant' : 'user'
  return { role, parts: [{ type: 'text', text }], origin }
}

/** The row's message, extended until its entry reproduces every column of the row. */
function exact(row: RawRow, make: (message: Message) => AdoptedEntry, names?: CallNames): Message {
  const read = messageOf(row)
  const message = names?.settle(read) ?? read
  const columns = findDifferences(row, make(message))
  return Object.keys(columns).length === 0 ? message : withWritten(message, columns)
}

/** A result keeps its origin on its part. */
function ownOrigin(message: Message): Origin | undefined {
  return message.role === 'tool' ? message.parts[0]?.origin : message.origin
}

function tryCodec(row: RawRow): Message | null {
  try {
    return hermesFormat.parse([row.fields]).messages[0] ?? null
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function withRow(message: Message, at: number): Message {
  return { ...message, origin: { format: 'hermes', ...message.origin, at } }
}

/** The model gets system rows and rows of unknown roles as notifications. */
function asInput(message: Message): UserMessage {
  const parts = 'parts' in message ? message.parts : []
  const told = parts.filter((part) => part.type === 'text' || part.type === 'opaque')
  const { origin } = message
  const fields: JsonObject = { role: message.role, ...origin?.fields }
  return {
    ...{ role: 'user', synthetic: true, parts: told },
    ...(message.at !== undefined && { at: message.at }),
    ...(origin !== undefined && { origin: { ...origin, fields } }),
  }
}

function asBody(value: unknown): JsonValue {
  return value as JsonValue
}

// The body nests the message a few levels deeper.
const DEPTH_STORABLE = DEPTH_MAX - 8

export function isStorable(value: JsonValue | undefined, depth = 0): boolean {
  if (depth > DEPTH_STORABLE) return false
  if (typeof value === 'number') return Number.isFinite(value)
  if (isArray(value)) return value.every((item) => isStorable(item, depth + 1))
  if (isObject(value)) return Object.values(value).every((item) => isStorable(item, depth + 1))
  return true
}
