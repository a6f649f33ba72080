import type { SessionId } from '../../base/ids.ts'
import { DamagedRowError } from '../errors.ts'
import { firstHash } from '../integrity/chain.ts'
import { damagedRoute, orUnreadable, unlessDamaged } from '../integrity/damaged-row.ts'
import { type ForkRow, lineOf, ownAfter, type StoredRange, storedRanges } from '../lineage.ts'
import type { AuditRow, Entry, Route, RouteRow, SessionRow } from '../tables/rows.ts'
import type { HashBefore } from '../verify/answers.ts'
import { isDeletionRecorded, notDeleted } from '../verify/erasures.ts'
import type { SqliteColumns, SqliteConnection } from './connection.ts'
import { hashText, packed, SQLITE, SQLITE_HEAD_COLUMNS } from './tables.ts'

/**
 * Session ids and the small numbers that replace them in keys. A committed pair never changes;
 * pairs from a transaction that may still fail are not cached.
 */
export class SessionNumbers {
  readonly #connection: SqliteConnection
  readonly #numbers = new Map<SessionId, number>()
  readonly #ids = new Map<number, SessionId>()

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  find(id: SessionId): number | undefined {
    const known = this.#numbers.get(id)
    if (known !== undefined) return known
    const found = this.#connection.get('select n from session where id = ?', id)?.['n']
    return found as number | undefined
  }

  /** For sessions that are known to exist. */
  get(id: SessionId): number {
    const n = this.find(id)
    if (n === undefined) throw new Error(`session ${id} has no row`)
    return n
  }

  idOf(n: number): SessionId {
    const known = this.#ids.get(n)
    if (known !== undefined) return known
    const found = this.#connection.get('select id from session where n = ?', n)?.['id']
    if (found === undefined) {
      const row = `the session with number ${n}`
      throw new DamagedRowError({
        row,
        column: 'n',
        problem: 'is not there, and other rows name it',
      })
    }
    return found as SessionId
  }

  /** Call only after the commit: cached pairs are never checked again. */
  remember(id: SessionId, n: number): void {
    if (this.#numbers.size >= REMEMBERED_MAX) return
    this.#numbers.set(id, n)
    this.#ids.set(n, id)
  }
}

const REMEMBERED_MAX = 20_000

export function findSession(db: SqliteConnection, id: SessionId): SessionRow | undefined {
  const row = getSession(db, id)
  const session = row && SQLITE.session.decode(row)
  if (session === undefined || hasDeletion(db, session)) return session
  throw notDeleted(session)
}

/** Whether the audit records that a session was deleted, if its row says so. */
export function hasDeletion(
  db: SqliteConnection,
  { id, state }: Pick<SessionRow, 'id' | 'state'>,
): boolean {
  if (state === 'open') return true
  // From the newest line: a deleted session has few after its deletion.
  const sql = `select * from audit where session = ? and kind = 'session deleted'
    order by cursor desc limit 1`
  return isDeletionRecorded(state, auditLine(db.get(sql, id)), firstLine(db, id))
}

/** The line about the creation of a session. */
export function firstLine(db: SqliteConnection, id: SessionId): AuditRow | undefined {
  return auditLine(db.get('select * from audit where session = ? order by cursor limit 1', id))
}

/** A line that cannot be read records nothing. */
export function auditLine(row: SqliteColumns | undefined): AuditRow | undefined {
  return row && (orUnreadable(() => SQLITE.audit.decode(row)) ?? undefined)
}

export function findRoute(
  db: SqliteConnection,
  numbers: SessionNumbers,
  { agent, channel, address }: Route,
): RouteRow | undefined {
  const sql = 'select * from route where agent = ? and channel = ? and address = ?'
  const row = db.get(sql, agent, channel, address)
  if (row === undefined) return undefined
  const id = numbers.idOf(row['session'] as number)
  if (!SQLITE.route.isWhole(row, id)) throw damagedRoute({ agent, channel })
  return SQLITE.route.decode(row, id)
}

/** Skips damaged rows, which must not hide the others; `verify` reports them. */
export function readableSessions(
  db: SqliteConnection,
  ids: readonly SqliteColumns[],
): readonly SessionRow[] {
  return ids.flatMap((row) => unlessDamaged(() => findSession(db, row['id'] as SessionId)) ?? [])
}

/**
 * SQLite stores larger numbers than node:sqlite can return, and its error does not say which
 * column.
 */
export function getSession(db: SqliteConnection, id: SessionId): SqliteColumns | undefined {
  const get = (columns: string) => db.get(`select ${columns} from session where id = ?`, id)
  try {
    return get('*')
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const column = SQLITE.session.columns.find(
      (name) => orUnreadable(() => get(name) ?? {}) === null,
    )
    const problem = 'holds a number that is far too large'
    throw new DamagedRowError({ row: `session ${id}`, column: column ?? 'n', problem })
  }
}

interface LineRow extends ForkRow {
  readonly tail: number
}

export function findForked(db: SqliteConnection, id: SessionId): LineRow | undefined {
  const sql = 'select id, origin, forked_at as forkedAt, tail from session where id = ?'
  return db.get(sql, id) as unknown as LineRow | undefined
}

/** The session and all sessions that it reads from. */
export function lineIn<Row extends ForkRow>(
  db: SqliteConnection,
  session: Row,
): readonly (Row | LineRow)[] {
  return lineOf<Row | LineRow>(session, (id) => findForked(db, id))
}

/** The sessions that store these entries. A range of the session's own entries needs no query. */
export function keptStretches(
  db: SqliteConnection,
  session: ForkRow,
  from: number,
  to: number,
): readonly StoredRange[] {
  if (from > ownAfter(session)) return from > to ? [] : [{ sessionId: session.id, from, to }]
  return storedRanges(lineIn(db, session), from, to)
}

export function hashBeforeOf(
  db: SqliteConnection,
  numbers: SessionNumbers,
  session: SessionRow,
): HashBefore {
  return (number) => {
    if (number === 1) return firstHash(session.root ?? session.id)
    const [stretch] = keptStretches(db, session, number - 1, number - 1)
    if (stretch === undefined) return undefined
    const id = packed(numbers.get(stretch.sessionId), number - 1)
    const row = db.get('select hash from entry where id = ?', id)
    return row && hashText(row['hash'])
  }
}

/** Heads of the folded kinds, from the first entry. */
export function foldedHeads(
  db: SqliteConnection,
  numbers: SessionNumbers,
  session: ForkRow,
  upto: number,
): readonly Entry[] {
  const sql = `select ${SQLITE_HEAD_COLUMNS} from entry where id between ? and ?
    and kind not in ('input', 'assistant', 'result', 'turn') order by id`
  return keptStretches(db, session, 1, upto).flatMap(({ sessionId, from, to }) => {
    const n = numbers.get(sessionId)
    return db.all(sql, packed(n, from), packed(n, to)).map(SQLITE.entry.decode)
  })
}
