import type { DamagedRowError } from '../errors.ts'
import { canonicalJson, sha256 } from '../integrity/canonical.ts'
import { hashAudit } from '../integrity/chain.ts'
import { damagedEntry, damagedMail } from '../integrity/damaged-row.ts'
import type { SessionRow } from '../rows.ts'
import type { Change, Erase } from '../rules/ruling.ts'
import {
  bytes,
  encodeEntry,
  encodeMail,
  encodeOperation,
  encodeReply,
  encodeSession,
  hex,
  packed,
  SESSION_COLUMNS,
} from './codec.ts'
import { type Connection, isTaken, type Value } from './connection.ts'
import { unindex } from './search.ts'
import type { SessionNumbers } from './sessions.ts'
import { writeStanding } from './standing.ts'

const INSERT_SESSION = `insert into session (${SESSION_COLUMNS.join(', ')})
  values (${SESSION_COLUMNS.map(() => '?').join(', ')})`
const SESSION_GUARD = `id = ? and state = ? and fence = ? and holder is ? and tail = ?
    and tail_hash = ? and mail = ?`

/** Writes one change. The session row comes first and its statement holds what the rule relied on. */
export function applyChange(
  db: Connection,
  numbers: SessionNumbers,
  change: Change,
  at: number,
): void {
  for (const { before, after } of change.sessions ?? []) writeSession(db, before, after)
  for (const { id, after } of change.runners ?? []) {
    if (after === null) db.run('delete from runner where id = ?', id)
    else {
      db.run(
        `insert into runner (id, boot, process, started_at, beat, lease_ms)
         values (?, ?, ?, ?, ?, ?) on conflict (id) do update set beat = excluded.beat`,
        id,
        after.boot,
        after.process,
        after.startedAt,
        after.beat,
        after.leaseMs,
      )
    }
  }
  writeMail(db, numbers, change)
  for (const { sessionId, entry } of change.entries ?? []) {
    const sql = `insert into entry (id, kind, operation, fence, at, tokens, meta, body, salt,
      body_hash, prev_hash, hash) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
    insertNew(db, sql, encodeEntry(numbers.get(sessionId), entry), () =>
      damagedEntry(sessionId, entry.number, BEHIND_THE_LAST),
    )
  }
  for (const row of change.operations ?? []) {
    db.run(
      `insert into operation (id, session, handoff_by, cause, reason, fence, base, covers, previous,
         state, result, started_at, ended_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (id) do update
         set state = excluded.state, result = excluded.result, ended_at = excluded.ended_at`,
      ...encodeOperation(numbers.get(row.sessionId), row),
    )
  }
  for (const row of change.replies ?? []) {
    db.run(
      `insert into reply (id, entry, edge, address, key, body, state, attempt, claimant, due_at, at,
         receipt) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (id) do update set state = excluded.state, attempt = excluded.attempt,
         claimant = excluded.claimant, due_at = excluded.due_at, receipt = excluded.receipt`,
      ...encodeReply(numbers.get(row.sessionId), row),
    )
  }
  writeRoutes(db, numbers, change)
  writeBlobs(db, numbers, change)
  for (const row of change.attempts ?? []) {
    db.run(
      `insert into attempt (id, session, task, model_route, outcome, input_tokens, output_tokens,
         cached_tokens, cost, host, at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      row.id,
      row.sessionId,
      row.task,
      row.modelRoute,
      row.outcome,
      row.inputTokens,
      row.outputTokens,
      row.cachedTokens,
      row.cost,
      row.host,
      row.at,
    )
  }
  writeStanding(db, change)
  if (change.erase !== undefined) erase(db, numbers.get(change.erase.sessionId), change.erase)
  writeAudit(db, change, at)
}

function writeSession(db: Connection, before: SessionRow | null, after: SessionRow): void {
  if (before === null) {
    db.run(INSERT_SESSION, ...encodeSession(after))
    return
  }
  const { id, state, fence, holder, tail, tailHash, mail } = before
  const guard = [id, state, fence, holder, tail, bytes(tailHash), mail] as const
  // Only what differs is set, so that an index on a column that stays is left alone.
  const old = encodeSession(before)
  const next = encodeSession(after)
  const columns = SESSION_COLUMNS.filter((_, index) => !same(old[index], next[index]))
  const values = next.filter((value, index) => !same(old[index], value))
  const sets = columns.length === 0 ? 'n = n' : columns.map((name) => `${name} = ?`).join(', ')
  const changed = db.run(`update session set ${sets} where ${SESSION_GUARD}`, ...values, ...guard)
  // Under the write lock this cannot happen; if it does, the transaction must not commit.
  if (changed !== 1) throw new Error(`session ${id} changed under its own transaction`)
}

function same(one: Value | undefined, other: Value | undefined): boolean {
  if (one instanceof Uint8Array && other instanceof Uint8Array) {
    return Buffer.compare(one, other) === 0
  }
  return one === other
}

const BEHIND_THE_LAST = 'already exists after the last one that its session knows'

/** A new row never overwrites an existing one; if there is one, the counters are out of date. */
function insertNew(
  db: Connection,
  sql: string,
  values: readonly Value[],
  taken: () => DamagedRowError,
): void {
  try {
    db.run(sql, ...values)
  } catch (error) {
    throw isTaken(error) ? taken() : error
  }
}

const INSERT_MAIL = `insert into mail (id, lane, control, source, key, body, tokens, state, turn_at,
  blobs, at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

function writeMail(db: Connection, numbers: SessionNumbers, change: Change): void {
  for (const { sessionId, mail } of change.mail ?? []) {
    const values = encodeMail(numbers.get(sessionId), mail)
    const session = change.sessions?.find(({ after }) => after.id === sessionId)
    if (session !== undefined && mail.number > (session.before?.mail ?? 0)) {
      const taken = () => damagedMail(sessionId, mail.number, BEHIND_THE_LAST)
      insertNew(db, INSERT_MAIL, values, taken)
    } else {
      const sql = `${INSERT_MAIL}
        on conflict (id) do update set state = excluded.state, body = excluded.body`
      db.run(sql, ...values)
    }
  }
  for (const row of change.intake ?? []) {
    db.run(
      'insert into intake (key_hash, body_hash, session, number) values (?, ?, ?, ?)',
      bytes(row.keyHash),
      bytes(row.bodyHash),
      numbers.get(row.sessionId),
      row.number,
    )
  }
  for (const { sessionId, source, pending } of change.senders ?? []) {
    const n = numbers.get(sessionId)
    if (pending === 0) db.run('delete from sender where session = ? and source = ?', n, source)
    else {
      db.run(
        `insert into sender (session, source, pending) values (?, ?, ?)
         on conflict (session, source) do update set pending = excluded.pending`,
        n,
        source,
        pending,
      )
    }
  }
  if (change.sendersRemoved !== undefined) {
    db.run('delete from sender where session = ?', numbers.get(change.sendersRemoved))
  }
}

function writeRoutes(db: Connection, numbers: SessionNumbers, change: Change): void {
  for (const { agent, channel, address, sessionId, version } of change.routes ?? []) {
    db.run(
      `insert into route (agent, channel, address, session, version) values (?, ?, ?, ?, ?)
       on conflict (agent, channel, address) do update
         set session = excluded.session, version = excluded.version`,
      agent,
      channel,
      address,
      numbers.get(sessionId),
      version,
    )
  }
  for (const { agent, channel, address } of change.routesRemoved ?? []) {
    const sql = 'delete from route where agent = ? and channel = ? and address = ?'
    db.run(sql, agent, channel, address)
  }
}

function writeBlobs(db: Connection, numbers: SessionNumbers, change: Change): void {
  for (const { sessionId, hash, mediaType, bytes: content, uses, at } of change.blobs ?? []) {
    db.run(
      'insert into blob (session, hash, media_type, bytes, uses, at) values (?, ?, ?, ?, ?, ?)',
      numbers.get(sessionId),
      bytes(hash),
      mediaType,
      content,
      uses,
      at,
    )
  }
  for (const { sessionId, hash, uses } of change.blobUses ?? []) {
    const key = [numbers.get(sessionId), bytes(hash)] as const
    if (uses === 0) db.run('delete from blob where session = ? and hash = ?', ...key)
    else db.run('update blob set uses = ? where session = ? and hash = ?', uses, ...key)
  }
}

function erase(db: Connection, n: number, { entries, mail, replies }: Erase): void {
  for (const number of entries) {
    const id = packed(n, number)
    unindex(db, n, number)
    db.run('update entry set body = null, salt = null where id = ?', id)
  }
  for (const number of mail) {
    const sql = 'update mail set body = null, source = null, key = null where id = ?'
    db.run(sql, packed(n, number))
  }
  for (const number of replies) {
    db.run('update reply set body = null where id = ?', packed(n, number))
  }
}

function writeAudit(db: Connection, change: Change, at: number): void {
  if (change.audit === undefined || change.audit.length === 0) return
  let { cursor, hash } = newestAudit(db)
  for (const draft of change.audit) {
    cursor += 1
    const row = { ...draft, cursor, at }
    hash = hashAudit(hash, row)
    db.run(
      `insert into audit (cursor, at, session, kind, operation, phase, facts, hash)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
      cursor,
      at,
      row.sessionId,
      row.kind,
      row.operation,
      row.phase,
      canonicalJson(row.facts),
      bytes(hash),
    )
  }
}

/**
 * Where the chain of the audit stands; before the first row it starts from the store's id. What the
 * newest row tells is not read: every commit needs its hash, and would fail with it.
 */
export function newestAudit(db: Connection): { readonly cursor: number; readonly hash: string } {
  const row = db.get('select cursor, hash from audit order by cursor desc limit 1')
  if (row === undefined) return { cursor: 0, hash: sha256(readStoreId(db)) }
  return { cursor: row['cursor'] as number, hash: hex(row['hash']) }
}

export function readStoreId(db: Connection): string {
  return (db.get('select id from store where one = 1')?.['id'] ?? '') as string
}
