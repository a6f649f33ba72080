import { isUtf8 } from 'node:buffer'
import type { DatabaseSync } from 'node:sqlite'
import { MESSAGE_COLUMNS, SESSION_COLUMNS } from '../export/schema.ts'
import type { OpenedStore } from '../read/open.ts'
import { hasColumns } from '../read/rows.ts'
import type { HermesSchema } from '../read/schema.ts'
import { findSearchFaults, type SearchFault } from '../read/search-index.ts'
import type { TornRoute } from './routes.ts'

/** Damage of the file itself, independent of its conversations. */
export interface Condition {
  readonly search: readonly SearchFault[]
  /** SQLite's report on the tables and their indexes; null: they agree. */
  readonly damage: string | null
  /** Rows with invalid UTF-8, which Python refuses to read. */
  readonly unreadable: readonly { readonly id: number; readonly sessionId: string }[]
  readonly unreadableCount: number
  readonly unreadableSessions: readonly string[]
  readonly nameless: { readonly sessions: number; readonly rows: number }
  readonly missingColumns: readonly string[]
  readonly lostFrames: number
  readonly torn: readonly TornRoute[]
}

const SAMPLE_MAX = 200

export function readCondition(
  { database, lostFrames }: OpenedStore,
  schema: HermesSchema,
  torn: readonly TornRoute[],
): Condition {
  const rows = unreadableRows(database, schema)
  return {
    ...{ lostFrames, torn },
    search: findSearchFaults(database),
    damage: damageOf(database),
    unreadable: rows.slice(0, SAMPLE_MAX),
    unreadableCount: rows.length,
    unreadableSessions: unreadableSessions(database, schema),
    nameless: {
      sessions: countOf(database, 'select count(*) as n from "sessions" where id is null'),
      rows: countOf(
        database,
        `select count(*) as n from "messages" where session_id is null or session_id = ''`,
      ),
    },
    missingColumns: missingColumns(schema),
  }
}

function countOf(database: DatabaseSync, sql: string): number {
  return Number(database.prepare(sql).get()?.['n'] ?? 0)
}

/** Only damage in tables that Hermes reads. */
function damageOf(database: DatabaseSync): string | null {
  for (const table of ['messages', 'sessions']) {
    const told = database.prepare(`pragma integrity_check("${table}")`).all()
    const problems = told
      .map((row) => String(Object.values(row)[0]))
      .filter((text) => text !== 'ok')
    const ofIndex = problems.find((text) => !text.startsWith('NULL value'))
    if (ofIndex !== undefined) return ofIndex
  }
  return null
}

function unreadableRows(database: DatabaseSync, schema: HermesSchema) {
  const found: { id: number; sessionId: string }[] = []
  const statement = database.prepare(
    `select id, session_id, ${bytesOf('messages', schema)} as bytes from "messages"`,
  )
  statement.setReadBigInts(true)
  try {
    for (const row of statement.iterate()) {
      if (isReadable(row['bytes'])) continue
      found.push({ id: Number(row['id']), sessionId: String(row['session_id']) })
    }
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_TOOBIG) throw error
  }
  return found
}

/** SQLite's code for a row beyond the value limit; rows read before it still count. */
const SQLITE_TOOBIG = 18

function unreadableSessions(database: DatabaseSync, schema: HermesSchema): readonly string[] {
  const rows = database.prepare(
    `select id, ${bytesOf('sessions', schema)} as bytes from "sessions"`,
  )
  const found: string[] = []
  for (const row of rows.iterate()) if (!isReadable(row['bytes'])) found.push(String(row['id']))
  return [...new Set([...found, ...withUnreadablePrompt(database, schema)])]
}

/** Hermes reads a session together with the prompt that it shares. */
function withUnreadablePrompt(database: DatabaseSync, schema: HermesSchema): readonly string[] {
  const isShared = hasColumns(schema, 'sessions', ['system_prompt_hash'])
  if (!isShared || !hasColumns(schema, 'system_prompts', ['hash', 'prompt'])) return []
  const sessions = database.prepare('select id from "sessions" where system_prompt_hash = ?')
  return database
    .prepare('select hash, cast(prompt as blob) as bytes from "system_prompts"')
    .all()
    .filter((row) => !isReadable(row['bytes']))
    .flatMap((row) => sessions.all(row['hash'] ?? null).map(({ id }) => String(id)))
}

/** All texts of a row as one value, without BLOB columns; Hermes reads every column of a row. */
function bytesOf(table: string, { columns }: HermesSchema): string {
  const names = [...(columns.get(table) ?? [])].map((name) => `"${name.replaceAll('"', '""')}"`)
  const texts = names.map((name) => `case typeof(${name}) when 'text' then ${name} else '' end`)
  return texts.length === 0 ? 'null' : `cast(${texts.join(' || ')} as blob)`
}

function isReadable(bytes: unknown): boolean {
  return !(bytes instanceof Uint8Array) || isUtf8(bytes)
}

/** Tables of the versions known exactly; later versions have at least these columns. */
const SESSIONS_11 = [
  ...['id', 'source', 'user_id', 'model', 'model_config', 'system_prompt', 'parent_session_id'],
  ...['started_at', 'ended_at', 'end_reason', 'message_count', 'tool_call_count', 'input_tokens'],
  ...['output_tokens', 'title', 'api_call_count'],
]
const MESSAGES_11 = [
  ...['id', 'session_id', 'role', 'content', 'tool_call_id', 'tool_calls', 'tool_name'],
  ...['timestamp', 'token_count', 'finish_reason', 'reasoning', 'reasoning_details'],
]

function missingColumns({ version, columns }: HermesSchema): readonly string[] {
  if (version === null || version < 11) return []
  const isNew = version >= 26
  const sessions = isNew ? SESSION_COLUMNS : SESSIONS_11
  const messages = isNew ? MESSAGE_COLUMNS.filter((name) => !name.startsWith('_')) : MESSAGES_11
  const lacks = (table: string, names: readonly string[]) =>
    names.filter((name) => columns.get(table)?.has(name) !== true).map((name) => `${table}.${name}`)
  return [...lacks('sessions', sessions), ...lacks('messages', messages)]
}
