import type { EntryNumber, SessionId } from '../../base/ids.ts'
import { CHANGED, checkSession } from '../integrity/damaged-row.ts'
import type { DraftRow, NoteRow, ScheduleRow, TokenRow, UsageRow } from '../operational-rows.ts'
import { hasWork } from '../rules/create-session.ts'
import type { SenderRow } from '../rules/ruling.ts'
import type { EmbeddedRow, VectorRow } from '../vector-rows.ts'
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
} from './rows.ts'
import { sealed } from './seal.ts'
import { mapTable, table } from './table.ts'

export const SESSION = sealed(
  mapTable(
    table<SessionRow, SessionRow & { readonly work: boolean }>('session', {
      id: ['id', 'text'],
      agent: ['agent', 'text'],
      state: ['state', 'text'],
      birth: ['birth', 'text'],
      createdAt: ['created_at', 'integer'],
      fence: ['fence', 'integer'],
      runner: ['runner', 'text'],
      holder: ['holder', 'text'],
      recovered: ['recovered', 'integer'],
      tail: ['tail', 'integer'],
      tailHash: ['tail_hash', 'hash'],
      base: ['base', 'integer'],
      seen: ['seen', 'integer'],
      effective: ['effective', 'integer'],
      covers: ['covers', 'integer'],
      by: ['handoff_by', 'text'],
      rewrites: ['rewrites', 'integer'],
      operation: ['operation', 'text'],
      turn: ['turn', 'integer'],
      turnState: ['turn_state', 'text'],
      attempts: ['attempts', 'integer'],
      losses: ['losses', 'integer'],
      openCalls: ['open_calls', 'json'],
      mail: ['mail', 'integer'],
      delivered: ['delivered', 'json'],
      settled: ['settled', 'json'],
      pending: ['pending', 'json'],
      replies: ['replies', 'integer'],
      policy: ['policy', 'text'],
      wakeAt: ['wake_at', 'integer'],
      limits: ['limits', 'json'],
      pins: ['pins', 'json'],
      settings: ['settings', 'integer'],
      tasks: ['tasks', 'integer'],
      title: ['title', 'text'],
      titleSalt: ['title_salt', 'text'],
      scope: ['scope', 'text'],
      origin: ['origin', 'text'],
      forkedAt: ['forked_at', 'integer'],
      root: ['root', 'text'],
      owed: ['owed', 'json'],
      retained: ['retained', 'integer'],
      work: ['work', 'flag', 'write-only'],
    }),
    (row: SessionRow) => ({ ...row, work: hasWork(row) }),
    checkSession,
  ),
  { refuse: CHANGED.session },
)

/** Rows that name their session only when written. */
export type Of<Row> = Row & { readonly sessionId: SessionId }

export const ENTRY = table<Entry, Of<Entry>>('entry', {
  sessionId: ['session', 'session', 'write-only'],
  number: ['number', 'number'],
  kind: ['kind', 'text'],
  operation: ['operation', 'text'],
  fence: ['fence', 'integer'],
  at: ['at', 'integer'],
  tokens: ['tokens', 'integer'],
  meta: ['meta', 'json'],
  body: ['body', 'text'],
  salt: ['salt', 'hash or null'],
  bodyHash: ['body_hash', 'hash'],
  prevHash: ['prev_hash', 'hash'],
  hash: ['hash', 'hash'],
})

export const MAIL = sealed(
  table<MailRow, Of<MailRow>>('mail', {
    sessionId: ['session', 'session', 'write-only'],
    number: ['number', 'number'],
    lane: ['lane', 'text'],
    control: ['control', 'text'],
    source: ['source', 'text'],
    key: ['key', 'text'],
    body: ['body', 'text'],
    tokens: ['tokens', 'integer'],
    state: ['state', 'text'],
    turnAt: ['turn_at', 'integer'],
    blobs: ['blobs', 'json'],
    at: ['at', 'integer'],
  }),
  { refuse: CHANGED.mail },
)

export const INTAKE = sealed(
  table<IntakeRow>('intake', {
    keyHash: ['key_hash', 'hash'],
    bodyHash: ['body_hash', 'hash'],
    sessionId: ['session', 'session'],
    number: ['number', 'integer'],
  }),
  { refuse: CHANGED.intake },
)

export const SENDER = sealed(
  table<SenderRow>('sender', {
    sessionId: ['session', 'session'],
    source: ['source', 'text'],
    pending: ['pending', 'integer'],
  }),
  { refuse: CHANGED.sender },
)

export const OPERATION = sealed(
  table<OperationRow>('operation', {
    id: ['id', 'text'],
    sessionId: ['session', 'session'],
    by: ['handoff_by', 'text'],
    trigger: ['cause', 'text'],
    reason: ['reason', 'text'],
    requestedBy: ['requested_by', 'integer'],
    fence: ['fence', 'integer'],
    base: ['base', 'integer'],
    covers: ['covers', 'integer'],
    previous: ['previous', 'integer'],
    state: ['state', 'text'],
    result: ['result', 'json'],
    startedAt: ['started_at', 'integer'],
    endedAt: ['ended_at', 'integer'],
  }),
  { refuse: CHANGED.operation },
)

export const REPLY = sealed(
  table<ReplyRow>('reply', {
    sessionId: ['session', 'session'],
    number: ['number', 'number'],
    entry: ['entry', 'integer'],
    edge: ['edge', 'text'],
    address: ['address', 'text'],
    key: ['key', 'text'],
    body: ['body', 'text'],
    state: ['state', 'text'],
    attempt: ['attempt', 'integer'],
    claimant: ['claimant', 'text'],
    dueAt: ['due_at', 'integer'],
    at: ['at', 'integer'],
    receipt: ['receipt', 'text'],
  }),
  { except: ['state', 'attempt', 'claimant', 'dueAt', 'receipt'] },
)

export const ROUTE = sealed(
  table<RouteRow>('route', {
    agent: ['agent', 'text'],
    channel: ['channel', 'text'],
    address: ['address', 'text'],
    sessionId: ['session', 'session'],
    version: ['version', 'integer'],
  }),
)

/**
 * A changed runner is used, because its time decides no safety (I25); `verify` reports it. A seal over
 * the beat would hide a change at the next renewal.
 */
export const RUNNER = sealed(
  table<RunnerRow>('runner', {
    id: ['id', 'text'],
    boot: ['boot', 'text'],
    process: ['process', 'integer'],
    startedAt: ['started_at', 'integer'],
    beat: ['beat', 'integer'],
    leaseMs: ['lease_ms', 'integer'],
  }),
  { except: ['beat'] },
)

/** The bytes have a hash of their own. */
export const BLOB = sealed(
  table<BlobRow>('blob', {
    sessionId: ['session', 'session'],
    hash: ['hash', 'hash'],
    mediaType: ['media_type', 'text'],
    uses: ['uses', 'integer'],
    at: ['at', 'integer'],
    bytes: ['bytes', 'bytes'],
  }),
  { except: ['bytes'], refuse: CHANGED.blob },
)

/** PostgreSQL keeps most of these fields together, as the line that the chain hashes. */
export const AUDIT = table<AuditRow>('audit', {
  cursor: ['cursor', 'integer'],
  at: ['at', 'integer'],
  sessionId: ['session', 'text'],
  kind: ['kind', 'text'],
  operation: ['operation', 'text'],
  phase: ['phase', 'text'],
  facts: ['facts', 'json'],
  hash: ['hash', 'hash'],
})

export const ATTEMPT = table<AttemptRow>('attempt', {
  id: ['id', 'text'],
  sessionId: ['session', 'text'],
  task: ['task', 'text'],
  modelRoute: ['model_route', 'text'],
  outcome: ['outcome', 'text'],
  inputTokens: ['input_tokens', 'integer'],
  outputTokens: ['output_tokens', 'integer'],
  cachedTokens: ['cached_tokens', 'integer'],
  cost: ['cost', 'integer'],
  agent: ['agent', 'text'],
  turn: ['turn', 'integer'],
  step: ['step', 'integer'],
  host: ['host', 'text'],
  at: ['at', 'integer'],
})

export const USAGE = table<UsageRow>('usage', {
  sessionId: ['session', 'text'],
  day: ['day', 'integer'],
  modelRoute: ['model_route', 'text'],
  task: ['task', 'text'],
  host: ['host', 'text'],
  agent: ['agent', 'text'],
  attempts: ['attempts', 'integer'],
  inputTokens: ['input_tokens', 'integer'],
  outputTokens: ['output_tokens', 'integer'],
  cachedTokens: ['cached_tokens', 'integer'],
  cost: ['cost', 'integer'],
  unpriced: ['unpriced', 'integer'],
})

/** The columns of the sums. */
export const USAGE_SUMS = USAGE.fields.slice(6).map(({ column }) => column)

export const SCHEDULE = sealed(
  table<ScheduleRow>('schedule', {
    id: ['id', 'text'],
    sessionId: ['session', 'text'],
    dueAt: ['due_at', 'integer'],
    repeat: ['repeat', 'text'],
    body: ['body', 'text'],
    tokens: ['tokens', 'integer'],
    state: ['state', 'text'],
    fired: ['fired', 'integer'],
    firedAt: ['fired_at', 'integer'],
    at: ['at', 'integer'],
  }),
)

interface NoteColumns extends Omit<NoteRow, 'origin'> {
  readonly originSession: SessionId | null
  readonly originEntry: EntryNumber | null
}
export const NOTE = sealed(
  mapTable(
    table<NoteColumns>('note', {
      agent: ['agent', 'text'],
      scope: ['scope', 'text'],
      id: ['id', 'text'],
      text: ['text', 'text'],
      originSession: ['origin_session', 'text'],
      originEntry: ['origin_entry', 'integer'],
      at: ['at', 'integer'],
    }),
    ({ origin, ...row }: NoteRow): NoteColumns => ({
      ...row,
      originSession: origin?.sessionId ?? null,
      originEntry: origin?.number ?? null,
    }),
    ({ originSession, originEntry, ...row }): NoteRow => {
      if (originSession === null || originEntry === null) return { ...row, origin: null }
      return { ...row, origin: { sessionId: originSession, number: originEntry } }
    },
  ),
)

export const DRAFT = table<DraftRow>('draft', {
  sessionId: ['session', 'text'],
  key: ['key', 'text'],
  ids: ['ids', 'json'],
  at: ['at', 'integer'],
})

export const TOKEN = sealed(
  table<TokenRow>('token', {
    id: ['id', 'text'],
    hash: ['hash', 'hash'],
    principal: ['principal', 'text'],
    scopes: ['scopes', 'json'],
    label: ['label', 'text'],
    createdAt: ['created_at', 'integer'],
    expiresAt: ['expires_at', 'integer'],
  }),
)

export const EMBEDDED = table<EmbeddedRow>('embedded', {
  sessionId: ['session', 'session'],
  model: ['model', 'text'],
  dimension: ['dimension', 'integer'],
  upto: ['upto', 'integer'],
})

export const VECTOR = table<Omit<VectorRow, 'sessionId'>, VectorRow>('entry_vector', {
  sessionId: ['session', 'session', 'write-only'],
  number: ['number', 'number'],
  bytes: ['bytes', 'bytes'],
})

/** The fields that an erasure empties, here and in entries, which have no seal. */
export const ERASED_TEXTS = {
  mail: { body: null, source: null, key: null },
  reply: { body: null },
} as const
