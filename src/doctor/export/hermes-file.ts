import { hash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import type { JsonObject, JsonValue } from '../../base/json.ts'
import { secondsOf } from './hermes-row.ts'
import { MESSAGE_COLUMNS, SCHEMA } from './hermes-schema.ts'

/** A new Hermes store with one session in it, written in one transaction. */
export type WrittenState = 'live' | 'archived' | 'rewound'

export interface NewSession {
  readonly id: string
  readonly startedAt: number
  readonly title: string | null
  readonly system: string | null
  readonly source: string
  readonly keys: readonly { readonly channel: string; readonly key: string }[]
  readonly now: number
}

/** What Hermes tells rows apart by: two that agree in all of it would pass for copies. */
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

  constructor(path: string) {
    // SQLite takes an empty file for a new database, and it will hold what people said.
    writeFileSync(path, '', { flag: 'a', mode: 0o600 })
    this.#database = new DatabaseSync(path, { enableForeignKeyConstraints: true })
    this.#database.exec(`pragma synchronous = off; begin; ${SCHEMA}`)
    const columns = MESSAGE_COLUMNS.map((name) => `"${name}"`).join(', ')
    this.#insert = this.#database.prepare(
      `insert into messages (${columns}) values (${MESSAGE_COLUMNS.map(() => '?').join(', ')})`,
    )
  }

  begin(session: NewSession): void {
    const { id, startedAt, title, system, source, keys, now } = session
    this.#id = id
    const [key] = keys
    this.#database
      .prepare(
        `insert into sessions (id, source, started_at, title, system_prompt, session_key)
         values (?, ?, ?, ?, ?, ?)`,
      )
      .run(id, source, secondsOf(startedAt), title, system, key?.key ?? null)
    for (const one of keys) {
      const entry = { session_key: one.key, session_id: id, platform: one.channel }
      this.#database
        .prepare('insert or ignore into gateway_routing values (?, ?, ?, ?)')
        .run('default', one.key, JSON.stringify(entry), now)
    }
  }

  /** The row as it was written; given again, it is a copy and keeps its time. */
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

function columnOf(name: string, value: JsonValue | undefined): string | number | null {
  if (value === undefined || value === null) return name === 'observed' ? 0 : null
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'object' ? JSON.stringify(value) : value
}

function callsIn({ tool_calls: calls }: JsonObject): number {
  try {
    const list = typeof calls === 'string' ? (JSON.parse(calls) as unknown) : null
    return Array.isArray(list) ? list.length : 0
  } catch {
    return 0
  }
}
