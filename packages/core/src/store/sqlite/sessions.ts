import type { SessionId } from '../../base/ids.ts'
import { DamagedRowError } from '../errors.ts'
import { orUnreadable, unlessDamaged } from '../integrity/damaged-row.ts'
import type { SessionRow } from '../rows.ts'
import type { SqliteColumns, SqliteConnection } from './connection.ts'
import { SQLITE } from './tables.ts'

/**
 * Ids and the small numbers that replace them in keys. A pair never changes once it is committed;
 * pairs made in a transaction that may still fail are not remembered.
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

  /** For sessions that are known to be there. */
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

  /** Only once it is committed: what is remembered must be true for good. */
  remember(id: SessionId, n: number): void {
    if (this.#numbers.size >= REMEMBERED_MAX) return
    this.#numbers.set(id, n)
    this.#ids.set(n, id)
  }
}

const REMEMBERED_MAX = 20_000

export function findSession(db: SqliteConnection, id: SessionId): SessionRow | undefined {
  const row = getSession(db, id)
  return row && SQLITE.session.decode(row)
}

/** One that is harmed is left out: it must not hide the others. `verify` names it. */
export function readableSessions(
  db: SqliteConnection,
  ids: readonly SqliteColumns[],
): readonly SessionRow[] {
  return ids.flatMap((row) => unlessDamaged(() => findSession(db, row['id'] as SessionId)) ?? [])
}

/** SQLite keeps larger numbers than it can hand over here; which one it was, it does not say. */
function getSession(db: SqliteConnection, id: SessionId): SqliteColumns | undefined {
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
