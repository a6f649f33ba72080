import type { DatabaseSync } from 'node:sqlite'

/**
 * Whether Hermes' search index is complete, by its own tables: all tables and triggers exist, every
 * row is indexed, and its words can be read to the end. The words of a row are not compared: SQLite
 * versions split text with NUL differently.
 */
export interface SearchFault {
  readonly table: string
  readonly problem: 'no-table' | 'no-triggers' | 'not-whole' | 'not-readable'
  readonly what: string
}

const TABLES = ['messages_fts', 'messages_fts_trigram'] as const
const VERBS = ['insert', 'delete', 'update'] as const

export function findSearchFaults(database: DatabaseSync): readonly SearchFault[] {
  const names = new Set(
    database
      .prepare(`select lower(name) as name from sqlite_schema where name like 'messages_fts%'`)
      .all()
      .map((row) => String(row['name'])),
  )
  // If the whole index is missing, Hermes creates it on opening; the second one can be disabled.
  return TABLES.flatMap((table) => faultsOf(table, names, database))
}

function faultsOf(
  table: (typeof TABLES)[number],
  names: ReadonlySet<string>,
  database: DatabaseSync,
): readonly SearchFault[] {
  const missing = VERBS.map((verb) => `${table}_${verb}`).filter((name) => !names.has(name))
  if (!names.has(table)) {
    const isWritten = missing.length < VERBS.length
    const isOnlyOne = table === 'messages_fts' && names.has('messages_fts_trigram')
    if (!isWritten && !isOnlyOne) return []
    return [{ table, problem: 'no-table', what: isWritten ? 'its triggers are there' : '' }]
  }
  const faults: SearchFault[] = []
  if (missing.length > 0) faults.push({ table, problem: 'no-triggers', what: missing.join(', ') })
  const lost = ['data', 'idx', 'docsize', 'config'].filter((part) => !names.has(`${table}_${part}`))
  if (lost.length > 0) {
    return [...faults, { table, problem: 'not-readable', what: `no ${lost.join(', ')}` }]
  }
  try {
    readThrough(table, database)
    const rows = notIndexed(table, database)
    if (rows > 0) faults.push({ table, problem: 'not-whole', what: String(rows) })
  } catch (error) {
    faults.push({ table, problem: 'not-readable', what: (error as Error).message })
  }
  return faults
}

/** Reads every word of the index through SQLite's own vocabulary table. */
function readThrough(table: string, database: DatabaseSync): void {
  const words = `throughline_words_${table}`
  const wasReadOnly = Number(database.prepare('pragma query_only').get()?.['query_only']) === 1
  database.exec('pragma query_only = off')
  try {
    database.exec(`create virtual table temp."${words}" using fts5vocab('main', '${table}', 'row')`)
    database.prepare(`select count(*), sum(doc) from temp."${words}"`).get()
    database.exec(`drop table temp."${words}"`)
  } finally {
    if (wasReadOnly) database.exec('pragma query_only = on')
  }
}

/** Rows missing from the index, unless Hermes knows about them or its trigger selects rows. */
function notIndexed(table: string, database: DatabaseSync): number {
  if (isBeingBuilt(database)) return 0
  const trigger = database
    .prepare(`select sql from sqlite_schema where type = 'trigger' and name = ?`)
    .get(`${table}_insert`)
  const text = String(trigger?.['sql'] ?? '').toLowerCase()
  const [head = ''] = text.split(/\bbegin\b/)
  if (/\b(?:content|session_id|sessions)\b/.test(head)) return 0
  const isWithoutTools = /\brole\s*(?:<>|!=)\s*'tool'/.test(text)
  const row = database
    .prepare(
      `select count(*) as rows from "messages" m left join "${table}_docsize" d on d.id = m.id
       where d.id is null ${isWithoutTools ? "and m.role <> 'tool'" : ''}`,
    )
    .get()
  return Number(row?.['rows'] ?? 0)
}

function isBeingBuilt(database: DatabaseSync): boolean {
  const table = database
    .prepare(`select 1 from sqlite_schema where type = 'table' and name = 'state_meta'`)
    .get()
  if (table === undefined) return false
  const row = database
    .prepare(`select 1 from "state_meta" where key in ('fts_rebuild_high_water', 'fts_stale')`)
    .get()
  return row !== undefined
}
