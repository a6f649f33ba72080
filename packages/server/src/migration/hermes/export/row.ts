import { isObject, type JsonObject, type JsonValue } from '#core/base/json'
import { hermesFormat } from '#core/message/formats/hermes/hermes'
import { writeJson } from '#core/message/formats/hermes/python-json'
import { writeEnvelope } from '#core/message/handoff/envelope'
import type { Handoff } from '#core/message/handoff/handoff'
import type { Message, Origin } from '#core/message/message'
import { textOf } from '#core/message/text'
import type { Entry } from '#core/store/tables/rows'
import { isHandoff } from '../diagnose/survey.ts'
import type { OddValue } from '../read/raw-rows.ts'

/** Entries as Hermes rows: their original columns if they came from Hermes, else equivalents. */
const LIST_MARK = '\0json:'
const PREFIX = '[CONTEXT COMPACTION \u2014 REFERENCE ONLY] '

export function messageRow(message: Message, at: number): readonly JsonObject[] {
  const rows = hermesFormat.format({ format: 'hermes', messages: [message], notes: [] })
  return (rows as readonly JsonObject[]).map((row) => asColumns(row, at))
}

/** Null if it was erased. */
export function handoffRow(entry: Entry): JsonObject | null {
  const handoff = handoffIn(entry)
  if (handoff === null) return null
  const whole = handoff.preserved.find(({ message }) => isRow(message, entry))
  const [row] = whole === undefined ? [] : messageRow(whole.message, entry.at)
  const { as_written: written, ...fields } = fieldsIn(handoff)
  return {
    ...{ ...fields, ...row, role: 'user', content: row?.['content'] ?? textIn(handoff) },
    ...{ timestamp: fields['timestamp'] ?? secondsOf(entry.at), _compressed_summary: 1 },
    ...(isObject(written) && written),
  }
}

/** The entries that it kept although they precede the covered range. */
export function preservedNumbers(entry: Entry): ReadonlySet<number> {
  const handoff = handoffIn(entry)
  if (handoff?.by !== 'given') return new Set()
  const apart = handoff.preserved.filter(({ message }) => !isRow(message, entry))
  return new Set(apart.map(({ number }) => number))
}

/** A summary that shared a row with an image is kept together with that row. */
function isRow(message: Message, { meta }: Entry): boolean {
  return 'row' in meta && meta.row !== undefined && message.origin?.at === meta.row
}

/** For a handoff that was a Hermes row: the other columns of that row. */
function fieldsIn(handoff: Handoff & { readonly origin?: Origin }): JsonObject {
  return handoff.origin?.format === 'hermes' ? (handoff.origin.fields ?? {}) : {}
}

function textIn(handoff: Handoff): string {
  const { summary } = handoff
  if (handoff.by === 'given') {
    return isHandoff({ role: 'user', text: summary, isSummary: false }) ? summary : PREFIX + summary
  }
  return PREFIX + textOf(writeEnvelope(handoff))
}

function handoffIn({ kind, body }: Entry): Handoff | null {
  if (kind !== 'compaction' || body === null) return null
  const value = JSON.parse(body) as JsonValue
  const isHandoffBody = isObject(value) && Array.isArray(value['preserved'])
  if (isHandoffBody) return value as unknown as Handoff
  // A clearing in a conversation without a handoff.
  if (isObject(value) && Object.keys(value).length === 0) return null
  // Written by a caller's own loop: its text is used unchanged.
  const nothing = { preserved: [], tasks: [], files: [], ledger: [] }
  return { version: 1, by: 'given', covers: 0, kept: 0, compactions: 1, ...nothing, summary: body }
}

function asColumns(row: JsonObject, at: number): JsonObject {
  const { content, name, tool_calls: calls } = row
  return {
    ...row,
    ...(name !== undefined && { tool_name: row['tool_name'] ?? name }),
    ...(isList(content) && { content: LIST_MARK + writeJson(content, 'python') }),
    ...(isList(calls) && { tool_calls: writeJson(calls, 'python') }),
    timestamp: row['timestamp'] ?? secondsOf(at),
  }
}

function isList(value: JsonValue | undefined): value is JsonObject | readonly JsonValue[] {
  return typeof value === 'object' && value !== null && !isOdd(value)
}

/** A value that JSON cannot express, in the form in which an import stores it. */
export function isOdd(value: JsonValue): value is OddValue {
  if (!isObject(value)) return false
  const [key = '', ...others] = Object.keys(value)
  return others.length === 0 && ['blob', 'integer', 'real'].includes(key)
}

/** Chosen so that truncating to milliseconds gives `ms` again. */
export function secondsOf(ms: number): number {
  const seconds = ms / 1_000
  return Math.floor(seconds * 1_000) === ms ? seconds : seconds + 5e-7
}
