import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import {
  StoreBusyError,
  StoreDamagedError,
  StoreFullError,
  StoreReadOnlyError,
  StoreRefusedError,
} from '../errors.ts'
import { pragma } from './schema.ts'

export type Value = string | number | bigint | null | Uint8Array
export type SqliteColumns = Record<string, Value>

export interface SqliteConnectionOptions {
  readonly readOnly: boolean
  readonly busyMs: number
  /** How SQLite treats the `-wal` and `-shm` files when it must not change them. */
  readonly manner?: ReadOnlyMode
}

/**
 * `immutable`: no writer, no WAL, no lock. `readonly_shm`: a process is writing, or was killed
 * while writing, and its WAL index is read without changing it.
 */
export type ReadOnlyMode = '?immutable=1' | '?readonly_shm=1'

/**
 * One connection with its prepared statements. Whole numbers are bound as BigInt: node:sqlite binds
 * numbers as REAL, and a virtual table then silently ignores a range of row ids.
 */
export class SqliteConnection {
  readonly database: DatabaseSync
  readonly path: string
  readonly #options: SqliteConnectionOptions
  readonly #statements = new Map<string, StatementSync>()

  constructor(path: string, options: SqliteConnectionOptions) {
    this.path = path
    this.#options = options
    const { readOnly, busyMs, manner = '' } = options
    const url = pathToFileURL(path)
    url.search = manner
    const place = manner === '' ? path : url
    this.database = new DatabaseSync(place, { readOnly, timeout: busyMs })
  }

  /** Opens another connection with the same options. */
  again(): SqliteConnection {
    return new SqliteConnection(this.path, this.#options)
  }

  get(sql: string, ...values: readonly Value[]): SqliteColumns | undefined {
    return this.#prepare(sql).get(...bound(values)) as SqliteColumns | undefined
  }

  all(sql: string, ...values: readonly Value[]): SqliteColumns[] {
    return this.#prepare(sql).all(...bound(values)) as SqliteColumns[]
  }

  /** Returns the number of changed rows. */
  run(sql: string, ...values: readonly Value[]): number {
    return Number(this.#prepare(sql).run(...bound(values)).changes)
  }

  exec(sql: string): void {
    this.database.exec(sql)
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  close(): void {
    this.#statements.clear()
    this.database.close()
  }
}

function bound(values: readonly Value[]): SQLInputValue[] {
  return values.map((value) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) return value
    if (Number.isSafeInteger(value)) return BigInt(value)
    // SQLite would store it, but node:sqlite could not read it back, nor any list that contains it.
    throw new RangeError(`${value} is too large to be kept.`)
  })
}

/** The size to which a longer WAL is truncated when it restarts. */
export const WAL_KEPT_BYTES = 16 * 1024 * 1024

/**
 * Without these, a power failure, a dangling reference or leftover erased text would go unnoticed.
 */
export const DURABLE = { synchronous: 2, foreign_keys: 1, secure_delete: 1 } as const

/**
 * Pages that a connection keeps; a commit of another connection empties them. The system keeps the file
 * beside them, so more buy little: reading 200 entries of one of 200 sessions in turn, in a store of ten
 * million, took 0.53 ms of processor with 16 MB and 0.52 ms with 4 MB.
 */
const CACHE_KB = 4_000

/** Settings of every writing connection; read-only connections need the last three. */
export function configure(
  connection: SqliteConnection,
  { readOnly }: { readonly readOnly: boolean },
): void {
  if (!readOnly) {
    const mode = pragma(connection.database, 'journal_mode = wal')
    if (mode !== 'wal') {
      throw new StoreRefusedError({
        path: connection.path,
        problem: `its journal mode is ${mode}, and only "wal" lets several processes share it.`,
      })
    }
    for (const [name, value] of Object.entries(DURABLE)) {
      connection.exec(`pragma ${name} = ${value}`)
      const found = Number(pragma(connection.database, name))
      // SQLite silently ignores a pragma that it does not know or cannot apply.
      if (found !== value) {
        throw new StoreRefusedError({
          path: connection.path,
          problem: `SQLite keeps ${name} at ${found} instead of ${value}, so acknowledged messages could be lost.`,
        })
      }
    }
    connection.exec(`
      pragma wal_autocheckpoint = 1000;
      pragma journal_size_limit = ${WAL_KEPT_BYTES};
    `)
  }
  connection.exec(`
    pragma trusted_schema = off;
    pragma cell_size_check = on;
    pragma mmap_size = 0;
    pragma cache_size = -${CACHE_KB};
    pragma temp_store = memory;
  `)
}

const SQLITE_ERROR = 1
const SQLITE_BUSY = 5
const SQLITE_LOCKED = 6
const SQLITE_READONLY = 8
const SQLITE_IOERR = 10
const SQLITE_CORRUPT = 11
const SQLITE_FULL = 13
const SQLITE_CANTOPEN = 14
const SQLITE_NOTADB = 26
/** A quota or a file size limit appears as a failed write, not as "full". */
const SQLITE_IOERR_WRITE = SQLITE_IOERR | (3 << 8)
/**
 * The WAL index cannot grow. While opening, this only means that space is missing; during a commit
 * the WAL may already contain the whole commit.
 */
const SQLITE_IOERR_SHMSIZE = SQLITE_IOERR | (19 << 8)

const SQLITE_CONSTRAINT_PRIMARYKEY = 19 | (6 << 8)

const NO_DESCRIPTOR = 'most likely this process may open no more files; raise the limit (ulimit -n)'

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error) & 255
  return code === SQLITE_BUSY || code === SQLITE_LOCKED
}

/** Whether a row with this key already exists. */
export function isTaken(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_CONSTRAINT_PRIMARYKEY
}

function sqliteCode(error: unknown): number {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  return typeof code === 'number' ? code : 0
}

/**
 * SQLite does not say why it cannot open a file. If the file is writable, no file descriptor is
 * free.
 */
function isWritable(path: string): boolean {
  try {
    accessSync(dirname(path), constants.W_OK)
    for (const file of [path, `${path}-wal`, `${path}-shm`].filter((each) => existsSync(each))) {
      accessSync(file, constants.R_OK | constants.W_OK)
    }
    return statSync(path).isFile()
  } catch {
    return false
  }
}

/** Every statement fits the schema, so another program removed the missing table or column. */
function missingIn(text: string): string | null {
  const [, what, name] = /^no such (table|column): (.+)$/.exec(text) ?? []
  if (name === undefined) return null
  return `its ${what} ${name} is missing. Restore a backup or ask \`doctor\`.`
}

/** Translates SQLite's errors into store errors; passes all others through. */
export function translateSqliteError(
  error: unknown,
  path: string,
  { isOpening = false } = {},
): unknown {
  const code = sqliteCode(error)
  const text = error instanceof Error ? error.message : String(error)
  if (error instanceof Error && 'code' in error && error.code === 'EMFILE') {
    return new StoreBusyError({ waitedMs: 0, problem: NO_DESCRIPTOR })
  }
  if (isOpening && code === SQLITE_IOERR_SHMSIZE) return new StoreFullError({ path })
  if (code === SQLITE_IOERR_WRITE) return new StoreFullError({ path })
  switch (code & 255) {
    case SQLITE_ERROR: {
      const problem = missingIn(text)
      return problem === null ? error : new StoreDamagedError({ path, problem })
    }
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return new StoreBusyError({ waitedMs: 0, problem: 'another process holds the write lock' })
    case SQLITE_FULL:
      return new StoreFullError({ path })
    case SQLITE_CANTOPEN:
      if (isWritable(path)) return new StoreBusyError({ waitedMs: 0, problem: NO_DESCRIPTOR })
      return new StoreReadOnlyError({ path, problem: text })
    case SQLITE_READONLY:
      return new StoreReadOnlyError({ path, problem: text })
    case SQLITE_NOTADB:
      return new StoreRefusedError({ path, problem: 'it is no SQLite database.' })
    case SQLITE_IOERR:
    case SQLITE_CORRUPT:
      return new StoreDamagedError({
        path,
        problem: `${text}. Check the disk, then restore a backup or ask \`doctor\`.`,
      })
    default:
      return error
  }
}
