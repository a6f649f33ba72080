import type { SessionId } from '../../base/ids.ts'
import type { DamagedRowError } from '../errors.ts'
import { sha256 } from '../integrity/canonical.ts'
import { hashAudit } from '../integrity/chain.ts'
import { damagedEntry, damagedMail, orUnreadable } from '../integrity/damaged-row.ts'
import { queuesChangedBy } from '../rules/outbox.ts'
import type { Erase, StoreChange } from '../rules/ruling.ts'
import { lastSearched } from '../search/words.ts'
import type { ReplyRow, SessionRow } from '../tables/rows.ts'
import { ERASED_TEXTS, USAGE_SUMS } from '../tables/tables.ts'
import { isTaken, type SqliteConnection, type Value } from './connection.ts'
import { writeOperationalRows } from './operational-rows.ts'
import type { SessionNumbers } from './sessions.ts'
import { findBlobHead, hashBytes, hashText, packed, SQLITE } from './tables.ts'
import { writeVectors } from './vectors.ts'
import { markUnindexed, unindexInSqlite } from './words/word-index.ts'

const SESSION_GUARD = `id = ? and state = ? and fence = ? and holder is ? and tail = ?
    and tail_hash = ? and mail = ?`

const PUT_RUNNER = `${SQLITE.runner.insert} on conflict (id) do update set beat = excluded.beat`
const PUT_MAIL = `${SQLITE.mail.insert}
  on conflict (id) do update set state = excluded.state, body = excluded.body,
    seal = excluded.seal`
const PUT_SENDER = `${SQLITE.sender.insert}
  on conflict (session, source) do update set pending = excluded.pending,
    seal = excluded.seal`
const PUT_OPERATION = `${SQLITE.operation.insert} on conflict (id) do update
  set state = excluded.state, result = excluded.result, ended_at = excluded.ended_at,
    seal = excluded.seal`
const PUT_REPLY = `${SQLITE.reply.insert} on conflict (id) do update
  set state = excluded.state, attempt = excluded.attempt, claimant = excluded.claimant,
    due_at = excluded.due_at, receipt = excluded.receipt`
/** Marks the first waiting reply for an address. It keeps the mark while it waits. */
const SET_LEADER = `update reply set leads = 1 where leads = 0 and id = (
    select id from reply where edge = ? and state = 'waiting' and id >> 31 = ? and address = ?
      and body is not null order by id limit 1)`
const PUT_ROUTE = `${SQLITE.route.insert} on conflict (agent, channel, address) do update
  set session = excluded.session, version = excluded.version, seal = excluded.seal`
const ADD_USAGE = `${SQLITE.usage.insert} on conflict (session, day, model_route, task, host) do update
  set ${USAGE_SUMS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`

/**
 * Writes one change. The session row comes first, and its `where` clause checks what the rule
 * relied on.
 */
export function applyChange(
  db: SqliteConnection,
  numbers: SessionNumbers,
  change: StoreChange,
  at: number,
): void {
  for (const { before, after } of change.sessions ?? []) writeSession(db, numbers, before, after)
  for (const { id, after } of change.runners ?? []) {
    if (after === null) db.run('delete from runner where id = ?', id)
    else db.run(PUT_RUNNER, ...SQLITE.runner.encode(after, numbers))
  }
  writeMail(db, numbers, change)
  for (const { sessionId, entry } of change.entries ?? []) {
    const values = SQLITE.entry.encode({ sessionId, ...entry }, numbers)
    insertNew(db, SQLITE.entry.insert, values, () =>
      damagedEntry(sessionId, entry.number, BEHIND_THE_LAST),
    )
  }
  for (const [id, number] of lastSearched(change)) markUnindexed(db, numbers.get(id), number)
  for (const row of change.operations ?? []) {
    db.run(PUT_OPERATION, ...SQLITE.operation.encode(row, numbers))
  }
  writeReplies(db, numbers, change.replies ?? [])
  for (const { sessionId, number } of change.repliesRemoved ?? []) {
    db.run('delete from reply where id = ?', packed(numbers.get(sessionId), number))
  }
  writeRoutes(db, numbers, change)
  writeBlobs(db, numbers, change)
  writeAttempts(db, numbers, change)
  writeOperationalRows(db, numbers, change)
  writeVectors(db, numbers, change)
  for (const each of change.erase ?? []) erase(db, numbers.get(each.sessionId), each)
  writeAudit(db, numbers, change, at)
}

function writeSession(
  db: SqliteConnection,
  numbers: SessionNumbers,
  before: SessionRow | null,
  after: SessionRow,
): void {
  if (before === null) {
    db.run(SQLITE.session.insert, ...SQLITE.session.encode(after, numbers))
    return
  }
  const { id, state, fence, holder, tail, tailHash, mail } = before
  const guard = [id, state, fence, holder, tail, hashBytes(tailHash), mail] as const
  // Only changed columns are set, so that indexes on the others are not touched.
  const { columns, values } = SQLITE.session.changes(before, after, numbers)
  const sets = columns.map((name) => `${name} = ?`).join(', ')
  const changed = db.run(`update session set ${sets} where ${SESSION_GUARD}`, ...values, ...guard)
  // Cannot happen under the write lock; if it does, the transaction must not commit.
  if (changed !== 1) throw new Error(`session ${id} changed under its own transaction`)
}

type BlobUses = NonNullable<StoreChange['blobUses']>[number]

const BEHIND_THE_LAST = 'already exists after the last one that its session knows'

/** Never overwrites a row: if the key exists, the session's counters are out of date. */
function insertNew(
  db: SqliteConnection,
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

function writeMail(db: SqliteConnection, numbers: SessionNumbers, change: StoreChange): void {
  for (const { sessionId, mail } of change.mail ?? []) {
    const values = SQLITE.mail.encode({ sessionId, ...mail }, numbers)
    const session = change.sessions?.find(({ after }) => after.id === sessionId)
    if (session !== undefined && mail.number > (session.before?.mail ?? 0)) {
      const taken = () => damagedMail(sessionId, mail.number, BEHIND_THE_LAST)
      insertNew(db, SQLITE.mail.insert, values, taken)
    } else {
      db.run(PUT_MAIL, ...values)
    }
  }
  for (const row of change.intake ?? []) {
    db.run(SQLITE.intake.insert, ...SQLITE.intake.encode(row, numbers))
  }
  for (const row of change.senders ?? []) {
    if (row.pending > 0) db.run(PUT_SENDER, ...SQLITE.sender.encode(row, numbers))
    else {
      const key = [numbers.get(row.sessionId), row.source] as const
      db.run('delete from sender where session = ? and source = ?', ...key)
    }
  }
  if (change.sendersRemoved !== undefined) {
    db.run('delete from sender where session = ?', numbers.get(change.sendersRemoved))
  }
}

function writeReplies(
  db: SqliteConnection,
  numbers: SessionNumbers,
  replies: readonly ReplyRow[],
): void {
  for (const row of replies) db.run(PUT_REPLY, ...SQLITE.reply.encode(row, numbers))
  for (const { edge, sessionId, address } of queuesChangedBy(replies)) {
    db.run(SET_LEADER, edge, numbers.get(sessionId), address)
  }
}

function writeRoutes(db: SqliteConnection, numbers: SessionNumbers, change: StoreChange): void {
  for (const row of change.routes ?? []) db.run(PUT_ROUTE, ...SQLITE.route.encode(row, numbers))
  for (const { agent, channel, address } of change.routesRemoved ?? []) {
    const sql = 'delete from route where agent = ? and channel = ? and address = ?'
    db.run(sql, agent, channel, address)
  }
}

function writeBlobs(db: SqliteConnection, numbers: SessionNumbers, change: StoreChange): void {
  for (const row of change.blobs ?? []) {
    db.run(SQLITE.blob.insert, ...SQLITE.blob.encode(row, numbers))
  }
  for (const { sessionId, hash, uses } of change.blobUses ?? []) {
    const key = [numbers.get(sessionId), hashBytes(hash)] as const
    if (uses === 0) db.run('delete from blob where session = ? and hash = ?', ...key)
    else setUses(db, key, { sessionId, hash, uses })
  }
}

function setUses(
  db: SqliteConnection,
  [n, hashed]: readonly [number, Uint8Array],
  { sessionId, hash, uses }: BlobUses,
): void {
  const row = findBlobHead(db, n, hash)
  if (row === undefined) return
  const seal = SQLITE.blob.reseal(row, { uses }, sessionId)
  const sql = 'update blob set uses = ?, seal = ? where session = ? and hash = ?'
  db.run(sql, uses, seal, n, hashed)
}

function writeAttempts(db: SqliteConnection, numbers: SessionNumbers, change: StoreChange): void {
  for (const row of change.attempts ?? []) {
    db.run(SQLITE.attempt.insert, ...SQLITE.attempt.encode(row, numbers))
  }
  for (const id of change.attemptsRemoved ?? []) db.run('delete from attempt where id = ?', id)
  for (const row of change.usage ?? []) db.run(ADD_USAGE, ...SQLITE.usage.encode(row, numbers))
}

function erase(db: SqliteConnection, n: number, each: Erase): void {
  const { entries, mail, replies } = each
  unindexInSqlite(db, n, entries)
  for (const number of entries) {
    db.run('update entry set body = null, salt = null where id = ?', packed(n, number))
    db.run('delete from entry_vector where id = ?', packed(n, number))
  }
  for (const number of mail) eraseTexts(db, 'mail', { ...each, id: packed(n, number) })
  for (const number of replies) eraseTexts(db, 'reply', { ...each, id: packed(n, number) })
}

/** With a new seal: an erased text could be guessed from the old one. */
function eraseTexts(
  db: SqliteConnection,
  table: keyof typeof ERASED_TEXTS,
  { id, sessionId }: { readonly id: bigint; readonly sessionId: SessionId },
): void {
  // A row that cannot be read is erased all the same, and stays damaged.
  const row = orUnreadable(() => db.get(`select * from ${table} where id = ?`, id)) ?? {}
  const seal = SQLITE[table].reseal(row, ERASED_TEXTS[table], sessionId)
  const texts = Object.keys(ERASED_TEXTS[table]).map((text) => `${text} = null`)
  db.run(`update ${table} set ${texts.join(', ')}, seal = ? where id = ?`, seal, id)
}

function writeAudit(
  db: SqliteConnection,
  numbers: SessionNumbers,
  change: StoreChange,
  at: number,
): void {
  if (change.audit === undefined || change.audit.length === 0) return
  let { cursor, hash } = newestAudit(db)
  for (const draft of change.audit) {
    cursor += 1
    hash = hashAudit(hash, { ...draft, cursor, at })
    const row = { ...draft, cursor, at, hash }
    db.run(SQLITE.audit.insert, ...SQLITE.audit.encode(row, numbers))
  }
}

/**
 * The end of the audit chain; before the first row, the chain starts from the store's id. Reads
 * only the hash of the newest row: a damaged body must not fail every commit.
 */
export function newestAudit(db: SqliteConnection): {
  readonly cursor: number
  readonly hash: string
} {
  const row = db.get('select cursor, hash from audit order by cursor desc limit 1')
  if (row === undefined) return { cursor: 0, hash: sha256(readStoreId(db)) }
  return { cursor: row['cursor'] as number, hash: hashText(row['hash']) }
}

/** Undefined: there is no such row. Throws if it cannot be read. */
export function auditHashAt(db: SqliteConnection, cursor: number): string | undefined {
  const row = db.get('select * from audit where cursor = ?', cursor)
  return row && SQLITE.audit.decode(row).hash
}

export function readStoreId(db: SqliteConnection): string {
  return (db.get('select id from store where one = 1')?.['id'] ?? '') as string
}
