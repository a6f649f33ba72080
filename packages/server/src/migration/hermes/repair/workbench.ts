import { createHash } from 'node:crypto'
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { isObject } from '#core/base/json'
import { parsePythonJson } from '#core/message/formats/hermes/python-json'
import type { HermesRoute } from '../diagnose/routes.ts'
import type { HermesSession } from '../read/rows.ts'
import type { HermesSchema } from '../read/schema.ts'
import type { LostRow } from './lost-rows.ts'
import type { Branch, Detached, Hidden, Shell } from './plan.ts'
import type { Change } from './report.ts'

/**
 * The operations of a repair on the copy's own tables, whatever columns they have. Each reports
 * what it changed; none removes anything.
 */
export class Workbench {
  readonly database: DatabaseSync
  readonly #schema: HermesSchema
  readonly #now: number
  readonly #changes: Change[] = []
  /** Ids up to here existed before the repair. */
  readonly #lastId: number

  constructor(database: DatabaseSync, schema: HermesSchema, now: number) {
    this.database = database
    this.#schema = schema
    this.#now = now
    const row = database.prepare('select max(id) as id from "messages"').get()
    this.#lastId = Number(row?.['id'] ?? 0)
  }

  get changes(): readonly Change[] {
    return this.#changes
  }

  note(change: Change): void {
    this.#changes.push(change)
  }

  #has(table: string, column: string): boolean {
    return this.#schema.columns.get(table)?.has(column) === true
  }

  /** Adds a missing session that others name, with the columns that the table requires. */
  addSession(id: string, startedAt: number | null): void {
    const given: { readonly [name: string]: SQLInputValue } = {
      ...{ id, source: 'recovered', started_at: startedAt ?? this.#now },
    }
    const needed = this.database
      .prepare(`select name, type from pragma_table_info('sessions')
        where "notnull" = 1 and dflt_value is null or lower(name) in ('id', 'source', 'started_at')`)
      .all()
    const names = needed.map((column) => String(column['name']))
    const values = needed.map((column) => {
      const value = given[String(column['name']).toLowerCase()]
      return value ?? (/char|text|clob/i.test(String(column['type'])) ? '' : 0)
    })
    const list = names.map((name) => `"${name.replaceAll('"', '""')}"`).join(', ')
    this.database
      .prepare(`insert into "sessions" (${list}) values (${names.map(() => '?').join(', ')})`)
      .run(...values)
    this.note({ kind: 'session-added', sessionId: id })
  }

  reopen({ id, endedAt, endReason }: HermesSession): void {
    this.database
      .prepare('update "sessions" set ended_at = null, end_reason = null where id = ?')
      .run(id)
    const kind = 'session-reopened'
    this.note({ kind, sessionId: id, endedAt, endReason: endReason ?? '' })
  }

  closeShell({ sessionId, parentId, isMarked }: Shell): void {
    this.#close(sessionId, 'orphaned_compression')
    if (isMarked) this.#mark(sessionId, parentId)
    this.note({ kind: 'shell-closed', sessionId, parentId })
  }

  closeBranch({ head, parentId, sessions, tip }: Branch): void {
    for (const { session } of sessions) {
      if (session.endReason !== 'compression') this.#close(session.id, 'branched')
    }
    this.#mark(head, parentId)
    this.note({ kind: 'branch-closed', sessionId: head, parentId, tip })
  }

  detach({ sessionId, parentId, why }: Detached): void {
    this.database
      .prepare('update "sessions" set parent_session_id = null where id = ?')
      .run(sessionId)
    this.note({ kind: 'session-detached', sessionId, parentId, why })
  }

  moveClosing({ sessionId, next, closedAt }: Hidden): void {
    this.database
      .prepare('update "sessions" set ended_at = ? where id = ?')
      .run(closedAt, sessionId)
    this.note({ kind: 'closing-moved', sessionId, next })
  }

  #close(id: string, reason: string): void {
    this.database
      .prepare(
        `update "sessions" set ended_at = coalesce(ended_at, ?), end_reason = ? where id = ?`,
      )
      .run(this.#now, reason, id)
  }

  /** Hermes' own mark for a child that does not continue its parent. */
  #mark(id: string, parentId: string): void {
    if (!this.#has('sessions', 'model_config')) return
    const row = this.database
      .prepare('select model_config as c from "sessions" where id = ?')
      .get(id)
    const before = parse(row?.['c'])
    const kept = isObject(before) ? before : before === null ? {} : { _before_repair: before }
    const config = JSON.stringify({ ...kept, _branched_from: parentId })
    this.database.prepare('update "sessions" set model_config = ? where id = ?').run(config, id)
  }

  append({ rowId, sessionId, tip }: LostRow): void {
    const columns = [...(this.#schema.columns.get('messages') ?? [])]
    const copied = columns.filter((name) => !NOT_COPIED.has(name))
    const quoted = copied.map((name) => `"${name.replaceAll('"', '""')}"`)
    const values = copied.map((name, index) => {
      if (name === 'session_id') return '?'
      if (name === 'active') return '1'
      return name === 'compacted' ? '0' : quoted[index]
    })
    const added = this.database
      .prepare(
        `insert into "messages" (${quoted.join(', ')})
         select ${values.join(', ')} from "messages" where id = ? returning id, tool_calls as calls`,
      )
      .get(tip, rowId)
    const calls = parse(added?.['calls'])
    this.#count(tip, 'message_count', 1)
    this.#count(tip, 'tool_call_count', Array.isArray(calls) ? calls.length : 0)
    const about = { sessionId: tip, rowId: Number(added?.['id']), ofRowId: rowId }
    this.note({ kind: 'row-appended', ...about, ofSessionId: sessionId })
  }

  #count(id: string, column: 'message_count' | 'tool_call_count', more: number): void {
    if (more === 0 || !this.#has('sessions', column)) return
    this.database
      .prepare(`update "sessions" set ${column} = coalesce(${column}, 0) + ? where id = ?`)
      .run(more, id)
  }

  moveRoute({ key, entry, from, sessionId }: HermesRoute, to: string): void {
    if (from === 'gateway_routing') {
      const moved = JSON.stringify({ ...entry, session_id: to })
      const same = JSON.stringify(entry)
      // The same key can occur in several scopes; only rows that lead to that session are moved.
      for (const row of this.database
        .prepare('select rowid, entry_json as entry from "gateway_routing" where session_key = ?')
        .all(key)) {
        if (JSON.stringify(parse(row['entry'])) !== same) continue
        this.database
          .prepare('update "gateway_routing" set entry_json = ? where rowid = ?')
          .run(moved, row['rowid'] ?? null)
      }
    }
    this.note({ kind: 'route-moved', key, from: sessionId, to })
  }

  /** Adds missing sessions that rows refer to; clears other references that lead nowhere. */
  mendReferences(): void {
    for (const { table, column, rowid, parent, value } of this.#loose()) {
      if (parent.toLowerCase() === 'sessions') {
        const isThere = this.database.prepare('select 1 from "sessions" where id = ?').get(value)
        if (isThere === undefined) this.addSession(value, null)
        continue
      }
      this.database.prepare(`update "${table}" set "${column}" = null where rowid = ?`).run(rowid)
      this.note({ kind: 'reference-cleared', table, column, value })
    }
  }

  #loose() {
    const broken = this.database
      .prepare(
        `select f."table" as "table", f.rowid as rowid, f.parent as parent, l."from" as "column"
         from pragma_foreign_key_check f join pragma_foreign_key_list(f."table") l on l.id = f.fkid
         where f.rowid is not null`,
      )
      .all()
    return broken.map((row) => {
      const table = String(row['table']).replaceAll('"', '""')
      const column = String(row['column']).replaceAll('"', '""')
      const rowid = row['rowid'] ?? null
      const found = this.database
        .prepare(`select "${column}" as value from "${table}" where rowid = ?`)
        .get(rowid)
      return {
        table,
        column,
        rowid,
        parent: String(row['parent']),
        value: String(found?.['value']),
      }
    })
  }

  /** A digest of all original rows, without the columns that a repair may change. */
  witness(): string {
    const hash = createHash('sha256')
    const messages = this.database.prepare('select * from "messages" where id <= ? order by id')
    for (const row of rowsOf(messages, this.#lastId)) feed(hash, row)
    const kept = [...(this.#schema.columns.get('sessions') ?? [])]
      .filter((name) => !CHANGEABLE.has(name))
      .map((name) => `"${name.replaceAll('"', '""')}"`)
    const added = this.#changes.flatMap((one) => {
      return one.kind === 'session-added' ? [one.sessionId] : []
    })
    const sessions = this.database.prepare(
      `select ${kept.join(', ')} from "sessions"
       where id not in (select value from json_each(?)) order by rowid`,
    )
    for (const row of rowsOf(sessions, JSON.stringify(added))) feed(hash, row)
    return hash.digest('hex')
  }
}

/** Triggers fill the display columns. */
const NOT_COPIED = new Set(['id', 'display_identity', 'display_order'])
const CHANGEABLE = new Set([
  ...['ended_at', 'end_reason', 'model_config', 'message_count', 'tool_call_count'],
  ...['system_prompt_hash', 'parent_session_id'],
])

function rowsOf(
  statement: ReturnType<DatabaseSync['prepare']>,
  value: SQLInputValue,
): Iterable<readonly SQLOutputValue[]> {
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  return statement.iterate(value) as unknown as Iterable<readonly SQLOutputValue[]>
}

/** Hashes sizes too, so that text moved from one column to the next is noticed. */
function feed(hash: ReturnType<typeof createHash>, row: readonly SQLOutputValue[]): void {
  for (const value of row) {
    const isBlob = value instanceof Uint8Array
    const bytes = isBlob ? value : Buffer.from(String(value))
    hash.update(`${isBlob ? 'blob' : typeof value} ${bytes.byteLength} `).update(bytes)
  }
}

function parse(value: SQLOutputValue | undefined): unknown {
  if (value === null || value === undefined) return null
  return parsePythonJson(String(value)) ?? String(value)
}
