import type { EntryNumber, SessionId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json.ts'
import { canonicalJson } from '../integrity/canonical.ts'
import { checkSession, parseColumn, unlessDamaged } from '../integrity/damaged-row.ts'
import type { DraftRow, NoteRow, ScheduleRow, TokenRow } from '../operational-rows.ts'
import type {
  AttemptRow,
  AuditRow,
  BlobRow,
  Entry,
  IntakeRow,
  MailRow,
  OperationRow,
  ReplyRow,
  RouteRow,
  RunnerRow,
  SessionRow,
} from '../rows.ts'
import { hasWork } from '../rules/create-session.ts'
import type { AuditDraft, SenderRow } from '../rules/ruling.ts'

/**
 * Between rows as values and rows as columns: one table of names per kind of row. Rows travel to the
 * server as JSON, many in one parameter; hashes are hex outside and bytes inside.
 */
export type Columns = Readonly<Record<string, unknown>>
type Kind = 'text' | 'int' | 'json' | 'hash'
type Fields<Row> = { readonly [Field in keyof Row]-?: readonly [column: string, kind: Kind] }

export interface Table<Row> {
  readonly name: string
  /** Comma-separated, in a fixed order, for a select or an insert. */
  readonly columns: string
  encode(row: Row): Columns
  decode(columns: Columns): Row
}

function table<Row extends object>(name: string, fields: Fields<Row>): Table<Row> {
  const all = Object.entries(fields) as [keyof Row & string, Fields<Row>[keyof Row]][]
  return {
    name,
    columns: all.map(([, [column]]) => column).join(', '),
    encode: (row) =>
      Object.fromEntries(all.map(([field, [column, kind]]) => [column, ENCODE[kind](row[field])])),
    decode: (columns) =>
      Object.fromEntries(
        all.map(([field, [column, kind]]) => {
          const value = columns[column] ?? null
          if (kind !== 'json') return [field, DECODE[kind](value)]
          return [field, parseColumn(value, column, () => rowName(name, columns))]
        }),
      ) as Row,
  }
}

function rowName(name: string, { id, session, number }: Columns): string {
  return number === undefined ? `${name} ${id}` : `${name} ${number} of session ${session}`
}

export function prefixed(columns: string, table: string): string {
  return columns.replace(/(?<=^|, )(?!null)/g, `${table}.`)
}

/** A text of PostgreSQL holds no NUL; it is written with two characters that are then escaped too. */
export function toText(text: string): string {
  const formed = text.toWellFormed()
  if (!formed.includes('\0') && !formed.includes('\u0001')) return formed
  return formed.replaceAll('\u0001', '\u0001.').replaceAll('\0', '\u0001,')
}

export function fromText(text: string): string {
  if (!text.includes('\u0001')) return text
  return text.replaceAll('\u0001,', '\0').replaceAll('\u0001.', '\u0001')
}

/** What is no hash is asked for as one that nothing has. */
export function toBytes(hex: string): string {
  return `\\x${/^(?:[0-9a-f]{2})*$/.test(hex) ? hex : ''}`
}

const ENCODE: Record<Kind, (value: unknown) => unknown> = {
  text: (value) => (value === null ? null : toText(value as string)),
  int: (value) => value,
  json: (value) => canonicalJson(value as JsonValue),
  hash: (value) => (value === null ? null : toBytes(value as string)),
}
const DECODE: Record<Exclude<Kind, 'json'>, (value: unknown) => unknown> = {
  text: (value) => (value === null ? null : fromText(value as string)),
  int: (value) => value,
  hash: (value) => (value === null ? null : (value as Buffer).toString('hex')),
}

const SESSION_FIELDS = table<SessionRow>('session', {
  id: ['id', 'text'],
  agent: ['agent', 'text'],
  state: ['state', 'text'],
  birth: ['birth', 'text'],
  createdAt: ['created_at', 'int'],
  fence: ['fence', 'int'],
  runner: ['runner', 'text'],
  holder: ['holder', 'text'],
  recovered: ['recovered', 'int'],
  tail: ['tail', 'int'],
  tailHash: ['tail_hash', 'hash'],
  base: ['base', 'int'],
  seen: ['seen', 'int'],
  effective: ['effective', 'int'],
  covers: ['covers', 'int'],
  by: ['handoff_by', 'text'],
  rewrites: ['rewrites', 'int'],
  operation: ['operation', 'text'],
  turn: ['turn', 'int'],
  turnState: ['turn_state', 'text'],
  attempts: ['attempts', 'int'],
  openCalls: ['open_calls', 'json'],
  mail: ['mail', 'int'],
  delivered: ['delivered', 'json'],
  settled: ['settled', 'json'],
  pending: ['pending', 'json'],
  replies: ['replies', 'int'],
  policy: ['policy', 'text'],
  wakeAt: ['wake_at', 'int'],
  limits: ['limits', 'json'],
  pins: ['pins', 'json'],
  settings: ['settings', 'int'],
  tasks: ['tasks', 'int'],
  title: ['title', 'text'],
  titleSalt: ['title_salt', 'text'],
  scope: ['scope', 'text'],
})
export const SESSION: Table<SessionRow> = {
  ...SESSION_FIELDS,
  encode: (row) => ({ ...SESSION_FIELDS.encode(row), work: hasWork(row) }),
  decode: (columns) => checkSession(SESSION_FIELDS.decode(columns)),
}
/** One that is harmed is left out: it must not hide the others. `verify` names it. */
export function readableSessions(rows: readonly Columns[]): readonly SessionRow[] {
  return rows.flatMap((row) => unlessDamaged(() => SESSION.decode(row)) ?? [])
}

/** Rows that do not know their session when they are values. */
export type Of<Row> = Row & { readonly sessionId: SessionId }

export const ENTRY = table<Of<Entry>>('entry', {
  sessionId: ['session', 'text'],
  number: ['number', 'int'],
  kind: ['kind', 'text'],
  operation: ['operation', 'text'],
  fence: ['fence', 'int'],
  at: ['at', 'int'],
  tokens: ['tokens', 'int'],
  meta: ['meta', 'json'],
  body: ['body', 'text'],
  salt: ['salt', 'hash'],
  bodyHash: ['body_hash', 'hash'],
  prevHash: ['prev_hash', 'hash'],
  hash: ['hash', 'hash'],
})
/** What outlives erasure; read alone where bodies would only be carried about. */
export const HEAD_COLUMNS = ENTRY.columns.replace('body, salt', 'null as body, null as salt')

export const MAIL = table<Of<MailRow>>('mail', {
  sessionId: ['session', 'text'],
  number: ['number', 'int'],
  lane: ['lane', 'text'],
  control: ['control', 'text'],
  source: ['source', 'text'],
  key: ['key', 'text'],
  body: ['body', 'text'],
  tokens: ['tokens', 'int'],
  state: ['state', 'text'],
  turnAt: ['turn_at', 'int'],
  blobs: ['blobs', 'json'],
  at: ['at', 'int'],
})

export const INTAKE = table<IntakeRow>('intake', {
  keyHash: ['key_hash', 'hash'],
  bodyHash: ['body_hash', 'hash'],
  sessionId: ['session', 'text'],
  number: ['number', 'int'],
})

export const SENDER = table<SenderRow>('sender', {
  sessionId: ['session', 'text'],
  source: ['source', 'text'],
  pending: ['pending', 'int'],
})

export const OPERATION = table<OperationRow>('operation', {
  id: ['id', 'text'],
  sessionId: ['session', 'text'],
  by: ['handoff_by', 'text'],
  trigger: ['cause', 'text'],
  reason: ['reason', 'text'],
  fence: ['fence', 'int'],
  base: ['base', 'int'],
  covers: ['covers', 'int'],
  previous: ['previous', 'int'],
  state: ['state', 'text'],
  result: ['result', 'json'],
  startedAt: ['started_at', 'int'],
  endedAt: ['ended_at', 'int'],
})

export const REPLY = table<ReplyRow>('reply', {
  sessionId: ['session', 'text'],
  number: ['number', 'int'],
  entry: ['entry', 'int'],
  edge: ['edge', 'text'],
  address: ['address', 'text'],
  key: ['key', 'text'],
  body: ['body', 'text'],
  state: ['state', 'text'],
  attempt: ['attempt', 'int'],
  claimant: ['claimant', 'text'],
  dueAt: ['due_at', 'int'],
  at: ['at', 'int'],
  receipt: ['receipt', 'text'],
})

export const ROUTE = table<RouteRow>('route', {
  agent: ['agent', 'text'],
  channel: ['channel', 'text'],
  address: ['address', 'text'],
  sessionId: ['session', 'text'],
  version: ['version', 'int'],
})

export const RUNNER = table<RunnerRow>('runner', {
  id: ['id', 'text'],
  boot: ['boot', 'text'],
  process: ['process', 'int'],
  startedAt: ['started_at', 'int'],
  beat: ['beat', 'int'],
  leaseMs: ['lease_ms', 'int'],
})

export const ATTEMPT = table<AttemptRow>('attempt', {
  id: ['id', 'text'],
  sessionId: ['session', 'text'],
  task: ['task', 'text'],
  modelRoute: ['model_route', 'text'],
  outcome: ['outcome', 'text'],
  inputTokens: ['input_tokens', 'int'],
  outputTokens: ['output_tokens', 'int'],
  cachedTokens: ['cached_tokens', 'int'],
  cost: ['cost', 'int'],
  host: ['host', 'text'],
  at: ['at', 'int'],
})

export const SCHEDULE = table<ScheduleRow>('schedule', {
  id: ['id', 'text'],
  sessionId: ['session', 'text'],
  dueAt: ['due_at', 'int'],
  repeat: ['repeat', 'text'],
  body: ['body', 'text'],
  tokens: ['tokens', 'int'],
  state: ['state', 'text'],
  fired: ['fired', 'int'],
  firedAt: ['fired_at', 'int'],
  at: ['at', 'int'],
})

interface NoteColumns extends Omit<NoteRow, 'origin'> {
  readonly originSession: SessionId | null
  readonly originEntry: EntryNumber | null
}
const NOTE_FIELDS = table<NoteColumns>('note', {
  agent: ['agent', 'text'],
  scope: ['scope', 'text'],
  id: ['id', 'text'],
  text: ['text', 'text'],
  originSession: ['origin_session', 'text'],
  originEntry: ['origin_entry', 'int'],
  at: ['at', 'int'],
})
export const NOTE: Table<NoteRow> = {
  ...NOTE_FIELDS,
  encode: ({ origin, ...row }) =>
    NOTE_FIELDS.encode({
      ...row,
      originSession: origin?.sessionId ?? null,
      originEntry: origin?.number ?? null,
    }),
  decode: (columns) => {
    const { originSession, originEntry, ...row } = NOTE_FIELDS.decode(columns)
    if (originSession === null || originEntry === null) return { ...row, origin: null }
    return { ...row, origin: { sessionId: originSession, number: originEntry } }
  },
}

export const DRAFT = table<DraftRow>('draft', {
  sessionId: ['session', 'text'],
  key: ['key', 'text'],
  ids: ['ids', 'json'],
  at: ['at', 'int'],
})

export const TOKEN = table<TokenRow>('token', {
  id: ['id', 'text'],
  hash: ['hash', 'hash'],
  principal: ['principal', 'text'],
  scopes: ['scopes', 'json'],
  label: ['label', 'text'],
  createdAt: ['created_at', 'int'],
  expiresAt: ['expires_at', 'int'],
})

const BLOB_FACTS = table<Omit<BlobRow, 'bytes'>>('blob', {
  sessionId: ['session', 'text'],
  hash: ['hash', 'hash'],
  mediaType: ['media_type', 'text'],
  uses: ['uses', 'int'],
  at: ['at', 'int'],
})
export const BLOB_COLUMNS = `${BLOB_FACTS.columns}, bytes`
export function decodeBlob(columns: Columns): BlobRow {
  return { ...BLOB_FACTS.decode(columns), bytes: new Uint8Array(columns['bytes'] as Buffer) }
}

export function decodeEntry(columns: Columns): Entry {
  const { sessionId: _known, ...entry } = ENTRY.decode(columns)
  return entry as Entry
}

export function decodeMail(columns: Columns): MailRow {
  const { sessionId: _known, ...mail } = MAIL.decode(columns)
  return mail
}

/**
 * The line is what the chain hashes behind its link and number, kept as it was hashed; the columns
 * beside it are for finding it.
 */
export function encodeAudit(draft: AuditDraft, at: number): Columns {
  const { sessionId, kind, operation, phase, facts } = draft
  return {
    session: toText(sessionId),
    operation: operation === null ? null : toText(operation),
    phase,
    line: canonicalJson([at, sessionId, kind, operation, phase, facts]).slice(1),
  }
}

type Line = readonly [
  at: AuditRow['at'],
  sessionId: AuditRow['sessionId'],
  kind: AuditRow['kind'],
  operation: AuditRow['operation'],
  phase: AuditRow['phase'],
  facts: AuditRow['facts'],
]
export const AUDIT_COLUMNS = 'cursor, line, hash'
export function decodeAudit(columns: Columns): AuditRow {
  const cursor = columns['cursor'] as number
  const line: Line = parseColumn(`[${columns['line']}`, 'line', () => `audit ${cursor}`)
  const [at, sessionId, kind, operation, phase, facts] = line
  const hash = (columns['hash'] as Buffer).toString('hex')
  return { cursor, at, sessionId, kind, operation, phase, facts, hash }
}
