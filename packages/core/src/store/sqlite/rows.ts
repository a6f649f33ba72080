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
import type { ReplyHead, ReplyKey } from '../retention-commits.ts'
import type { ForkPrefix, RemainingRows, Rows } from '../rules/ruling.ts'
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
} from '../tables/rows.ts'
import type { EmbeddedRow } from '../vector-rows.ts'
import type { SqliteConnection, Value } from './connection.ts'
import { emptiedIn, unrecorded } from './erasures.ts'
import { findNote, findScheduleRow, findToken } from './operational-rows.ts'
import {
  findForked,
  findRoute,
  findSession,
  foldedHeads,
  keptStretches,
  readableSessions,
  type SessionNumbers,
} from './sessions.ts'
import {
  BLOB_HEAD,
  findBlobHead,
  hashBytes,
  hashText,
  packed,
  SQLITE,
  SQLITE_HEAD_COLUMNS,
  sessionOf,
  unpacked,
} from './tables.ts'
import { embeddedIn, livingIn } from './vectors.ts'

/** What an erasure has still to empty. A control item drops its body when it is settled, and keeps its key. */
const REMAINS: { readonly [table in keyof ErasedUpTo]: string } = {
  entry: 'body is not null',
  mail: '(body is not null or key is not null)',
  reply: 'body is not null',
}
const ENTRY_MAX = 2 ** 31 - 1
const numberOf = ({ number }: { readonly number: number }) => number

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

  related(root: SessionId): readonly SessionRow[] {
    const ids = this.#db.all('select id from session where id = ?1 or root = ?1 order by n', root)
    return ids.flatMap((row) => findSession(this.#db, row['id'] as SessionId) ?? [])
  }

  runner(id: RunnerId): RunnerRow | undefined {
    const row = this.#db.get('select * from runner where id = ?', id)
    return row && SQLITE.runner.decode(row)
  }

  intake(keyHash: string): IntakeRow | undefined {
    const row = this.#db.get('select * from intake where key_hash = ?', hashBytes(keyHash))
    return row && SQLITE.intake.decode(row, this.#numbers.idOf(row['session'] as number))
  }

  mail(sessionId: SessionId, number: MailNumber): MailRow | undefined {
    const id = packed(this.#numbers.get(sessionId), number)
    const row = this.#db.get('select * from mail where id = ?', id)
    return row && SQLITE.mail.decode(row, sessionId)
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
      .map((row) => SQLITE.mail.decode(row, sessionId))
  }

  sourcePending(sessionId: SessionId, source: string): number {
    const row = this.#db.get(
      'select * from sender where session = ? and source = ?',
      this.#numbers.get(sessionId),
      source.toWellFormed(),
    )
    return row === undefined ? 0 : SQLITE.sender.decode(row, sessionId).pending
  }

  entry(sessionId: SessionId, number: EntryNumber): Entry | undefined {
    const [keeper] = this.#stretches(sessionId, number, number)
    const row = keeper && this.#db.get('select * from entry where id = ?', packed(keeper.n, number))
    return row && SQLITE.entry.decode(row)
  }

  /** The sessions that store these entries; for a session that is not a fork, only itself. */
  #stretches(sessionId: SessionId, from: number, to: number) {
    const session = findForked(this.#db, sessionId)
    if (session === undefined) return []
    return keptStretches(this.#db, session, from, to).map((stretch) => ({
      ...stretch,
      n: this.#numbers.get(stretch.sessionId),
    }))
  }

  inputsAfter(sessionId: SessionId, number: EntryNumber): readonly EntryHead[] {
    const sql = `select ${SQLITE_HEAD_COLUMNS} from entry
      where id between ? and ? and kind = 'input' order by id`
    return this.#stretches(sessionId, number + 1, ENTRY_MAX).flatMap(({ n, from, to }) =>
      this.#db.all(sql, packed(n, from), packed(n, to)).map(SQLITE.entry.decode),
    )
  }

  forkPrefix(sessionId: SessionId, upto: EntryNumber): ForkPrefix {
    const session = findSession(this.#db, sessionId)
    if (session === undefined) return { folded: [], newest: [] }
    const last = Math.max(upto, session.settings)
    return {
      folded: foldedHeads(this.#db, this.#numbers, session, last),
      newest: this.#newest(sessionId, upto),
    }
  }

  #newest(sessionId: SessionId, upto: EntryNumber): readonly EntryHead[] {
    const stretches = this.#stretches(sessionId, 1, upto)
    const newest = stretches.findLast(({ n, from, to }) => this.#speaks(n, from, to) !== undefined)
    if (newest === undefined) return []
    const first = unpacked(this.#speaks(newest.n, newest.from, newest.to))
    const sql = `select ${SQLITE_HEAD_COLUMNS} from entry where id between ? and ? order by id`
    return this.#stretches(sessionId, first, upto).flatMap(({ n, from, to }) =>
      this.#db.all(sql, packed(n, from), packed(n, to)).map(SQLITE.entry.decode),
    )
  }

  #speaks(n: number, from: number, to: number): Value | undefined {
    const sql = `select id from entry where id between ? and ? and kind in ('assistant', 'turn')
      order by id desc limit 1`
    return this.#db.get(sql, packed(n, from), packed(n, to))?.['id']
  }

  erased(sessionIds: readonly SessionId[]): readonly string[] {
    return sessionIds.flatMap((id) => {
      const session = this.session(id)
      const n = this.#numbers.get(id)
      const emptied = emptiedIn(this.#db, n, 1, ENTRY_MAX)
      if (session?.state !== 'open') return emptied.map(({ hash }) => hash)
      const of = emptied.map(({ number }) => ({ keeper: id, number }))
      const lost = new Set(unrecorded(this.#db, this.#numbers, session, of).map(numberOf))
      return emptied.filter(({ number }) => !lost.has(number)).map(({ hash }) => hash)
    })
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

  route(route: Route): RouteRow | undefined {
    return findRoute(this.#db, this.#numbers, route)
  }

  blobUses(sessionId: SessionId, hash: string): number | undefined {
    const row = findBlobHead(this.#db, this.#numbers.get(sessionId), hash)
    if (row !== undefined) SQLITE.blob.check(row, sessionId)
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

  nextReply(edge: string, at: number): ReturnType<Rows['nextReply']> {
    const row = this.#db.get(
      `select * from reply
       where edge = ? and state = 'waiting' and leads = 1 and body is not null and due_at <= ?
         and (claimant is null or claimant not in (select id from runner))
       order by due_at, at, id limit 1`,
      edge,
      at,
    )
    if (row === undefined) return undefined
    const id = this.#numbers.idOf(sessionOf(row['id']))
    const reply = SQLITE.reply.decode(row, id)
    return SQLITE.reply.isWhole(row, id) ? reply : { ...reply, isChanged: true }
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
    const sql = `select ${BLOB_HEAD} from blob where uses = 0 and at < ? limit 1000`
    return this.#db
      .all(sql, at)
      .map((row) => ({ row, sessionId: this.#numbers.idOf(row['session'] as number) }))
      .filter(({ row, sessionId }) => SQLITE.blob.isWhole(row, sessionId))
      .map(({ row, sessionId }) => ({ sessionId, hash: hashText(row['hash']) }))
  }

  attemptsBefore(at: number, limit: number): readonly AttemptRow[] {
    return this.#db
      .all('select * from attempt where at < ? order by at limit ?', at, limit)
      .map(SQLITE.attempt.decode)
  }

  repliesAfter(after: ReplyKey | undefined, limit: number): readonly ReplyHead[] {
    const id = after === undefined ? 0 : packed(this.#numbers.get(after.sessionId), after.number)
    const rows = this.#db.all(
      `select reply.id, reply.state, reply.at, session.id as session, session.replies
        from reply cross join session on session.n = reply.id >> 31
        where reply.id > ? order by reply.id limit ?`,
      id,
      limit,
    )
    return rows.map((row) => {
      const number = unpacked(row['id'])
      return {
        sessionId: row['session'] as SessionId,
        number,
        state: row['state'] as ReplyRow['state'],
        at: row['at'] as number,
        isLast: number >= (row['replies'] as number),
      }
    })
  }

  embedded(sessionId: SessionId): EmbeddedRow | undefined {
    const n = this.#numbers.find(sessionId)
    return n === undefined ? undefined : embeddedIn(this.#db, n, sessionId)
  }

  livingEntries(sessionId: SessionId, after: number, upto: number): readonly EntryNumber[] {
    return livingIn(this.#db, this.#numbers.get(sessionId), after, upto)
  }

  remainingRows(
    sessionId: SessionId,
    limit: number,
    { entry, ...after }: ErasedUpTo,
    retained: EntryNumber,
  ): RemainingRows {
    const n = this.#numbers.get(sessionId)
    const behind = { ...after, entry: Math.max(entry, retained) }
    const used = `select lower(value) from entry, json_each(entry.meta, '$.blobs')
      where entry.id between ? and ? and entry.body is not null`
    const bodies = (table: keyof ErasedUpTo) =>
      this.#db
        .all(
          `select id from ${table} where id > ? and id < ?
             and ${REMAINS[table]} order by id limit ?`,
          packed(n, behind[table]),
          packed(n + 1, 0),
          limit,
        )
        .map((row) => unpacked(row['id'] as Value))
    return {
      entries: bodies('entry') as EntryNumber[],
      mail: bodies('mail') as MailNumber[],
      replies: bodies('reply'),
      blobs: this.#db
        .all(
          `select lower(hex(hash)) as hash from blob where session = ?
             and (? = 0 or lower(hex(hash)) not in (${used})) limit ?`,
          n,
          retained,
          packed(n, 1),
          packed(n, retained),
          limit,
        )
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
