import type { DatabaseSync } from 'node:sqlite'
import { HermesStoreError } from './errors.ts'

/**
 * The tables and columns that a store really has. Hermes reconciles columns on every open, so the
 * version does not tell. Only ordinary tables count: a view or virtual table with one of their
 * names would run foreign code, and is treated as absent.
 */
export interface HermesSchema {
  readonly version: number | null
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>
  readonly remarks: readonly string[]
  /** Written by our export: its row numbers say nothing about what Hermes did. */
  readonly isExport: boolean
}

/** The key in `state_meta` that marks a store written by our export. */
export const EXPORT_MARK = 'throughline_export'

const NEEDED: { readonly [table: string]: readonly string[] } = {
  sessions: ['id', 'started_at'],
  messages: ['id', 'session_id', 'role', 'content', 'timestamp'],
}

const KNOWN_VERSIONS = new Set([11, 26, 30])
const TABLES = [
  ...['sessions', 'messages', 'schema_version', 'gateway_routing', 'gateway_hygiene_state'],
  ...['compression_locks', 'system_prompts', 'state_meta'],
]

export function readSchema(database: DatabaseSync, path: string): HermesSchema {
  const remarks: string[] = []
  const columns = new Map<string, ReadonlySet<string>>()
  for (const table of TABLES) {
    const found = columnsOf(database, table)
    if (found === 'imposter') remarks.push(`"${table}" is no ordinary table and was not read.`)
    else if (found !== null) columns.set(table, found)
  }
  for (const [table, names] of Object.entries(NEEDED)) {
    const there = columns.get(table)
    const missing = there === undefined ? names : names.filter((name) => !there.has(name))
    if (missing.length === 0) continue
    throw new HermesStoreError({
      path,
      verdict: 'foreign',
      problem:
        there === undefined
          ? `it is a database, but not one of Hermes: it has no table "${table}".`
          : `it is a database, but not one of Hermes: "${table}" has no ${missing.join(', ')}.`,
    })
  }
  const version = readVersion(database, columns)
  if (version === null) remarks.push('It states no schema version; it was read by its columns.')
  else if (!KNOWN_VERSIONS.has(version)) {
    remarks.push(
      `Schema ${version} was read by the columns it has; known exactly are 11, 26 and 30.`,
    )
  }
  return { version, columns, remarks, isExport: readMark(database, columns) }
}

function columnsOf(database: DatabaseSync, table: string): ReadonlySet<string> | 'imposter' | null {
  const rows = database
    .prepare('select type, rootpage from sqlite_schema where name = ? collate nocase')
    .all(table)
  if (rows.length === 0) return null
  const [row] = rows
  const isOrdinary = rows.length === 1 && row?.['type'] === 'table' && Number(row['rootpage']) > 0
  if (!isOrdinary) return 'imposter'
  // hidden > 0: a generated column, whose expression is foreign code.
  const listed = database
    .prepare(`select name from pragma_table_xinfo(?) where hidden = 0`)
    .all(table)
  return new Set(listed.map((column) => String(column['name']).toLowerCase()))
}

function readMark(database: DatabaseSync, columns: HermesSchema['columns']): boolean {
  const there = columns.get('state_meta')
  if (there?.has('key') !== true) return false
  return database.prepare('select 1 from "state_meta" where key = ?').get(EXPORT_MARK) !== undefined
}

function readVersion(database: DatabaseSync, columns: HermesSchema['columns']): number | null {
  if (columns.get('schema_version')?.has('version') !== true) return null
  const row = database.prepare('select max(version) as version from "schema_version"').get()
  const version = Number(row?.['version'] ?? Number.NaN)
  return Number.isSafeInteger(version) ? version : null
}
