import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite'
import { isArray, isObject } from '#core/base/json'
import { parsePythonJson } from '#core/message/formats/hermes/python-json'
import { HermesStoreError } from './errors.ts'
import type { HermesSchema } from './schema.ts'

/**
 * Rows of a Hermes store as values. A column may be absent, and SQLite stores any type in any
 * column, so every value is read by its actual type. Messages stream in id order.
 */
export interface HermesSession {
  readonly id: string
  readonly source: string
  readonly parentId: string | null
  readonly startedAt: number | null
  readonly endedAt: number | null
  readonly endReason: string | null
  readonly lastActivityAt: number | null
  /** By `model_config`: how it came from its parent, if not by compaction. */
  readonly origin: 'branch' | 'delegate' | 'reset' | null
  readonly model: string | null
  readonly title: string | null
  readonly sessionKey: string | null
  readonly toolCallCount: number | null
  readonly cooldownUntil: number | null
  readonly cooldownError: string | null
  readonly fallbackStreak: number
  readonly ineffectiveCount: number
}

/** Live: in the context. Archived: summarized away, still there. Rewound: taken back by the user. */
export type RowState = 'live' | 'archived' | 'rewound'

export interface HermesRow {
  readonly id: number
  readonly sessionId: string
  readonly role: string
  /** The start of the content, at most `TEXT_BYTES_MAX`. */
  readonly text: string
  readonly contentBytes: number
  readonly at: number | null
  readonly state: RowState
  readonly isSummary: boolean
  readonly toolCallId: string | null
  /** Ids of its calls; null if `tool_calls` is unreadable. */
  readonly callIds: readonly string[] | null
  /** For calls with a second id: from that id to the one above. */
  readonly otherNames: ReadonlyMap<string, string> | null
}

const TEXT_BYTES_MAX = 2_048
const CALLS_BYTES_MAX = 16 * 1024 * 1024
const TEXTS_MAX = 1_000

/** Lazy. An id that occurs twice in a damaged table is returned twice. */
export function* readSessions(
  database: DatabaseSync,
  schema: HermesSchema,
): Generator<HermesSession> {
  const has = schema.columns.get('sessions') ?? new Set()
  const column = (name: string) => (has.has(name) ? `"${name}"` : `null`)
  const names = [
    ...['id', 'source', 'parent_session_id', 'started_at', 'ended_at', 'end_reason'],
    ...['model_config', 'model', 'title', 'session_key', 'tool_call_count'],
    ...['compression_failure_cooldown_until', 'compression_failure_error'],
    ...['compression_fallback_streak', 'compression_ineffective_count', 'last_activity_at'],
  ]
  const statement = prepareArrays(
    database,
    `select ${names.map(column).join(', ')} from "sessions" order by rowid`,
  )
  const once = oncePerText()
  for (const row of statement.iterate() as unknown as Iterable<readonly SQLOutputValue[]>) {
    const [id, source, parent, started, ended, reason, config, model, title, key] = row
    const [, , , , , , , , , , calls, until, error, fallbacks, ineffective, active] = row
    const text = columnText(id)
    if (text === null) continue
    yield {
      id: text,
      source: once(columnText(source)) ?? '',
      parentId: columnText(parent),
      startedAt: numberOf(started),
      endedAt: numberOf(ended),
      endReason: once(columnText(reason)),
      lastActivityAt: numberOf(active),
      origin: originOf(columnText(config)),
      model: once(columnText(model)),
      title: columnText(title),
      sessionKey: columnText(key),
      toolCallCount: numberOf(calls),
      cooldownUntil: numberOf(until),
      cooldownError: columnText(error),
      fallbackStreak: numberOf(fallbacks) ?? 0,
      ineffectiveCount: numberOf(ineffective) ?? 0,
    }
  }
}

/** SQLite returns a new string for every row; equal ones are shared. */
function oncePerText(): (text: string | null) => string | null {
  const known = new Map<string, string>()
  return (text) => {
    if (text === null) return null
    const first = known.get(text)
    if (first === undefined && known.size < TEXTS_MAX) known.set(text, text)
    return first ?? text
  }
}

export function* scanMessages(
  database: DatabaseSync,
  schema: HermesSchema,
  path: string,
): Generator<HermesRow> {
  const statement = prepareArrays(database, `${selectMessages(schema)} order by id`)
  let lastId = Number.NEGATIVE_INFINITY
  for (const row of statement.iterate() as unknown as Iterable<readonly SQLOutputValue[]>) {
    // A damaged B-tree may contain cycles.
    if (Number(row[0]) < lastId) throw damagedAt(path, 'is not in order at', row[0])
    lastId = Number(row[0])
    yield hermesRow(row)
  }
}

/** Reads one row that `scanMessages` returned, by its id. */
export type ReadRow = (id: number) => HermesRow | null

export function messageReader(database: DatabaseSync, schema: HermesSchema): ReadRow {
  const statement = prepareArrays(database, `${selectMessages(schema)} where id = ?`)
  return (id) => {
    const row = statement.get(id) as unknown as readonly SQLOutputValue[] | undefined
    return row === undefined ? null : hermesRow(row)
  }
}

/**
 * The session of each message, in id order. SQLite reads the content without returning it, so that
 * a file with unreadable text is refused before any import begins.
 */
export function* scanOwners(
  database: DatabaseSync,
  schema: HermesSchema,
  path: string,
): Generator<Pick<HermesRow, 'id' | 'sessionId'>> {
  const has = schema.columns.get('messages') ?? new Set()
  // SQLite knows the length of a bare column without reading it.
  const read = ['content', 'tool_calls']
    .filter((name) => has.has(name))
    .map((name) => `length(cast("${name}" as blob))`)
  const statement = prepareArrays(
    database,
    `select id, session_id, ${read.join(', ')} from "messages" order by id`,
  )
  let lastId = Number.NEGATIVE_INFINITY
  for (const row of statement.iterate() as unknown as Iterable<readonly SQLOutputValue[]>) {
    const id = Number(row[0])
    if (id < lastId) throw damagedAt(path, 'is not in order at', row[0])
    // It would be rounded to the id of another row, whose text would be imported.
    if (!Number.isSafeInteger(id)) throw damagedAt(path, 'has the impossible', row[0])
    lastId = id
    yield { id, sessionId: columnText(row[1]) ?? '' }
  }
}

function prepareArrays(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql)
  statement.setReadBigInts(true)
  statement.setReturnArrays(true)
  return statement
}

function selectMessages(schema: HermesSchema): string {
  const has = schema.columns.get('messages') ?? new Set()
  const column = (name: string) => (has.has(name) ? `"${name}"` : `null`)
  // Cut as bytes: SQLite's text functions stop at NUL, with which multimodal content begins.
  return `select id, session_id, role,
       case when octet_length(content) <= ${TEXT_BYTES_MAX} then content
         else substr(cast(content as blob), 1, ${TEXT_BYTES_MAX}) end,
       octet_length(content), timestamp, ${column('active')}, ${column('compacted')},
       ${column('_compressed_summary')}, ${column('tool_call_id')},
       case when octet_length(${column('tool_calls')}) <= ${CALLS_BYTES_MAX}
         then ${column('tool_calls')} when ${column('tool_calls')} is not null then '!' end
     from "messages"`
}

function hermesRow(row: readonly SQLOutputValue[]): HermesRow {
  const [id, session, role, content, bytes, at, active, compacted, summary, callId, calls] = row
  const made = callsOf(calls)
  return {
    id: Number(id),
    sessionId: columnText(session) ?? '',
    role: columnText(role) ?? '',
    text: columnText(content) ?? '',
    contentBytes: Number(bytes ?? 0),
    at: numberOf(at),
    state: stateOf(active, compacted),
    isSummary: summary === 1n,
    toolCallId: columnText(callId),
    callIds: made?.map(([name]) => name) ?? null,
    otherNames: otherNamesOf(made),
  }
}

/** Null: no call has a second id. */
function otherNamesOf(calls: readonly CallNames[] | null): ReadonlyMap<string, string> | null {
  const others = calls?.filter(([id, other]) => id !== other) ?? []
  return others.length === 0 ? null : new Map(others.map(([id, other]) => [other, id]))
}

function damagedAt(
  path: string,
  problem: string,
  id: SQLOutputValue | undefined,
): HermesStoreError {
  return new HermesStoreError({
    path,
    verdict: 'damaged',
    problem: `its table of messages ${problem} id ${id}. Look for a backup.`,
  })
}

export function hasColumns(schema: HermesSchema, table: string, names: readonly string[]): boolean {
  const there = schema.columns.get(table)
  return there !== undefined && names.every((name) => there.has(name))
}

/** The system prompt of each session: in its own row, or shared by the hash of the text. */
export function readSystemPrompts(
  database: DatabaseSync,
  schema: HermesSchema,
): (sessionId: string) => string | null {
  const has = schema.columns.get('sessions') ?? new Set()
  const isShared =
    has.has('system_prompt_hash') && hasColumns(schema, 'system_prompts', ['hash', 'prompt'])
  const own = has.has('system_prompt') ? 'system_prompt' : 'null'
  const statement = database.prepare(
    isShared
      ? `select coalesce(${own}, (select prompt from "system_prompts"
           where hash = system_prompt_hash)) as prompt from "sessions" where id = ?`
      : `select ${own} as prompt from "sessions" where id = ?`,
  )
  return (sessionId) => columnText(statement.get(sessionId)?.['prompt']) || null
}

export interface Hold {
  readonly name: string
  readonly until: number
}

export function readLocks(database: DatabaseSync, schema: HermesSchema): Hold[] {
  if (!hasColumns(schema, 'compression_locks', ['session_id', 'expires_at'])) return []
  const rows = database.prepare('select session_id, expires_at from "compression_locks"').all()
  return rows.map((row) => ({
    name: columnText(row['session_id']) ?? '',
    until: numberOf(row['expires_at']) ?? 0,
  }))
}

/** Consecutive failures of the gateway's own compaction, by session key. */
export function readHygiene(database: DatabaseSync, schema: HermesSchema): Map<string, number> {
  if (!hasColumns(schema, 'gateway_hygiene_state', ['session_key', 'failure_streak'])) {
    return new Map()
  }
  const rows = database
    .prepare('select session_key, failure_streak from "gateway_hygiene_state"')
    .all()
  return new Map(
    rows.map((row) => [columnText(row['session_key']) ?? '', numberOf(row['failure_streak']) ?? 0]),
  )
}

/** `active` and `compacted` were added together; if only `compacted` exists, it decides. */
export function stateOf(
  active: SQLOutputValue | undefined,
  compacted: SQLOutputValue | undefined,
): RowState {
  if (active === 0n) return compacted === 1n ? 'archived' : 'rewound'
  return active === null && compacted === 1n ? 'archived' : 'live'
}

function originOf(config: string | null): HermesSession['origin'] {
  const value = config === null ? null : parsePythonJson(config)
  if (!isObject(value)) return null
  const says = (key: string) => value[key] !== undefined && value[key] !== null
  if (says('_branched_from')) return 'branch'
  if (says('_delegate_from')) return 'delegate'
  return says('_reset_from') ? 'reset' : null
}

/** Null: unreadable. */
export function callIdsOf(value: SQLOutputValue | undefined): readonly string[] | null {
  return callsOf(value)?.map(([id]) => id) ?? null
}

/** The ids of each call, first the one that results use: Hermes prefers `call_id` to `id`. */
function callsOf(value: SQLOutputValue | undefined): readonly CallNames[] | null {
  const text = columnText(value)
  if (text === null || text === '') return NO_CALLS
  const calls = parsePythonJson(text)
  if (!isArray(calls)) return calls === null && text.trim() === 'null' ? NO_CALLS : null
  return calls.flatMap((call): CallNames[] => {
    if (!isObject(call)) return []
    const [id, other] = [call['call_id'], call['id']].filter(isName)
    return id === undefined ? [] : [[id, other ?? id]]
  })
}

type CallNames = readonly [string, string]
const NO_CALLS: readonly CallNames[] = []

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Text unchanged, bytes as UTF-8, numbers as digits. */
export function columnText(value: SQLOutputValue | undefined): string | null {
  if (value === null || value === undefined) return null
  if (!(value instanceof Uint8Array)) return String(value)
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString()
}

export function numberOf(value: SQLOutputValue | undefined): number | null {
  if (value === null || value === undefined || value instanceof Uint8Array) return null
  const number = Number(value)
  return Number.isFinite(number) ? number : null
}
