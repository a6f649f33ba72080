import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import type { JsonObject, JsonValue } from '#core/base/json'
import { isHandoff } from '../diagnose/survey.ts'
import type { FoldRow } from './fold-rows.ts'
import { columnText, numberOf, stateOf } from './rows.ts'
import type { HermesSchema } from './schema.ts'

/** Whole rows of a Hermes store, read one at a time by id. */
export interface RawRows {
  /** The facts that identify the row; its text is not kept. */
  factsOf(id: number): FoldRow
  /** Every column that is not null, as JSON. */
  read(id: number): RawRow
}

export type RawRow = {
  readonly id: number
  readonly role: string
  /** Milliseconds. */
  readonly at: number
  readonly fields: JsonObject
  /** The columns that the table has. */
  readonly columns: readonly string[]
  /** Values that JSON cannot express, in a notation of ours. */
  readonly odd: { readonly [column: string]: OddValue }
}

export type OddValue =
  | { readonly blob: string }
  | { readonly integer: string }
  | { readonly real: string }

const STATES = ['active', 'compacted'] as const
/** How far the doctor looks for the marks of a handoff. */
const BEGINNING = 2_048

export function rawRows(database: DatabaseSync, schema: HermesSchema): RawRows {
  const columns = [...(schema.columns.get('messages') ?? [])]
  const one = prepare(database, columns)
  const told = ['role', 'content', 'tool_calls', 'tool_call_id', 'timestamp']
  const marks = [...told, ...STATES, '_compressed_summary']
  const facts = prepare(
    database,
    marks.map((name) => (columns.includes(name) ? name : null)),
  )
  return {
    factsOf: (id) => foldRow(id, values(facts, id)),
    read: (id) => rawRow(id, columns, values(one, id)),
  }
}

/** The row of a session, without the columns that are kept elsewhere. */
export function rawSessions(
  database: DatabaseSync,
  schema: HermesSchema,
): (id: string) => JsonObject {
  const columns = [...(schema.columns.get('sessions') ?? [])].filter((name) => !KEPT.has(name))
  const list = columns.map((name) => `"${name.replaceAll('"', '""')}"`)
  const statement = database.prepare(`select ${list.join(', ')} from "sessions" where id = ?`)
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  return (id) => {
    const row = (statement.get(id) ?? []) as unknown as readonly SQLOutputValue[]
    const told = columns.flatMap((name, index): [string, JsonValue][] => {
      const value = row[index]
      return value === null || value === undefined ? [] : [[name, asJson(value)]]
    })
    return Object.fromEntries(told)
  }
}

const KEPT = new Set([
  ...['id', 'parent_session_id', 'title', 'system_prompt', 'system_prompt_hash', 'ended_at'],
  ...['end_reason', 'message_count', 'tool_call_count'],
])

function prepare(database: DatabaseSync, columns: readonly (string | null)[]): StatementSync {
  const list = columns.map((name) => (name === null ? 'null' : `"${name.replaceAll('"', '""')}"`))
  const statement = database.prepare(`select ${list.join(', ')} from "messages" where id = ?`)
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  return statement
}

function values(statement: StatementSync, id: number): readonly SQLOutputValue[] {
  return (statement.get(id) ?? []) as unknown as readonly SQLOutputValue[]
}

function foldRow(id: number, row: readonly SQLOutputValue[]): FoldRow {
  const [role, content, calls, callId, timestamp, active, compacted, summary] = row
  const text = columnText(content)
  const beginning = { text: (text ?? '').slice(0, BEGINNING), isSummary: summary === 1n }
  return {
    id,
    role: columnText(role) ?? '',
    at: numberOf(timestamp),
    state: stateOf(active, compacted),
    isHandoff: isHandoff({ role: columnText(role) ?? '', ...beginning }),
    said: JSON.stringify([columnText(role), text, columnText(calls), columnText(callId)]),
  }
}

function rawRow(id: number, columns: readonly string[], row: readonly SQLOutputValue[]): RawRow {
  const fields: { [name: string]: JsonValue } = {}
  const odd: { [column: string]: OddValue } = {}
  for (const [index, name] of columns.entries()) {
    const value = row[index]
    if (value === null || value === undefined || name === 'id') continue
    if ((STATES as readonly string[]).includes(name)) continue
    fields[name] = asJson(value)
    const exact = oddOf(value)
    if (exact !== null) odd[name] = exact
  }
  const at = Number(fields['timestamp'] ?? 0) * 1_000
  const isMoment = Number.isFinite(at) && at >= 0 && at <= Number.MAX_SAFE_INTEGER
  const role = String(fields['role'] ?? '')
  return { id, role, at: isMoment ? Math.floor(at) : 0, fields, columns, odd }
}

function oddOf(value: SQLOutputValue): OddValue | null {
  if (value instanceof Uint8Array) return { blob: Buffer.from(value).toString('base64') }
  if (typeof value === 'bigint') {
    return Number.isSafeInteger(Number(value)) ? null : { integer: String(value) }
  }
  return typeof value === 'number' && !Number.isFinite(value) ? { real: String(value) } : null
}

function asJson(value: SQLOutputValue): JsonValue {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : String(value)
  }
  if (value instanceof Uint8Array) return columnText(value)
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value
}
