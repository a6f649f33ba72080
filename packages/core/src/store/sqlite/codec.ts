import type { EntryNumber, MailNumber, SessionId } from '../../base/ids.ts'
import { DamagedRowError } from '../errors.ts'
import { canonicalJson } from '../integrity/canonical.ts'
import { checkSession, parseColumn } from '../integrity/damaged-row.ts'
import type {
  AttemptRow,
  AuditRow,
  BlobRow,
  Entry,
  MailRow,
  OperationRow,
  ReplyRow,
  RouteRow,
  RunnerRow,
  SessionRow,
} from '../rows.ts'
import { hasWork } from '../rules/create-session.ts'
import type { Record_ as Row, Value } from './connection.ts'

/** Between rows as values and rows as columns; hashes are hex outside and 32 bytes inside. */
const NUMBER_BITS = 31n

export function packed(n: number, number: number): bigint {
  return (BigInt(n) << NUMBER_BITS) | BigInt(number)
}

export function unpacked(id: Value | undefined): number {
  return Number(BigInt(id as number) & ((1n << NUMBER_BITS) - 1n))
}

export function sessionOf(id: Value | undefined): number {
  return Number(BigInt(id as number) >> NUMBER_BITS)
}

export function bytes(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex')
}

export function hex(value: Value | undefined): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex')
  throw new DamagedRowError({ row: 'a value that was read', problem: 'has no hash' })
}

/** An entry or a mail item by its key: only the row of its session has the session's id. */
function numbered(what: string, id: Value | undefined): () => string {
  return () => `${what} ${unpacked(id)} of the session with number ${sessionOf(id)}`
}

export const SESSION_COLUMNS = [
  'id',
  'agent',
  'state',
  'birth',
  'created_at',
  'fence',
  'runner',
  'holder',
  'recovered',
  'tail',
  'tail_hash',
  'base',
  'seen',
  'effective',
  'covers',
  'handoff_by',
  'rewrites',
  'operation',
  'turn',
  'turn_state',
  'attempts',
  'open_calls',
  'mail',
  'delivered',
  'settled',
  'pending',
  'replies',
  'policy',
  'wake_at',
  'limits',
  'pins',
  'settings',
  'tasks',
  'title',
  'title_salt',
  'scope',
  'work',
] as const

/** In the order of the columns. */
export function encodeSession(row: SessionRow): readonly Value[] {
  return [
    row.id,
    row.agent,
    row.state,
    row.birth,
    row.createdAt,
    row.fence,
    row.runner,
    row.holder,
    row.recovered,
    row.tail,
    bytes(row.tailHash),
    row.base,
    row.seen,
    row.effective,
    row.covers,
    row.by,
    row.rewrites,
    row.operation,
    row.turn,
    row.turnState,
    row.attempts,
    JSON.stringify(row.openCalls),
    row.mail,
    JSON.stringify(row.delivered),
    JSON.stringify(row.settled),
    JSON.stringify(row.pending),
    row.replies,
    row.policy,
    row.wakeAt,
    JSON.stringify(row.limits),
    JSON.stringify(row.pins),
    row.settings,
    row.tasks,
    row.title,
    row.titleSalt,
    row.scope,
    hasWork(row) ? 1 : 0,
  ]
}

export function decodeSession(row: Row): SessionRow {
  const json = (column: string) => parseColumn(row[column], column, () => `session ${row['id']}`)
  return checkSession({
    id: row['id'] as never,
    agent: row['agent'] as never,
    state: row['state'] as never,
    birth: row['birth'] as never,
    createdAt: row['created_at'] as never,
    fence: row['fence'] as never,
    runner: row['runner'] as never,
    holder: row['holder'] as never,
    recovered: row['recovered'] as never,
    tail: row['tail'] as never,
    tailHash: hex(row['tail_hash']),
    base: row['base'] as never,
    seen: row['seen'] as never,
    effective: row['effective'] as never,
    covers: row['covers'] as never,
    by: row['handoff_by'] as never,
    rewrites: row['rewrites'] as never,
    operation: row['operation'] as never,
    turn: row['turn'] as never,
    turnState: row['turn_state'] as never,
    attempts: row['attempts'] as never,
    openCalls: json('open_calls'),
    mail: row['mail'] as never,
    delivered: json('delivered'),
    settled: json('settled'),
    pending: json('pending'),
    replies: row['replies'] as never,
    policy: row['policy'] as never,
    wakeAt: row['wake_at'] as never,
    limits: json('limits'),
    pins: json('pins'),
    settings: row['settings'] as never,
    tasks: row['tasks'] as never,
    title: row['title'] as never,
    titleSalt: row['title_salt'] as never,
    scope: row['scope'] as never,
  })
}

export function encodeEntry(n: number, entry: Entry): readonly Value[] {
  return [
    packed(n, entry.number),
    entry.kind,
    entry.operation,
    entry.fence,
    entry.at,
    entry.tokens,
    canonicalJson(entry.meta),
    entry.body,
    entry.salt === null ? null : bytes(entry.salt),
    bytes(entry.bodyHash),
    bytes(entry.prevHash),
    bytes(entry.hash),
  ]
}

export function decodeEntry(row: Row): Entry {
  return {
    number: unpacked(row['id']) as EntryNumber,
    kind: row['kind'] as never,
    operation: row['operation'] as never,
    fence: row['fence'] as never,
    at: row['at'] as never,
    tokens: row['tokens'] as never,
    meta: parseColumn(row['meta'], 'meta', numbered('entry', row['id'])),
    body: (row['body'] ?? null) as never,
    salt: row['salt'] == null ? null : hex(row['salt']),
    bodyHash: hex(row['body_hash']),
    prevHash: hex(row['prev_hash']),
    hash: hex(row['hash']),
  }
}

export function encodeMail(n: number, mail: MailRow): readonly Value[] {
  const { lane, control, source, key, body, tokens, state, turnAt, blobs, at } = mail
  const id = packed(n, mail.number)
  return [id, lane, control, source, key, body, tokens, state, turnAt, JSON.stringify(blobs), at]
}

export function decodeMail(row: Row): MailRow {
  return {
    number: unpacked(row['id']) as MailNumber,
    lane: row['lane'] as never,
    control: row['control'] as never,
    source: row['source'] as never,
    key: row['key'] as never,
    body: row['body'] as never,
    tokens: row['tokens'] as never,
    state: row['state'] as never,
    turnAt: row['turn_at'] as never,
    blobs: parseColumn(row['blobs'], 'blobs', numbered('mail', row['id'])),
    at: row['at'] as never,
  }
}

export function encodeOperation(n: number, row: OperationRow): readonly Value[] {
  const { id, by, trigger, reason, fence, base, covers, previous, state, startedAt, endedAt } = row
  const result = canonicalJson(row.result)
  return [
    id,
    n,
    by,
    trigger,
    reason,
    fence,
    base,
    covers,
    previous,
    state,
    result,
    startedAt,
    endedAt,
  ]
}

export function decodeOperation(row: Row, sessionId: SessionId): OperationRow {
  return {
    id: row['id'] as never,
    sessionId,
    by: row['handoff_by'] as never,
    trigger: row['cause'] as never,
    reason: row['reason'] as never,
    fence: row['fence'] as never,
    base: row['base'] as never,
    covers: row['covers'] as never,
    previous: row['previous'] as never,
    state: row['state'] as never,
    result: parseColumn(row['result'], 'result', () => `operation ${row['id']}`),
    startedAt: row['started_at'] as never,
    endedAt: row['ended_at'] as never,
  }
}

export function encodeReply(n: number, row: ReplyRow): readonly Value[] {
  const { entry, edge, address, key, body, state, attempt, claimant, dueAt, at, receipt } = row
  const id = packed(n, row.number)
  return [id, entry, edge, address, key, body, state, attempt, claimant, dueAt, at, receipt]
}

export function decodeReply(row: Row, sessionId: SessionId): ReplyRow {
  return {
    sessionId,
    number: unpacked(row['id']),
    entry: row['entry'] as never,
    edge: row['edge'] as never,
    address: row['address'] as never,
    key: row['key'] as never,
    body: row['body'] as never,
    state: row['state'] as never,
    attempt: row['attempt'] as never,
    claimant: row['claimant'] as never,
    dueAt: row['due_at'] as never,
    at: row['at'] as never,
    receipt: row['receipt'] as never,
  }
}

export function decodeRoute(row: Row, sessionId: SessionId): RouteRow {
  return {
    agent: row['agent'] as never,
    channel: row['channel'] as never,
    address: row['address'] as never,
    sessionId,
    version: row['version'] as never,
  }
}

export function decodeRunner(row: Row): RunnerRow {
  return {
    id: row['id'] as never,
    boot: row['boot'] as never,
    process: row['process'] as never,
    startedAt: row['started_at'] as never,
    beat: row['beat'] as never,
    leaseMs: row['lease_ms'] as never,
  }
}

export function decodeBlob(row: Row, sessionId: SessionId): BlobRow {
  return {
    sessionId,
    hash: hex(row['hash']),
    mediaType: row['media_type'] as never,
    bytes: row['bytes'] as never,
    uses: row['uses'] as never,
    at: row['at'] as never,
  }
}

export function decodeAttempt(row: Row): AttemptRow {
  return {
    id: row['id'] as never,
    sessionId: row['session'] as never,
    task: row['task'] as never,
    modelRoute: row['model_route'] as never,
    outcome: row['outcome'] as never,
    inputTokens: row['input_tokens'] as never,
    outputTokens: row['output_tokens'] as never,
    cachedTokens: row['cached_tokens'] as never,
    cost: row['cost'] as never,
    host: row['host'] as never,
    at: row['at'] as never,
  }
}

export function decodeAudit(row: Row): AuditRow {
  return {
    cursor: row['cursor'] as never,
    at: row['at'] as never,
    sessionId: row['session'] as never,
    kind: row['kind'] as never,
    operation: row['operation'] as never,
    phase: row['phase'] as never,
    facts: parseColumn(row['facts'], 'facts', () => `audit line ${row['cursor']}`),
    hash: hex(row['hash']),
  }
}
