import { statSync } from 'node:fs'
import { entryNumber, type SessionId } from '../../base/ids.ts'
import { LIST_MAX } from '../bounds.ts'
import { sha256 } from '../canonical.ts'
import { contextEntries } from '../context.ts'
import type { Readers } from '../facade.ts'
import { mailState } from '../mail-state.ts'
import type { Finding } from '../queries.ts'
import type { AuditRow, Entry, SessionRow } from '../rows.ts'
import { findAuditDamage, orUnreadable, TranscriptCheck } from '../verify.ts'
import { newestAudit, readStoreId } from './apply.ts'
import {
  bytes,
  decodeAttempt,
  decodeAudit,
  decodeBlob,
  decodeEntry,
  decodeMail,
  decodeOperation,
  decodeReply,
  decodeRoute,
  decodeRunner,
  decodeSession,
  packed,
  sessionOf,
} from './codec.ts'
import type { Connection } from './connection.ts'
import { SCHEMA } from './schema.ts'
import { searchSession } from './search.ts'
import type { SessionNumbers } from './sessions.ts'
import { standingReads } from './standing.ts'

const VERIFY_PAGE = 500

/** All reads, each inside one short read transaction that the caller opens. */
export function sqliteReads(db: Connection, numbers: SessionNumbers): Readers {
  const range = (n: number, from: number, to: number): Entry[] =>
    db
      .all(
        'select * from entry where id between ? and ? order by id',
        packed(n, from),
        packed(n, to),
      )
      .map(decodeEntry)
  const findSession = (id: SessionId): SessionRow | undefined => {
    const row = db.get('select * from session where id = ?', id)
    return row && decodeSession(row)
  }

  return {
    readStore: () => {
      const { cursor, hash } = newestAudit(db)
      return { id: readStoreId(db), schema: SCHEMA, commits: cursor, hash }
    },
    // With what is not yet folded into the file.
    readSize: () =>
      [db.path, `${db.path}-wal`].reduce(
        (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
        0,
      ),
    findSession,
    listSessions: ({ agent, state, after = '', limit }) =>
      db
        .all(
          `select * from session where id > ? and agent = coalesce(?, agent)
             and state = coalesce(?, state) order by id limit ?`,
          after,
          agent ?? null,
          state ?? null,
          Math.min(limit, LIST_MAX),
        )
        .map(decodeSession),
    readReady: ({ agents, at, limit }) =>
      db
        .all(
          `select * from session
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
        )
        .map(decodeSession),
    listRunners: () => db.all('select * from runner order by id').map(decodeRunner),
    readEntries: ({ sessionId, from, to }) => {
      const n = numbers.find(sessionId)
      return n === undefined ? [] : range(n, from, Math.min(to, from + LIST_MAX - 1))
    },
    readContext: ({ sessionId, upto }) => {
      const session = findSession(sessionId)
      const n = numbers.find(sessionId)
      if (session === undefined || n === undefined) return null
      return contextEntries(session, upto ?? session.tail, {
        folded: (last) =>
          db
            .all(
              `select id, kind, operation, fence, at, tokens, meta, body_hash, prev_hash, hash
               from entry where id between ? and ?
                 and kind not in ('input', 'assistant', 'result', 'turn') order by id`,
              packed(n, 1),
              packed(n, last),
            )
            .map(decodeEntry),
        numbers: (wanted) => wanted.flatMap((number) => range(n, number, number)),
        range: (after, last) => range(n, after + 1, last),
      })
    },
    listMail: ({ sessionId, lane, state, after = 0, limit }) => {
      const session = findSession(sessionId)
      const n = numbers.find(sessionId)
      if (session === undefined || n === undefined) return []
      const { user, notification } = session.delivered
      // Pending input lies behind its cursor: old mail is not read to find new mail.
      const behind = state === 'pending' && lane !== undefined && lane !== 'control'
      const first = behind ? session.delivered[lane] : 0
      return db
        .all(
          `select * from mail where id > ?1 and id < ?2 and lane = coalesce(?3, lane)
             and coalesce(?4, '') in ('', case
               when state = 'withdrawn' then 'withdrawn'
               when lane = 'control' then iif(state = 'settled', 'settled', 'pending')
               when id <= iif(lane = 'user', ?5, ?6) then 'settled'
               when id <= iif(lane = 'user', ?7, ?8) then 'delivered'
               else 'pending' end)
           order by id limit ?9`,
          packed(n, Math.max(after, first)),
          packed(n + 1, 0),
          lane ?? null,
          state ?? null,
          packed(n, session.settled.user),
          packed(n, session.settled.notification),
          packed(n, user),
          packed(n, notification),
          Math.min(limit, LIST_MAX),
        )
        .map(decodeMail)
        .map((row) => ({ ...row, state: mailState(session, row) }))
    },
    findOperation: (id) => {
      const row = db.get('select * from operation where id = ?', id)
      return row && decodeOperation(row, numbers.idOf(row['session'] as number))
    },
    listOperations: ({ sessionId, limit }) =>
      db
        .all(
          `select * from operation where session = ? order by started_at desc, rowid desc limit ?`,
          numbers.find(sessionId) ?? 0,
          Math.min(limit, LIST_MAX),
        )
        .map((row) => decodeOperation(row, sessionId)),
    listReplies: ({ sessionId, state, after = 0, limit }) => {
      const n = sessionId === undefined ? undefined : (numbers.find(sessionId) ?? 0)
      return db
        .all(
          `select * from reply where id between ? and ? and state = coalesce(?, state)
           order by id limit ?`,
          n === undefined ? 0n : packed(n, after + 1),
          n === undefined ? 2n ** 62n : packed(n + 1, 0) - 1n,
          state ?? null,
          Math.min(limit, LIST_MAX),
        )
        .map((row) => decodeReply(row, numbers.idOf(sessionOf(row['id']))))
    },
    findRoute: ({ agent, channel, address }) => {
      const row = db.get(
        'select * from route where agent = ? and channel = ? and address = ?',
        agent,
        channel,
        address,
      )
      return row && decodeRoute(row, numbers.idOf(row['session'] as number))
    },
    listRoutes: ({ sessionId }) =>
      db
        .all('select * from route where session = ?', numbers.find(sessionId) ?? 0)
        .map((row) => decodeRoute(row, sessionId)),
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
      return rows.map(decodeAudit)
    },
    readAttempts: ({ sessionId, modelRoute, task, since, limit }) =>
      db
        .all(
          `select * from attempt where at >= ? and session = coalesce(?, session)
             and model_route = coalesce(?, model_route) and task = coalesce(?, task)
           order by at desc limit ?`,
          since,
          sessionId ?? null,
          modelRoute ?? null,
          task ?? null,
          Math.min(limit, LIST_MAX),
        )
        .map(decodeAttempt),
    ...standingReads(db),
    findBlob: ({ sessionId, hash }) => {
      const row = db.get(
        'select * from blob where session = ? and hash = ?',
        numbers.find(sessionId) ?? 0,
        bytes(hash),
      )
      return row && decodeBlob(row, sessionId)
    },
    search: (query) => {
      const session = findSession(query.sessionId)
      const n = numbers.find(query.sessionId)
      if (session === undefined || n === undefined) return []
      return searchSession(db, n, session, query, (from, to) => range(n, from, to))
    },
    verify: ({ sessionId }) => {
      const ids = db
        .all('select id from session where id = coalesce(?, id) order by n', sessionId ?? null)
        .map((row) => row['id'] as SessionId)
      const findings = ids.flatMap((id) => verifySession(id, findSession, numbers.get(id), range))
      return [...findings, ...verifyAudit(db), ...verifyFile(db)]
    },
  }
}

type Range = (n: number, from: number, to: number) => readonly Entry[]

function verifySession(
  id: SessionId,
  find: (id: SessionId) => SessionRow | undefined,
  n: number,
  range: Range,
): readonly Finding[] {
  const session = orUnreadable(() => find(id))
  if (session === undefined) return []
  if (session === null) {
    return [{ sessionId: id, entry: null, problem: 'session row cannot be read' }]
  }
  const check = new TranscriptCheck(session)
  for (let from = 1; ; ) {
    const page = orUnreadable(() => range(n, from, from + VERIFY_PAGE - 1))
    if (page === null) addOneByOne(check, from, (number) => range(n, number, number))
    else for (const entry of page) check.add(entry)
    from += VERIFY_PAGE
    if (from > session.tail && (page === null || page.length === 0)) return check.end()
  }
}

/** A byte that changed may leave a row that is none: it is named, and the others are checked. */
function addOneByOne(
  check: TranscriptCheck,
  from: number,
  read: (number: number) => readonly Entry[],
): void {
  for (let number = from; number < from + VERIFY_PAGE; number++) {
    const found = orUnreadable(() => read(number))
    if (found === null) check.addUnreadable(entryNumber(number))
    else for (const entry of found) check.add(entry)
  }
}

function verifyAudit(db: Connection): readonly Finding[] {
  const findings: Finding[] = []
  let prevHash: string | null = sha256(readStoreId(db))
  let cursor = 0
  for (;;) {
    const sql = 'select cursor from audit where cursor > ? order by cursor limit ?'
    const page = db.all(sql, cursor, VERIFY_PAGE).map((row) => row['cursor'] as number)
    if (page.length === 0) return findings
    for (const number of page) {
      const row = orUnreadable(() => findAudit(db, number))
      const expected = cursor + 1
      const problem = findAuditDamage(row, { cursor: number, expected, prevHash })
      if (problem !== null) findings.push({ sessionId: null, entry: null, problem })
      cursor = number
      prevHash = row?.hash ?? null
    }
  }
}

function findAudit(db: Connection, cursor: number): AuditRow {
  return decodeAudit(db.get('select * from audit where cursor = ?', cursor) ?? {})
}

/**
 * On a connection of its own: one that has searched remembers the shape of the word index, and after
 * somebody else's commit its check reports a corruption that is not there (SQLite 3.53.4).
 */
function verifyFile(present: Connection): readonly Finding[] {
  const db = present.again()
  try {
    return db
      .all('pragma quick_check(10)')
      .map((row) => String(Object.values(row)[0]))
      .filter((text) => text !== 'ok')
      .map((text) => ({ sessionId: null, entry: null, problem: `file: ${text}` }))
  } finally {
    db.close()
  }
}
