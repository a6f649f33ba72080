import { hash } from 'node:crypto'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { JsonObject, JsonValue } from '#core/base/json'
import type { OddValue } from '../read/raw-rows.ts'
import { EXPORT_MARK } from '../read/schema.ts'
import { isOdd, secondsOf } from './row.ts'
import { MESSAGE_COLUMNS, SCHEMA, SESSION_COLUMNS } from './schema.ts'

/** A new Hermes store with one session in it, written in one transaction. */
export type WrittenState = 'live' | 'archived' | 'rewound'

export interface ExportedSession {
  readonly id: string
  readonly startedAt: number
  readonly title: string | null
  readonly system: string | null
  readonly source: string
  readonly keys: readonly { readonly channel: string; readonly key: string }[]
  readonly now: number
  /** For a session that came from Hermes: the other columns of its row. */
  readonly columns: JsonObject
}

/** The columns that identify a row for Hermes: rows that agree in all of them count as copies. */
const TOLD = ['role', 'content', 'tool_calls', 'tool_call_id'] as const
const STEP_SECONDS = 0.001

export class HermesFile {
  readonly #database: DatabaseSync
  readonly #insert: StatementSync
  readonly #seen = new Set<string>()
  readonly #copied = new WeakSet<JsonObject>()
  #id = ''
  #rows = 0
  #live = 0
  #calls = 0

  /** SQLite accepts an empty file as a new database. */
  constructor(path: string) {
    this.#database = new DatabaseSync(path, { enableForeignKeyConstraints: true })
    this.#database.exec(`pragma synchronous = off; begin; ${SCHEMA}`)
    const columns = MESSAGE_COLUMNS.map((name) => `"${name}"`).join(', ')
    this.#insert = this.#database.prepare(
      `insert into messages (${columns}) values (${MESSAGE_COLUMNS.map(() => '?').join(', ')})`,
    )
  }

  begin(session: ExportedSession): void {
    const { id, startedAt, title, system, source, keys, now } = session
    this.#id = id
    const [key] = keys
    const row: JsonObject = {
      ...{ source, started_at: secondsOf(startedAt), session_key: key?.key ?? null },
      ...session.columns,
      ...{ id, title, system_prompt: system },
    }
    const names = SESSION_COLUMNS.filter((name) => row[name] !== undefined && row[name] !== null)
    this.#database
      .prepare(
        `insert into sessions (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`,
      )
      .run(...names.map((name) => columnOf(name, row[name])))
    this.#database.prepare('insert into state_meta values (?, ?)').run(EXPORT_MARK, String(now))
    for (const one of keys) {
      const entry = { session_key: one.key, session_id: id, platform: one.channel }
      this.#database
        .prepare('insert or ignore into gateway_routing values (?, ?, ?, ?)')
        .run('default', one.key, JSON.stringify(entry), now)
    }
  }

  /** Returns the row as written; adding that row again writes a copy with the same time. */
  add(row: JsonObject, state: WrittenState): JsonObject {
    const written = this.#copied.has(row) ? row : this.#apart(row)
    this.#copied.add(written)
    const values: JsonObject = {
      ...written,
      session_id: this.#id,
      active: state === 'live' ? 1 : 0,
      compacted: state === 'archived' ? 1 : 0,
    }
    this.#insert.run(...MESSAGE_COLUMNS.map((name) => columnOf(name, values[name])))
    this.#rows += 1
    if (state === 'live') {
      this.#live += 1
      this.#calls += callsIn(written)
    }
    return written
  }

  #apart(row: JsonObject): JsonObject {
    const said = hash('sha256', JSON.stringify(TOLD.map((name) => row[name] ?? null)), 'base64')
    let timestamp = Number(row['timestamp'])
    while (this.#seen.has(`${timestamp} ${said}`)) timestamp += STEP_SECONDS
    this.#seen.add(`${timestamp} ${said}`)
    return { ...row, timestamp }
  }

  end(): { readonly rows: number; readonly live: number } {
    this.#database
      .prepare('update sessions set message_count = ?, tool_call_count = ? where id = ?')
      .run(this.#live, this.#calls, this.#id)
    this.#database.exec('commit')
    return { rows: this.#rows, live: this.#live }
  }

  close(): void {
    this.#database.close()
  }
}

function columnOf(name: string, value: JsonValue | undefined): SQLInputValue {
  if (value === undefined || value === null) return name === 'observed' ? 0 : null
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value !== 'object') return value
  return isOdd(value) ? exactly(value) : JSON.stringify(value)
}

function exactly(value: OddValue): SQLInputValue {
  if ('blob' in value) return Buffer.from(value.blob, 'base64')
  return 'integer' in value ? BigInt(value.integer) : Number(value.real)
}

function callsIn({ tool_calls: calls }: JsonObject): number {
  try {
    const list = typeof calls === 'string' ? (JSON.parse(calls) as unknown) : null
    return Array.isArray(list) ? list.length : 0
  } catch {
    return 0
  }
}
