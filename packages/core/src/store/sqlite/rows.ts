import type { EntryNumber, MailNumber, OperationId, RunnerId, SessionId } from '../../base/ids.ts'
import type { ErasedUpTo } from '../commits.ts'
import { compactionMetaOf } from '../fold.ts'
import {
  type NoteKey,
  type NoteRow,
  PROPOSED,
  type ScheduleRow,
  type TokenRow,
} from '../operational-rows.ts'
import type {
  AttemptRow,
  Entry,
  EntryHead,
  InputLane,
  IntakeRow,
  MailRow,
  OperationRow,
  ReplyRow,
  Route,
  RouteRow,
  RunnerRow,
  SessionRow,
} from '../rows.ts'
import type { Remains, Rows } from '../rules/ruling.ts'
import type { SqliteConnection, Value } from './connection.ts'
import { findNote, findScheduleRow, findToken } from './operational-rows.ts'
import { findSession, readableSessions, type SessionNumbers } from './sessions.ts'
import { hashBytes, packed, SQLITE, SQLITE_HEAD_COLUMNS, sessionOf, unpacked } from './tables.ts'

/** The rules' view of the tables, inside a write transaction. */
export class SqliteRows implements Rows {
  readonly #db: SqliteConnection
  readonly #numbers: SessionNumbers

  constructor(db: SqliteConnection, numbers: SessionNumbers) {
    this.#db = db
    this.#numbers = numbers
  }

  session(id: SessionId): SessionRow | undefined {
    return findSession(this.#db, id)
  }

  heldBy(runner: RunnerId): readonly SessionRow[] {
    const ids = this.#db.all('select id from session where runner = ? order by n', runner)
    return readableSessions(this.#db, ids)
  }

  runner(id: RunnerId): RunnerRow | undefined {
    const row = this.#db.get('select * from runner where id = ?', id)
    return row && SQLITE.runner.decode(row)
  }

  intake(keyHash: string): IntakeRow | undefined {
    const row = this.#db.get(
      'select session, number, lower(hex(body_hash)) as body_hash from intake where key_hash = ?',
      hashBytes(keyHash),
    )
    if (row === undefined) return undefined
    const sessionId = this.#numbers.idOf(row['session'] as number)
    return {
      keyHash,
      bodyHash: row['body_hash'] as string,
      sessionId,
      number: row['number'] as MailNumber,
    }
  }

  mail(sessionId: SessionId, number: MailNumber): MailRow | undefined {
    const id = packed(this.#numbers.get(sessionId), number)
    const row = this.#db.get('select * from mail where id = ?', id)
    return row && SQLITE.mail.decode(row)
  }

  firstWaiting(sessionId: SessionId, lane: InputLane, after: MailNumber): MailNumber | undefined {
    const n = this.#numbers.get(sessionId)
    const row = this.#db.get(
      `select id from mail
       where id >> 31 = ? and lane = ? and state = 'admitted' and id > ? order by id limit 1`,
      n,
      lane,
      packed(n, after),
    )
    return row && (unpacked(row['id']) as MailNumber)
  }

  waitingStops(sessionId: SessionId): readonly MailRow[] {
    return this.#db
      .all(
        `select * from mail
         where id >> 31 = ? and lane = 'control' and state = 'admitted' and control = 'stop'
         order by id`,
        this.#numbers.get(sessionId),
      )
      .map(SQLITE.mail.decode)
  }

  sourcePending(sessionId: SessionId, source: string): number {
    const row = this.#db.get(
      'select pending from sender where session = ? and source = ?',
      this.#numbers.get(sessionId),
      source.toWellFormed(),
    )
    return (row?.['pending'] ?? 0) as number
  }

  entry(sessionId: SessionId, number: EntryNumber): Entry | undefined {
    const id = packed(this.#numbers.get(sessionId), number)
    const row = this.#db.get('select * from entry where id = ?', id)
    return row && SQLITE.entry.decode(row)
  }

  inputsAfter(sessionId: SessionId, number: EntryNumber): readonly EntryHead[] {
    const n = this.#numbers.get(sessionId)
    return this.#db
      .all(
        `select ${SQLITE_HEAD_COLUMNS} from entry
         where id >= ? and id < ? and kind = 'input' order by id`,
        packed(n, number),
        packed(n + 1, 0),
      )
      .map(SQLITE.entry.decode)
  }

  handoffs(sessionId: SessionId): readonly EntryHead[] {
    const n = this.#numbers.get(sessionId)
    return this.#db
      .all(
        `select ${SQLITE_HEAD_COLUMNS} from entry
         where id > ? and id < ? and kind not in ('input', 'assistant', 'result', 'turn')
         order by id`,
        packed(n, 0),
        packed(n + 1, 0),
      )
      .map(SQLITE.entry.decode)
      .filter((entry) => compactionMetaOf(entry) !== undefined)
  }

  operation(id: OperationId): OperationRow | undefined {
    const row = this.#db.get('select * from operation where id = ?', id)
    return row && SQLITE.operation.decode(row, this.#numbers.idOf(row['session'] as number))
  }

  route({ agent, channel, address }: Route): RouteRow | undefined {
    const row = this.#db.get(
      'select * from route where agent = ? and channel = ? and address = ?',
      agent,
      channel,
      address,
    )
    return row && SQLITE.route.decode(row, this.#numbers.idOf(row['session'] as number))
  }

  blobUses(sessionId: SessionId, hash: string): number | undefined {
    const row = this.#db.get(
      'select uses from blob where session = ? and hash = ?',
      this.#numbers.get(sessionId),
      hashBytes(hash),
    )
    return row?.['uses'] as number | undefined
  }

  reply(sessionId: SessionId, number: number): ReplyRow | undefined {
    const n = this.#numbers.find(sessionId)
    const row = n && this.#db.get('select * from reply where id = ?', packed(n, number))
    return row ? SQLITE.reply.decode(row, sessionId) : undefined
  }

  repliesOf(sessionId: SessionId, entry: EntryNumber): readonly ReplyRow[] {
    const n = this.#numbers.get(sessionId)
    return this.#db
      .all('select * from reply where id >> 31 = ? and entry = ? order by id', n, entry)
      .map((row) => SQLITE.reply.decode(row, sessionId))
  }

  nextReply(edge: string, at: number): ReplyRow | undefined {
    const row = this.#db.get(
      `select * from reply
       where edge = ? and state = 'waiting' and leads = 1 and body is not null and due_at <= ?
         and (claimant is null or claimant not in (select id from runner))
       order by due_at, at, id limit 1`,
      edge,
      at,
    )
    return row && SQLITE.reply.decode(row, this.#numbers.idOf(sessionOf(row['id'])))
  }

  attempt(id: OperationId): AttemptRow | undefined {
    const row = this.#db.get('select * from attempt where id = ?', id)
    return row && SQLITE.attempt.decode(row)
  }

  schedule(id: string): ScheduleRow | undefined {
    return findScheduleRow(this.#db, id)
  }

  waitingSchedules(sessionId: SessionId): number {
    const sql = "select count(*) as n from schedule where session = ? and state = 'waiting'"
    return this.#db.get(sql, sessionId)?.['n'] as number
  }

  note(agent: string, scope: string, id: string): NoteRow | undefined {
    return findNote(this.#db, { agent, scope, id })
  }

  notes(agent: string, scope: string): number {
    const sql = 'select count(*) as n from note where agent = ? and scope = ?'
    return this.#db.get(sql, agent, scope)?.['n'] as number
  }

  notesFrom(sessionId: SessionId, entry: EntryNumber): readonly NoteKey[] {
    const sql = `select agent, scope, id from note where origin_session = ? and origin_entry >= ?
      and (origin_entry = ? or substr(id, 1, ${PROPOSED.length}) = '${PROPOSED}')`
    return this.#db.all(sql, sessionId, entry, entry) as unknown as NoteKey[]
  }

  token(id: string): TokenRow | undefined {
    return findToken(this.#db, 'id', id)
  }

  tokenOf(hash: string): TokenRow | undefined {
    return findToken(this.#db, 'hash', hashBytes(hash))
  }

  tokens(): number {
    return this.#db.get('select count(*) as n from token')?.['n'] as number
  }

  stagedBefore(at: number): readonly { sessionId: SessionId; hash: string }[] {
    return this.#db
      .all(
        'select session, lower(hex(hash)) as hash from blob where uses = 0 and at < ? limit 1000',
        at,
      )
      .map((row) => ({
        sessionId: this.#numbers.idOf(row['session'] as number),
        hash: row['hash'] as string,
      }))
  }

  remains(sessionId: SessionId, limit: number, after: ErasedUpTo): Remains {
    const n = this.#numbers.get(sessionId)
    const bodies = (table: keyof ErasedUpTo) =>
      this.#db
        .all(
          `select id from ${table} where id > ? and id < ? and body is not null order by id limit ?`,
          packed(n, after[table]),
          packed(n + 1, 0),
          limit,
        )
        .map((row) => unpacked(row['id'] as Value))
    return {
      entries: bodies('entry') as EntryNumber[],
      mail: bodies('mail') as MailNumber[],
      replies: bodies('reply'),
      blobs: this.#db
        .all('select lower(hex(hash)) as hash from blob where session = ? limit ?', n, limit)
        .map((row) => row['hash'] as string),
      routes: this.#db
        .all('select * from route where session = ? limit ?', n, limit)
        .map((row) => SQLITE.route.decode(row, sessionId)),
      schedules: this.#db
        .all('select id from schedule where session = ? limit ?', sessionId, limit)
        .map((row) => row['id'] as string),
      notes: this.#db.all(
        'select agent, scope, id from note where origin_session = ? limit ?',
        sessionId,
        limit,
      ) as unknown as NoteKey[],
    }
  }
}
