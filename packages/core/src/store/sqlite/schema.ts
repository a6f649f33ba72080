import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import { StoreDamagedError, StoreRefusedError } from '../errors.ts'
import { misfit } from '../tables/migrated-tables.ts'
import { SQLITE_STEPS } from './migrations/migrations.ts'

export const SQLITE_SCHEMA = SQLITE_STEPS.length
/** "THLN": identifies our files. */
export const APPLICATION_ID = 0x54484c4e

/**
 * Migrates the file under the write lock, or throws if it must not be touched. A file with the
 * current schema is only read: among thirteen busy writers, opening took more than five seconds for
 * a lock that was not needed.
 */
export function migrateSqlite(database: DatabaseSync, path: string): void {
  if (readSqliteSchema(database, path) === SQLITE_SCHEMA) return
  database.exec('begin immediate')
  try {
    const found = readSqliteSchema(database, path)
    migrateFrom(database, path, found)
    if (found === 0) {
      database.prepare('insert into store (one, id) values (1, ?)').run(randomUUID())
      database.exec(`pragma application_id = ${APPLICATION_ID}`)
    }
    if (found < SQLITE_SCHEMA) database.exec(`pragma user_version = ${SQLITE_SCHEMA}`)
    database.exec('commit')
  } catch (error) {
    if (database.isTransaction) database.exec('rollback')
    throw error
  }
}

/** SQLite reports a table that exists already, or not yet, like a mistake in a statement. */
const SQLITE_ERROR = 1

function migrateFrom(database: DatabaseSync, path: string, found: number): void {
  try {
    for (const statements of SQLITE_STEPS.slice(found)) database.exec(statements)
  } catch (error) {
    if (!(error instanceof Error && 'errcode' in error && error.errcode === SQLITE_ERROR))
      throw error
    throw new StoreDamagedError({ path, problem: misfit(found, error.message) })
  }
}

/** The file's schema number; 0 for an empty file. */
export function readSqliteSchema(database: DatabaseSync, path: string): number {
  const version = Number(pragma(database, 'user_version'))
  const application = Number(pragma(database, 'application_id'))
  const { tables } = database.prepare('select count(*) as tables from sqlite_schema').get() as {
    tables: number
  }
  if (tables === 0) return 0
  if (application !== APPLICATION_ID) {
    throw new StoreRefusedError({
      path,
      problem: 'it is a database of another program. Name a file that is not there yet.',
    })
  }
  if (version > SQLITE_SCHEMA) {
    throw new StoreRefusedError({
      path,
      problem: `it has schema ${version} and this program knows ${SQLITE_SCHEMA}. Use the newer program that made it.`,
    })
  }
  return version
}

export function pragma(database: DatabaseSync, name: string): number | string {
  const row = database.prepare(`pragma ${name}`).get() ?? {}
  return Object.values(row)[0] as number | string
}
