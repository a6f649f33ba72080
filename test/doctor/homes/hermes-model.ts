import { rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { columnsOf, earlySearchSql, nameOf, rowDetails, sessionDetails } from './hermes-columns.ts'
import { dumps } from './python-json.ts'
import { searchSql } from './sample-stores.ts'

/**
 * A Hermes store in memory, changed by the same steps that Hermes takes, and written as the schema of
 * a version, with or without some of its columns.
 */
export interface ModelSession {
  readonly id: string
  readonly startedAt: number
  source: string
  parentId: string | null
  endedAt: number | null
  endReason: string | null
  modelConfig: string | null
  sessionKey: string | null
  cooldownUntil: number | null
  fallbackStreak: number
  ineffectiveCount: number
}

export interface ModelRow {
  readonly id: number
  readonly sessionId: string
  readonly role: string
  readonly content: string | null
  readonly at: number
  readonly toolCallId: string | null
  readonly toolCalls: string | null
  readonly isSummary: boolean
  /** The row that it repeats, where the steps made it as a copy. */
  readonly copyOf: number | null
  active: number
  compacted: number
}

export type NewRow = Pick<ModelRow, 'role' | 'content' | 'at'> &
  Partial<Pick<ModelRow, 'toolCallId' | 'toolCalls' | 'isSummary' | 'copyOf'>>

export class HermesModel {
  readonly sessions = new Map<string, ModelSession>()
  readonly routes = new Map<string, string>()
  readonly hygiene = new Map<string, number>()
  rows: ModelRow[] = []
  #lastId = 0

  open(id: string, at: number, more: Partial<ModelSession> = {}): void {
    this.sessions.set(id, {
      ...{ id, startedAt: at, source: 'telegram', parentId: null, endedAt: null, endReason: null },
      ...{ modelConfig: null, sessionKey: null, cooldownUntil: null },
      ...{ fallbackStreak: 0, ineffectiveCount: 0 },
      ...more,
    })
  }

  close(id: string, at: number, reason: string): void {
    const session = this.#session(id)
    session.endedAt = at
    session.endReason = reason
  }

  append(sessionId: string, row: NewRow): ModelRow {
    this.#lastId += 1
    const added: ModelRow = {
      ...{ toolCallId: null, toolCalls: null, isSummary: false, copyOf: null },
      ...row,
      ...{ active: 1, compacted: 0 },
      id: this.#lastId,
      sessionId,
    }
    this.rows.push(added)
    return added
  }

  copy(sessionId: string, row: ModelRow, at = row.at): ModelRow {
    return this.append(sessionId, { ...row, at, copyOf: row.copyOf ?? row.id })
  }

  live(sessionId: string): ModelRow[] {
    return this.rows.filter((row) => row.sessionId === sessionId && row.active === 1)
  }

  /** Deletes all rows and writes others, a microsecond apart. */
  replace(sessionId: string, rows: readonly Omit<NewRow, 'at'>[], at: number): number {
    const before = this.rows.length
    this.rows = this.rows.filter((row) => row.sessionId !== sessionId)
    const deleted = before - this.rows.length
    for (const [index, row] of rows.entries())
      this.append(sessionId, { ...row, copyOf: null, at: at + index * 1e-6 })
    return deleted
  }

  #session(id: string): ModelSession {
    const session = this.sessions.get(id)
    if (session === undefined) throw new Error(`no session ${id}`)
    return session
  }
}

export interface StoreShape {
  readonly version: number | null
  readonly sessionColumns: ReadonlySet<string>
  readonly messageColumns: ReadonlySet<string>
  readonly hasRouting: boolean
  /** Foreign keys, a search index and its triggers, as Hermes itself has them. */
  readonly hasIndex?: boolean
}

export function writeStore(model: HermesModel, shape: StoreShape, path: string): void {
  rmSync(path, { force: true })
  const database = new DatabaseSync(path, { enableForeignKeyConstraints: false })
  database.exec('pragma journal_mode = off; pragma synchronous = off')
  const all = columnsOf(30)
  const sessions = all.sessions.filter((column) => shape.sessionColumns.has(nameOf(column)))
  const messages = all.messages.filter((column) => shape.messageColumns.has(nameOf(column)))
  database.exec('begin')
  const parent = ', foreign key (parent_session_id) references sessions (id)'
  const session = ', foreign key (session_id) references sessions (id)'
  database.exec(`create table sessions (${sessions.join(', ')}${shape.hasIndex ? parent : ''})`)
  database.exec(`create table messages (${messages.join(', ')}${shape.hasIndex ? session : ''})`)
  if (shape.hasIndex) {
    database.exec('create table state_meta (key text primary key, value text)')
    const version = shape.version ?? 11
    database.exec(version < 11 ? earlySearchSql(version) : searchSql(shape.hasRouting ? 26 : 11))
    if (shape.sessionColumns.has('title')) {
      database.exec('create unique index titles on sessions (title) where title is not null')
    }
  }
  if (shape.version !== null) {
    database.exec('create table schema_version (version integer not null)')
    database.prepare('insert into schema_version values (?)').run(shape.version)
  }
  const insert = (table: string, columns: readonly string[]) => {
    const names = columns.map(nameOf)
    const statement = database.prepare(
      `insert into ${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`,
    )
    return (values: { readonly [name: string]: string | number | null }) =>
      statement.run(...names.map((name) => values[name] ?? DEFAULTS[name] ?? null))
  }
  const addSession = insert('sessions', sessions)
  for (const [index, session] of [...model.sessions.values()].entries()) {
    addSession({
      ...sessionDetails(index),
      ...{ id: session.id, source: session.source, parent_session_id: session.parentId },
      ...{ started_at: session.startedAt, ended_at: session.endedAt },
      ...{ end_reason: session.endReason, model_config: session.modelConfig },
      ...{ session_key: session.sessionKey, model: 'some-model' },
      compression_failure_cooldown_until: session.cooldownUntil,
      compression_fallback_streak: session.fallbackStreak,
      compression_ineffective_count: session.ineffectiveCount,
    })
  }
  const addRow = insert('messages', messages)
  for (const row of model.rows) {
    addRow({
      ...rowDetails({ id: row.copyOf ?? row.id, role: row.role, hasCalls: row.toolCalls !== null }),
      ...{ id: row.id, session_id: row.sessionId, role: row.role, content: row.content },
      ...{ timestamp: row.at, tool_call_id: row.toolCallId, tool_calls: row.toolCalls },
      ...{ active: row.active, compacted: row.compacted },
      _compressed_summary: row.isSummary ? 1 : null,
    })
  }
  if (shape.hasRouting) {
    database.exec(
      `create table gateway_routing (scope text not null default '', session_key text not null,
         entry_json text not null, updated_at real not null, primary key (scope, session_key))`,
    )
    const route = database.prepare("insert into gateway_routing values ('', ?, ?, 0)")
    for (const [key, id] of model.routes) route.run(key, dumps({ session_id: id }))
    database.exec(
      'create table gateway_hygiene_state (session_key text primary key, failure_streak integer not null)',
    )
    const streak = database.prepare('insert into gateway_hygiene_state values (?, ?)')
    for (const [key, count] of model.hygiene) streak.run(key, count)
  }
  database.exec('commit')
  database.close()
}

const DEFAULTS: { readonly [name: string]: number } = { message_count: 0, tool_call_count: 0 }
