import { newestAudit } from '../apply.ts'
import type { SqliteConnection } from '../connection.ts'
import { walSize } from '../store-file.ts'

const WAL_SIZE_MAX = 32 * 1024 * 1024
export const WAL_CHECK_MS = 1_000
/**
 * How far back a process looks for erasures when it opens a store. SQLite copies the WAL into the
 * database after 1,000 pages, and every row is in a page of its commit.
 */
const ROWS_AT_FIRST = 1_000

/**
 * Empties the WAL. Several busy writers can keep SQLite's own checkpoint from ever restarting it,
 * and on a quiet store erased text would stay in it, and in the pages that it replaces, for days.
 */
export class WalBound {
  readonly #db: SqliteConnection
  readonly #path: string
  #checkedAt = Number.NEGATIVE_INFINITY
  #holdsErased = false
  /** The newest audit row that was looked at. */
  #heard: number | null = null

  constructor(db: SqliteConnection, path: string) {
    this.#db = db
    this.#path = path
  }

  /** Whether the files still contain erased text. */
  get holdsErased(): boolean {
    return this.#holdsErased
  }

  /** After an erasure. */
  noteErased(): void {
    if (this.#holdsErased) return
    this.#holdsErased = true
    // At once, but only once: a long-running reader would otherwise delay every piece of a purge.
    this.#checkedAt = Number.NEGATIVE_INFINITY
  }

  /**
   * After commits of other processes: one that erased text may have been killed, or have ended while
   * a reader kept it from emptying the WAL.
   */
  hearOthers(): void {
    const { cursor } = newestAudit(this.#db)
    const erasures = this.#db.get(
      `select 1 from audit
        where cursor > ? and kind in ('entries erased', 'session deleted') limit 1`,
      this.#heard ?? Math.max(0, cursor - ROWS_AT_FIRST),
    )
    this.#heard = cursor
    if (erasures !== undefined && walSize(this.#path) > 0) this.noteErased()
  }

  /** Empties a WAL that has grown or holds erased text; looks once a second. */
  bound(now: number): void {
    if (now - this.#checkedAt < WAL_CHECK_MS) return
    this.#checkedAt = now
    if (this.#holdsErased || walSize(this.#path) >= WAL_SIZE_MAX) this.empty()
  }

  empty(): void {
    try {
      this.#db.exec('pragma busy_timeout = 200')
      const isBusy = this.#db.get('pragma wal_checkpoint(truncate)')?.['busy'] !== 0
      this.#holdsErased &&= isBusy
    } catch {
      // Another process is reading or writing; the next check will do it.
    } finally {
      this.#db.exec('pragma busy_timeout = 0')
    }
  }
}
