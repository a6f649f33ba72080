import { FileRefusedError } from '../../../base/files/write.ts'
import type { ReadVerb } from '../../contract.ts'
import { DamagedRowError, StoreRefusedError } from '../../errors.ts'
import type { QueryOf, Readers } from '../../facade.ts'
import {
  configure,
  type ReadOnlyMode,
  SqliteConnection,
  translateSqliteError,
} from '../connection.ts'
import { sqliteReads } from '../reads.ts'
import { readSqliteSchema } from '../schema.ts'
import { SessionNumbers } from '../sessions.ts'
import { makeCopy } from '../store-file.ts'

/** SQLite stores larger numbers than node:sqlite can return; this program never writes one. */
const TOO_LARGE = new DamagedRowError({
  row: 'a value that was read',
  problem: 'holds a number that is far too large',
})

function isTooLarge(error: unknown): boolean {
  return error instanceof RangeError && 'code' in error && error.code === 'ERR_OUT_OF_RANGE'
}

/** A read-only connection beside the writer's, so that a broad search delays no commit. */
export class Reader {
  readonly #db: SqliteConnection
  readonly #reads: Readers

  constructor(path: string, manner?: ReadOnlyMode) {
    const options = { readOnly: true, busyMs: 2_000, ...(manner !== undefined && { manner }) }
    this.#db = new SqliteConnection(path, options)
    try {
      configure(this.#db, { readOnly: true })
      this.#reads = sqliteReads(this.#db, new SessionNumbers(this.#db))
    } catch (error) {
      this.#db.close()
      throw translateSqliteError(error, path, { isOpening: true })
    }
  }

  /** One snapshot per read, never held across a wait: that would let the WAL grow. */
  read<Verb extends ReadVerb>(verb: Verb, query: QueryOf<Verb>): unknown {
    try {
      this.#db.exec('begin')
      return this.#reads[verb](query)
    } catch (error) {
      throw isTooLarge(error) ? TOO_LARGE : translateSqliteError(error, this.#db.path)
    } finally {
      // Roll back rather than commit: after an unreadable page a commit fails too, with a raw
      // SQLite error.
      if (this.#db.database.isTransaction) this.#db.exec('rollback')
    }
  }

  backup(to: string): void {
    try {
      makeCopy(to, (part) => this.#db.run('vacuum into ?', part))
    } catch (error) {
      // An error of the store keeps its class between threads.
      if (error instanceof FileRefusedError)
        throw new StoreRefusedError({ path: to, problem: error.problem })
      throw translateSqliteError(error, to)
    }
  }

  /** The file's schema number; 0 for an empty file. */
  get schema(): number {
    return readSqliteSchema(this.#db.database, this.#db.path)
  }

  close(): void {
    this.#db.close()
  }
}
