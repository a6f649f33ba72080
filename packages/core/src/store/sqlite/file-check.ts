import { statSync } from 'node:fs'
import type { SqliteConnection } from './connection.ts'

/**
 * Up to this size all of the file is checked before anything is written to it: every page, and every
 * index against its table, 41 MB in 0.2 to 0.8 s.
 */
const WHOLE_BYTES_MAX = 64 * 1024 * 1024
/** Of a larger one those that every commit goes through; they grow with sessions, not with words. */
const SMALL_TABLES = ['store', 'runner', 'session', 'route', 'sender', 'schedule', 'token'] as const

/** Damage of the file itself. The search index does not count: it can be rebuilt. */
export function findFileHarm(db: SqliteConnection): string | null {
  const isSmall = statSync(db.path).size <= WHOLE_BYTES_MAX
  const checks = isSmall ? ['5'] : SMALL_TABLES.map((name) => `'${name}'`)
  const told = checks
    .flatMap((what) => db.all(`pragma integrity_check(${what})`))
    .map((row) => String(Object.values(row)[0]))
  const harm = told.find((text) => text !== 'ok' && !/word_page|passage_block/.test(text))
  if (harm === undefined) return null
  const what = harm.split('\n').at(-1)
  return `SQLite finds it malformed (${what}). Stop all processes and restore a backup; \`throughline export\` saves the sessions that still check.`
}
