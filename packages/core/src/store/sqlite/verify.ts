import type { EntryNumber, MailNumber, SessionId } from '../../base/ids.ts'
import { sha256 } from '../integrity/canonical.ts'
import { orUnreadable } from '../integrity/damaged-row.ts'
import type { StoreFinding } from '../queries.ts'
import type { SessionRow } from '../tables/rows.ts'
import { pageEnds } from '../verify/answers.ts'
import { AuditCheck, type Counted, stateFinding } from '../verify/audit.ts'
import { changedRow, SEALED_KEYS } from '../verify/changed-rows.ts'
import { type KeyMemory, keyHashOf, SessionCheck, unreadableSession } from '../verify/session.ts'
import type { Prefix } from '../verify/transcript.ts'
import { readStoreId } from './apply.ts'
import type { SqliteColumns, SqliteConnection, Value } from './connection.ts'
import { unrecordedOf } from './erasures.ts'
import { findMissingTables } from './file-check.ts'
import { findUnchecked, foldedHeads, hasDeletion, type SessionNumbers } from './sessions.ts'
import { hashBytes, hashText, packed, SQLITE, sessionOf, unpacked } from './tables.ts'

const PAGE = 500

const BESIDE = 'rows beside sessions'

/** Checks everything in the file against everything else in it. */
export function verifySqlite(
  db: SqliteConnection,
  numbers: SessionNumbers,
  { sessionId }: { readonly sessionId?: SessionId | null },
): readonly StoreFinding[] {
  if (sessionId === null) {
    return [
      ...findingsOf('the sessions', null, () => findNotDeleted(db)),
      ...findingsOf(BESIDE, null, () => findChanged(db, numbers)),
    ]
  }
  const missing = findMissingTables(db)
  const findings = missing === null ? [] : [{ sessionId: null, entry: null, problem: missing }]
  return [...findings, ...verifyRows(db, numbers, sessionId)]
}

function verifyRows(
  db: SqliteConnection,
  numbers: SessionNumbers,
  sessionId: SessionId | undefined,
): readonly StoreFinding[] {
  const ids = db
    .all('select id from session where id = coalesce(?, id) order by n', sessionId ?? null)
    .map((row) => row['id'] as SessionId)
  return [
    ...ids.flatMap((id) => findingsOf('its rows', id, () => verifySession(db, numbers, id))),
    ...findingsOf('the audit', null, () => verifyAudit(db, sessionId)),
    ...findingsOf('all rows', null, () => (sessionId === undefined ? findStrays(db) : [])),
    ...findingsOf(BESIDE, null, () =>
      sessionId === undefined
        ? [...findChanged(db, numbers), ...findChangedReplies(db, numbers)]
        : [],
    ),
    ...findingsOf('the keys', null, () => findKeysWithoutMail(db, sessionId)),
    ...findingsOf('the file', null, () => verifyFile(db)),
  ]
}

/**
 * An unreadable page ends one part of the check; the others continue. A missing table has its own
 * finding.
 */
function findingsOf(
  what: string,
  sessionId: SessionId | null,
  check: () => readonly StoreFinding[],
): readonly StoreFinding[] {
  try {
    return check()
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    if (why.startsWith('no such table: ')) return []
    return [{ sessionId, entry: null, problem: `${what} cannot be read to the end: ${why}` }]
  }
}

function verifySession(
  db: SqliteConnection,
  numbers: SessionNumbers,
  id: SessionId,
): readonly StoreFinding[] {
  const n = numbers.get(id)
  let session: SessionRow | undefined
  try {
    session = findUnchecked(db, id)
  } catch (error) {
    return [unreadableSession(id, error)]
  }
  if (session === undefined) return []
  const check = new SessionCheck(session, prefixOf(db, numbers, session))
  check.addWork(db.get('select work from session where n = ?', n)?.['work'] === 1)
  for (const [number, entry] of eachOf(db, 'entry', n, SQLITE.entry.decode)) {
    if (entry === null) check.addUnreadableEntry(number as EntryNumber)
    else check.addEntry(entry)
  }
  for (const [number, mail] of eachOf(db, 'mail', n, SQLITE.mail.decode)) {
    if (mail === null) check.addUnreadableMail(number as MailNumber)
    else check.addMail(mail, memoryOf(db, n, number, keyHashOf(mail)))
  }
  for (const { hash } of db.all('select hash from blob where session = ?', n)) {
    const row = db.get('select bytes from blob where session = ? and hash = ?', n, hash ?? null)
    const name = hashText(hash)
    check.addBlob(name, sha256(row?.['bytes'] as Uint8Array) === name)
  }
  for (const { number } of unrecordedOf(db, numbers, session)) check.addUnrecorded(number)
  return check.end()
}

function prefixOf(
  db: SqliteConnection,
  numbers: SessionNumbers,
  session: SessionRow,
): Prefix | undefined {
  const { origin, forkedAt } = session
  if (origin === null) return undefined
  const n = numbers.find(origin)
  const row = n && db.get('select hash from entry where id = ?', packed(n, forkedAt))
  const folded = foldedHeads(db, numbers, session, forkedAt)
  return { folded, hash: row ? hashText(row['hash']) : null }
}

/**
 * By keys rather than by counting to the tail, since a damaged tail may be any number. If a page
 * fails, its rows are read one by one, and an unreadable row is null.
 */
function* eachOf<Row extends { readonly number: number }>(
  db: SqliteConnection,
  table: 'entry' | 'mail',
  n: number,
  decode: (row: SqliteColumns) => Row,
): Iterable<readonly [number: number, row: Row | null]> {
  const behind = `from ${table} where id > ? and id < ? order by id limit ${PAGE}`
  const isNewEnd = pageEnds()
  for (let last = packed(n, 0); ; ) {
    const place = [last, packed(n + 1, 0)] as const
    const read = () => db.all(`select * ${behind}`, ...place).map(decode)
    const page = orUnreadable(() => read().map((row) => [row.number, row] as const))
    const found = page ?? readOneByOne(db, table, db.all(`select id ${behind}`, ...place), decode)
    yield* found
    if (found.length < PAGE) return
    last = packed(n, found.at(-1)?.[0] ?? 0)
    if (!isNewEnd(last)) return
  }
}

function readOneByOne<Row>(
  db: SqliteConnection,
  table: 'entry' | 'mail',
  ids: readonly SqliteColumns[],
  decode: (row: SqliteColumns) => Row,
): readonly (readonly [number: number, row: Row | null])[] {
  return ids.map(({ id = 0 }) => {
    const one = () => decode(db.get(`select * from ${table} where id = ?`, id) ?? {})
    return [unpacked(id), orUnreadable(one)]
  })
}

export function memoryOf(
  db: SqliteConnection,
  n: number,
  number: number,
  keyHash: string | null,
): KeyMemory | undefined {
  if (keyHash === null) return undefined
  const sql = `select session = ? and number = ? as own, lower(hex(body_hash)) as body_hash
    from intake where key_hash = ?`
  const row = db.get(sql, n, number, hashBytes(keyHash))
  return row && { bodyHash: row['body_hash'] as string, isOwn: row['own'] === 1 }
}

function verifyAudit(db: SqliteConnection, only: SessionId | undefined): readonly StoreFinding[] {
  const check = new AuditCheck(readStoreId(db))
  const isNewEnd = pageEnds()
  for (let last = 0; ; ) {
    const sql = 'select cursor from audit where cursor > ? order by cursor limit ?'
    const page = db.all(sql, last, PAGE).map((row) => row['cursor'] as number)
    for (const cursor of page) {
      const find = () => db.get('select * from audit where cursor = ?', cursor)
      check.add(
        cursor,
        orUnreadable(() => SQLITE.audit.decode(find() ?? {})),
      )
    }
    last = page.at(-1) ?? last
    if (page.length < PAGE || !isNewEnd(last)) return check.end(eachCounted(db), only)
  }
}

/** As floating-point numbers, so that one that is far too large does not hide the others. */
function* eachCounted(db: SqliteConnection): Iterable<Counted> {
  const isNewEnd = pageEnds()
  for (let last = 0; ; ) {
    const page = db.all(
      `select n, id, agent, scope, birth, state, title, title_salt as titleSalt,
         cast(created_at as real) as createdAt, cast(tail as real) as tail, cast(mail as real) as mail,
         cast(fence as real) as fence from session where n > ? order by n limit ?`,
      last,
      PAGE,
    )
    yield* page as unknown as Counted[]
    last = (page.at(-1)?.['n'] ?? last) as number
    if (page.length < PAGE || !isNewEnd(last)) return
  }
}

/** Tables with rows of sessions, and the column that has the session's number. */
const OF_SESSIONS = {
  entry: 'id >> 31',
  mail: 'id >> 31',
  blob: 'session',
  operation: 'session',
  route: 'session',
  intake: 'session',
}

/** Rows without a session row. Only that row has the session's id; the others have its number. */
function findStrays(db: SqliteConnection): readonly StoreFinding[] {
  const strays = new Map<number, string[]>()
  for (const [table, key] of Object.entries(OF_SESSIONS)) {
    const sql = `select distinct ${key} as n from ${table} where ${key} not in (select n from session)`
    for (const { n } of db.all(sql)) {
      strays.set(n as number, [...(strays.get(n as number) ?? []), table])
    }
  }
  return [...strays].map(([n, tables]) => {
    const problem = `rows of a session that is not there (number ${n}): ${tables.join(', ')}`
    return { sessionId: null, entry: null, problem }
  })
}

/** For a store that is too large to be checked whole: a list leaves such sessions out in silence. */
function findNotDeleted(db: SqliteConnection): readonly StoreFinding[] {
  const rows = db.all("select id, state from session where state <> 'open'")
  return (rows as unknown as Pick<SessionRow, 'id' | 'state'>[])
    .filter((row) => !hasDeletion(db, row))
    .map(stateFinding)
}

/** Rows that are not as they were written. They are in no chain, but each has a hash of itself. */
function findChanged(db: SqliteConnection, numbers: SessionNumbers): readonly StoreFinding[] {
  const idOf = (n: Value | undefined) => numbers.idOf(n as number)
  return [
    ...changedIn(db, 'route', SEALED_KEYS.route, (row) => {
      return SQLITE.route.isWhole(row, idOf(row['session']))
    }),
    ...changedIn(db, 'note', SEALED_KEYS.note, SQLITE.note.isWhole),
    ...changedIn(db, 'schedule', SEALED_KEYS.schedule, SQLITE.schedule.isWhole),
    ...changedIn(db, 'token', SEALED_KEYS.token, SQLITE.token.isWhole),
  ]
}

/** Apart from the others, because there is one for each answer. */
function findChangedReplies(
  db: SqliteConnection,
  numbers: SessionNumbers,
): readonly StoreFinding[] {
  return changedIn(db, 'reply', ['id'], (row) => {
    return SQLITE.reply.isWhole(row, numbers.idOf(sessionOf(row['id'])))
  })
}

function changedIn(
  db: SqliteConnection,
  table: string,
  key: readonly string[],
  isWhole: (row: SqliteColumns) => boolean,
): readonly StoreFinding[] {
  const findings: StoreFinding[] = []
  const names = key.join(', ')
  const isNewEnd = pageEnds()
  for (let last: Value[] = []; ; ) {
    const after = last.length === 0 ? '' : `where (${names}) > (${key.map(() => '?').join(', ')})`
    const page = db.all(`select * from ${table} ${after} order by ${names} limit ${PAGE}`, ...last)
    const keyOf = (row: SqliteColumns) => key.map((name) => row[name] ?? null)
    for (const row of page) {
      if (orUnreadable(() => isWhole(row)) === true) continue
      const { id } = row
      const name =
        table === 'reply' ? [unpacked(id), 'of session number', sessionOf(id)] : keyOf(row)
      findings.push(changedRow(table, name))
    }
    last = keyOf(page.at(-1) ?? {})
    if (page.length < PAGE || !isNewEnd(last)) return findings
  }
}

/** A key whose mail is missing: a repeat of that mail would be reported as a duplicate. */
function findKeysWithoutMail(
  db: SqliteConnection,
  only: SessionId | undefined,
): readonly StoreFinding[] {
  const sql = `select session.id, mail, max(number) as number from intake
    join session on session.n = intake.session where session.id = coalesce(?, session.id)
    group by session.n having max(number) > mail order by session.n`
  return db.all(sql, only ?? null).map(({ id, mail, number }) => {
    const problem = `a key names mail ${number}, but the session knows only ${mail}`
    return { sessionId: id as SessionId, entry: null, problem }
  })
}

/**
 * On a separate connection: one that has searched caches the word index, and after another
 * process's commit its check reports corruption that does not exist (SQLite 3.53.4).
 */
function verifyFile(present: SqliteConnection): readonly StoreFinding[] {
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
