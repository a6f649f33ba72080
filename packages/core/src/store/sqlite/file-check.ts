import { statSync } from 'node:fs'
import { missingTables } from '../tables/migrated-tables.ts'
import type { SqliteConnection } from './connection.ts'
import { SQLITE_STEPS } from './migrations/migrations.ts'

/**
 * Files up to this size are checked completely before the first write: every page, and every index
 * against its table. 41 MB take 0.2 to 0.8 s.
 */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024
/**
 * In larger files only the tables that every commit uses; they grow with sessions, not with text.
 */
const SMALL_TABLES = ['store', 'runner', 'session', 'route', 'sender', 'schedule', 'token'] as const

/** Damage to the file itself, except in the search index, which can be rebuilt. */
export function findFileDamage(db: SqliteConnection): string | null {
  const missing = findMissingTables(db)
  if (missing !== null) return `${missing}. ${ADVICE}`
  const isSmall = statSync(db.path).size <= WHOLE_BYTES_MAX
  const checks = isSmall ? ['5'] : SMALL_TABLES.map((name) => `'${name}'`)
  const told = checks
    .flatMap((what) => db.all(`pragma integrity_check(${what})`))
    .map((row) => String(Object.values(row)[0]))
  const harm = told.find((text) => text !== 'ok' && !/word_page|passage_block/.test(text))
  if (harm === undefined) return null
  const what = harm.split('\n').at(-1)
  return `SQLite finds it malformed (${what}). ${ADVICE}`
}

const ADVICE =
  'Stop all processes and restore a backup; `throughline export` saves the sessions that still check.'

export function findMissingTables(db: SqliteConnection): string | null {
  const tables = db.all("select name from sqlite_schema where type = 'table'")
  return missingTables(SQLITE_STEPS, new Set(tables.map(({ name }) => name)))
}
