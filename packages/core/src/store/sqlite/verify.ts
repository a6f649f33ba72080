import type { EntryNumber, MailNumber, SessionId } from '../../base/ids.ts'
import { sha256 } from '../integrity/canonical.ts'
import { orUnreadable } from '../integrity/damaged-row.ts'
import type { StoreFinding } from '../queries.ts'
import type { SessionRow } from '../tables/rows.ts'
import { pageEnds } from '../verify/answers.ts'
import { AuditCheck, type Counted, stateFinding } from '../verify/audit.ts'
import {
  CHANGED_SENDER,
  CHANGED_SESSION,
  changedBlob,
  changedOperation,
  changedRow,
  MANY_SEALED_KEYS,
  SEALED_KEYS,
  withoutRepeats,
} from '../verify/changed-rows.ts'
import { type KeyMemory, keyHashOf, SessionCheck, unreadableSession } from '../verify/session.ts'
import type { Prefix } from '../verify/transcript.ts'
import { readStoreId } from './apply.ts'
import type { SqliteColumns, SqliteConnection, Value } from './connection.ts'
import { unrecordedOf } from './erasures.ts'
import { findMissingTables } from './file-check.ts'
import { foldedHeads, getSession, hasDeletion, type SessionNumbers } from './sessions.ts'
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
  return withoutRepeats([
    ...ids.flatMap((id) => findingsOf('its rows', id, () => verifySession(db, numbers, id))),
    ...findingsOf('the audit', null, () => verifyAudit(db, sessionId)),
    ...findingsOf('all rows', null, () => (sessionId === undefined ? findStrays(db) : [])),
    ...findingsOf(BESIDE, null, () =>
      sessionId === undefined
        ? [...findChanged(db, numbers), ...findChangedOfMany(db, numbers)]
        : [],
    ),
    ...findingsOf('the keys', null, () => findKeysWithoutMail(db, sessionId)),
    ...findingsOf('the file', null, () => verifyFile(db)),
  ])
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
  let session: SessionRow
  let isWhole: boolean
  try {
    const row = getSession(db, id)
    if (row === undefined) return []
    session = SQLITE.session.decodeChanged(row)
    isWhole = SQLITE.session.isWhole(row)
  } catch (error) {
    return [unreadableSession(id, error)]
  }
  const check = new SessionCheck(session, prefixOf(db, numbers, session))
  check.addWork(db.get('select work from session where n = ?', n)?.['work'] === 1)
  if (!isWhole) check.addChanged(CHANGED_SESSION)
  for (const [number, entry] of eachOf(db, 'entry', n, SQLITE.entry.decode)) {
    if (entry === null) check.addUnreadableEntry(number as EntryNumber)
    else check.addEntry(entry)
  }
  const mails = eachOf(db, 'mail', n, (row) => {
    return { ...SQLITE.mail.decodeChanged(row, id), isWhole: SQLITE.mail.isWhole(row, id) }
  })
  for (const [number, mail] of mails) {
    if (mail === null) check.addUnreadableMail(number as MailNumber)
    else check.addMail(mail, memoryOf(db, n, number, keyHashOf(mail)), mail.isWhole)
  }
  for (const { hash } of db.all('select hash from blob where session = ?', n)) {
    const row = db.get('select * from blob where session = ? and hash = ?', n, hash ?? null) ?? {}
    const name = hashText(hash)
    check.addBlob(name, sha256(row['bytes'] as Uint8Array) === name)
    if (!SQLITE.blob.isWhole(row, id)) check.addChanged(changedBlob(name))
  }
  for (const row of db.all('select * from operation where session = ?', n)) {
    if (!SQLITE.operation.isWhole(row, id)) check.addChanged(changedOperation(row['id']))
  }
  for (const row of db.all('select * from sender where session = ?', n)) {
    if (!SQLITE.sender.isWhole(row, id)) check.addChanged(CHANGED_SENDER)
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
    ...changedIn(db, 'runner', SEALED_KEYS.runner, SQLITE.runner.isWhole),
  ]
}

/** Apart from the others, because there is one for each answer and each message. */
function findChangedOfMany(db: SqliteConnection, numbers: SessionNumbers): readonly StoreFinding[] {
  return [
    ...changedIn(db, 'reply', ['id'], (row) => {
      return SQLITE.reply.isWhole(row, numbers.idOf(sessionOf(row['id'])))
    }),
    // A key without its session is among the strays.
    ...changedIn(db, 'intake', MANY_SEALED_KEYS.intake, (row) => {
      const n = row['session'] as number
      const isStray = db.get('select 1 from session where n = ?', n) === undefined
      return isStray || SQLITE.intake.isWhole(row, numbers.idOf(n))
    }),
  ]
}

/** A row as people know it: by its session's number, where the key has no names. */
function nameOf(table: string, row: SqliteColumns, key: readonly Value[]): readonly unknown[] {
  const { id, session, number } = row
  if (table === 'reply') return [unpacked(id), 'of session number', sessionOf(id)]
  return table === 'intake' ? [number, 'of session number', session] : key
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
      findings.push(changedRow(table, nameOf(table, row, keyOf(row))))
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
    // Unlike quick_check, it compares every index with its table: mail in no index is never delivered.
    const told = db
      .all('pragma integrity_check(100)')
      .map((row) => String(Object.values(row)[0]))
      .filter((text) => text !== 'ok')
    // One row of each index stands for all.
    return [...Map.groupBy(told, (text) => text.replace(/^row \d+ /, '')).values()]
      .slice(0, 10)
      .map(([problem]) => ({ sessionId: null, entry: null, problem: `file: ${problem}` }))
  } finally {
    db.close()
  }
}
