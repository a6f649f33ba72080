import { statSync } from 'node:fs'
import type { SessionId } from '../../base/ids.ts'
import { LIST_MAX } from '../bounds.ts'
import { conditionsOf } from '../conditions.ts'
import { contextEntries } from '../context.ts'
import type { AnswerOf, QueryOf, Readers } from '../facade.ts'
import { planLook } from '../look.ts'
import { mailState } from '../mail-state.ts'
import type { Entry, Lane, SessionRow } from '../tables/rows.ts'
import {
  checkedAudit,
  checkedBlob,
  checkedContext,
  checkedEntries,
  checkedMail,
  checkedSingles,
  checkMemory,
  pageEnds,
} from '../verify/answers.ts'
import { keyHashOf } from '../verify/session.ts'
import { newestAudit, readStoreId } from './apply.ts'
import type { SqliteConnection, Value } from './connection.ts'
import { checkedEmptied } from './erasures.ts'
import { operationalReads } from './operational-rows.ts'
import { SQLITE_SCHEMA } from './schema.ts'
import {
  findForked,
  findRoute,
  findSession,
  foldedHeads,
  hashBeforeOf,
  keptStretches,
  lineIn,
  readableSessions,
  type SessionNumbers,
} from './sessions.ts'
import { hashBytes, packed, SQLITE, sessionOf } from './tables.ts'
import { unembeddedIn } from './vectors.ts'
import { memoryOf, verifySqlite } from './verify.ts'
import { searchSqlite } from './words/search.ts'

/** A literal, because SQLite does not match a partial index with a parameter. */
const stateCondition = (state: SessionRow['state'] | undefined) =>
  state === 'erasing' ? [["state = 'erasing'"] as const] : [['state = ?', state] as const]

/** All reads, each inside one short read transaction that the caller opens. */
export function sqliteReads(db: SqliteConnection, numbers: SessionNumbers): Readers {
  const keep = (n: number, from: number, to: number): Entry[] =>
    db
      .all(
        'select * from entry where id between ? and ? order by id',
        packed(n, from),
        packed(n, to),
      )
      .map(SQLITE.entry.decode)
  const range = (session: SessionRow, from: number, to: number): Entry[] =>
    keptStretches(db, session, from, to).flatMap((stretch) =>
      keep(numbers.get(stretch.sessionId), stretch.from, stretch.to),
    )

  const hashBefore = (session: SessionRow) => hashBeforeOf(db, numbers, session)

  const withErasures = (session: SessionRow, entries: readonly Entry[]) =>
    checkedEmptied(db, numbers, session, entries)
  const entriesOf = (session: SessionRow, { from, to }: QueryOf<'readEntries'>) => {
    const entries = range(session, from, Math.min(to, from + LIST_MAX - 1))
    const checked = checkedEntries(session, { from, to }, entries, hashBefore(session))
    return withErasures(session, checked)
  }
  const operationsOf: Readers['listOperations'] = ({ sessionId, limit }) =>
    db
      .all(
        'select * from operation where session = ? order by rowid desc limit ?',
        numbers.find(sessionId) ?? 0,
        Math.min(limit, LIST_MAX),
      )
      .map((row) => SQLITE.operation.decode(row, sessionId))

  return {
    readStore: () => {
      const { cursor, hash } = newestAudit(db)
      return { id: readStoreId(db), schema: SQLITE_SCHEMA, commits: cursor, hash }
    },
    // Including the WAL.
    readSize: () =>
      [db.path, `${db.path}-wal`].reduce(
        (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
        0,
      ),
    findSession: (id) => findSession(db, id),
    look: (query) => {
      const session = findSession(db, query.sessionId)
      if (session === undefined) return undefined
      const { added, mail, operations } = planLook(query, session)
      const waiting = (lane: Lane) =>
        mail[lane] === null ? [] : mailIn(db, numbers, session, mail[lane])
      return {
        session,
        added: added === null ? [] : entriesOf(session, added),
        mail: {
          control: waiting('control'),
          user: waiting('user'),
          notification: waiting('notification'),
        },
        operations: operations === null ? null : operationsOf(operations),
      }
    },
    listSessions: ({ agent, state, after = '', limit }) => {
      const found: SessionRow[] = []
      const most = Math.min(limit, LIST_MAX)
      const isNewEnd = pageEnds()
      for (let behind: Value = after; ; ) {
        const wanted = most - found.length
        const where = conditionsOf<Value>([
          ['id > ?', behind],
          ['agent = ?', agent],
          ...stateCondition(state),
        ])
        const sql = `select id from session where ${where.text} order by id limit ?`
        const ids = db.all(sql, ...where.values, wanted)
        found.push(...readableSessions(db, ids))
        behind = ids.at(-1)?.['id'] ?? ''
        // A short page is the last one.
        if (ids.length < wanted || found.length === most || !isNewEnd(behind)) return found
      }
    },
    readReady: ({ agents, at, limit }) =>
      readableSessions(
        db,
        db.all(
          `select id from session
           where n in (
               select n from session where work = 1 and agent in (select value from json_each(?1))
               union select n from session where wake_at <= ?2 and wake_at is not null
             )
             and state = 'open' and agent in (select value from json_each(?1))
             and (runner is null or runner not in (select id from runner))
           order by n limit ?3`,
          JSON.stringify(agents),
          at,
          Math.min(limit, LIST_MAX),
        ),
      ),
    listRunners: () => db.all('select * from runner order by id').map(SQLITE.runner.decode),
    readEntries: ({ sessionId, from, to, kind }) => {
      const session = findSession(db, sessionId)
      if (session === undefined) return []
      if (kind === undefined) return entriesOf(session, { sessionId, from, to })
      // The last condition excludes nothing; it lets SQLite use the partial index of the folded
      // kinds.
      const sql = `select * from entry where id between ? and ? and kind = ?
        and kind not in ('input', 'assistant', 'result', 'turn') order by id limit ?`
      const rows = keptStretches(db, session, from, to).flatMap((stretch) => {
        const n = numbers.get(stretch.sessionId)
        return db.all(sql, packed(n, stretch.from), packed(n, stretch.to), kind, LIST_MAX)
      })
      const entries = rows.slice(0, LIST_MAX).map(SQLITE.entry.decode)
      return withErasures(session, checkedSingles(sessionId, entries, hashBefore(session)))
    },
    readContext: ({ sessionId, upto }) => {
      const session = findSession(db, sessionId)
      if (session === undefined) return null
      const last = upto ?? session.tail
      let heads: readonly Entry[] = []
      const context = contextEntries(session, last, {
        folded: (end) => {
          heads = foldedHeads(db, numbers, session, end)
          return heads
        },
        numbers: (wanted) => wanted.flatMap((number) => range(session, number, number)),
        range: (after, end) => range(session, after + 1, end),
      })
      const checked = checkedContext(context, heads, last, hashBefore(session))
      withErasures(session, checked.entries)
      return checked
    },
    listMail: (query) => {
      const session = findSession(db, query.sessionId)
      return session === undefined ? [] : mailIn(db, numbers, session, query)
    },
    findOperation: (id) => {
      const row = db.get('select * from operation where id = ?', id)
      return row && SQLITE.operation.decode(row, numbers.idOf(row['session'] as number))
    },
    listOperations: operationsOf,
    listReplies: ({ sessionId, state, after = 0, limit }) => {
      const n = sessionId === undefined ? undefined : (numbers.find(sessionId) ?? 0)
      const where = conditionsOf<Value>([
        ['id > ?', n && packed(n, after)],
        ['id < ?', n && packed(n + 1, 0)],
        ['state = ?', state],
        ...(state === undefined || state === 'sent' ? [] : [["state <> 'sent'"] as const]),
      ])
      const sql = `select * from reply where ${where.text} order by id limit ?`
      return db
        .all(sql, ...where.values, Math.min(limit, LIST_MAX))
        .map((row) => SQLITE.reply.decode(row, numbers.idOf(sessionOf(row['id']))))
    },
    findRoute: (route) => findRoute(db, numbers, route),
    listRoutes: ({ sessionId }) =>
      db
        .all('select * from route where session = ?', numbers.find(sessionId) ?? 0)
        .map((row) => SQLITE.route.decode(row, sessionId)),
    readAudit: ({ after, sessionId, limit }) => {
      const most = Math.min(limit, LIST_MAX)
      const rows =
        sessionId === undefined
          ? db.all('select * from audit where cursor > ? order by cursor limit ?', after, most)
          : db.all(
              'select * from audit where session = ? and cursor > ? order by cursor limit ?',
              sessionId,
              after,
              most,
            )
      return checkedAudit(rows.map(SQLITE.audit.decode), after)
    },
    ...operationalReads(db),
    findBlob: ({ sessionId, hash }) => {
      const session = findForked(db, sessionId)
      for (const { id } of session === undefined ? [] : lineIn(db, session)) {
        const sql = 'select * from blob where session = ? and hash = ?'
        const row = db.get(sql, numbers.get(id), hashBytes(hash))
        if (row !== undefined) return { ...checkedBlob(SQLITE.blob.decode(row, id)), sessionId }
      }
      return undefined
    },
    search: (query) => {
      const rows = new Map<SessionId, SessionRow>()
      return searchSqlite(db, numbers, query, ({ id }, from, to) => {
        const session = rows.get(id) ?? (findSession(db, id) as SessionRow)
        rows.set(id, session)
        const entries = checkedSingles(id, range(session, from, to), hashBefore(session))
        return withErasures(session, entries)
      })
    },
    readUnembedded: (query) => unembeddedIn(db, query),
    verify: (query) => verifySqlite(db, numbers, query),
  }
}

function mailIn(
  db: SqliteConnection,
  numbers: SessionNumbers,
  session: SessionRow,
  query: QueryOf<'listMail'>,
): AnswerOf<'listMail'> {
  const { lane, state, after = 0, limit } = query
  const n = numbers.get(session.id)
  const { user, notification } = session.delivered
  const most = Math.min(limit, LIST_MAX)
  const readPending = (of: Lane) => {
    // Pending input lies after its cursor, and settled controls are not `admitted`, so finding new
    // mail does not read old mail.
    const first = of === 'control' ? after : Math.max(after, session.delivered[of])
    const sql = `select * from mail where id >> 31 = ? and lane = ? and state = 'admitted'
      and id > ? order by id limit ?`
    return db.all(sql, n, of, packed(n, first), most)
  }
  const readAll = () =>
    db.all(
      `select * from mail where id > ?1 and id < ?2 and lane = coalesce(?3, lane)
         and coalesce(?4, '') in ('', case
           when state = 'withdrawn' then 'withdrawn'
           when lane = 'control' then iif(state = 'settled', 'settled', 'pending')
           when id <= iif(lane = 'user', ?5, ?6) then 'settled'
           when id <= iif(lane = 'user', ?7, ?8) then 'delivered'
           else 'pending' end)
       order by id limit ?9`,
      packed(n, after),
      packed(n + 1, 0),
      lane ?? null,
      state ?? null,
      packed(n, session.settled.user),
      packed(n, session.settled.notification),
      packed(n, user),
      packed(n, notification),
      most,
    )
  const isPending = state === 'pending' && lane !== undefined
  const found = (isPending ? readPending(lane) : readAll()).map((row) =>
    SQLITE.mail.decode(row, session.id),
  )
  return checkedMail(session, query, found).map((row) => {
    checkMemory(session, row, memoryOf(db, n, row.number, keyHashOf(row)))
    return { ...row, state: mailState(session, row) }
  })
}
