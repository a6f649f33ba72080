import type { SessionId } from '../../base/ids.ts'
import type { Connection } from './connection.ts'

/**
 * Ids and the small numbers that stand for them in keys. A pair never changes once it is committed;
 * pairs made in a transaction that may still fail are not remembered.
 */
export class SessionNumbers {
  readonly #connection: Connection
  readonly #numbers = new Map<SessionId, number>()
  readonly #ids = new Map<number, SessionId>()

  constructor(connection: Connection) {
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
    if (found === undefined) throw new Error(`no session has the number ${n}`)
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
