import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'

/** Stores that Hermes' own code wrote: 0.14.0 (schema 11) and 0.20.5 (schema 26). */
const FIXTURES = join(import.meta.dirname, '../../fixtures/hermes')

export const SAMPLE_SCHEMAS = [11, 26] as const

export function unpackSample(schema: (typeof SAMPLE_SCHEMAS)[number], folder: string): string {
  const name = `state-schema${schema}.db`
  const path = join(folder, name)
  writeFileSync(path, gunzipSync(readFileSync(join(FIXTURES, `${name}.gz`))))
  return path
}

const searches = new Map<number, string>()

/** The search tables, their view and their triggers, in the words of Hermes itself. */
export function searchSql(schema: (typeof SAMPLE_SCHEMAS)[number]): string {
  const known = searches.get(schema)
  if (known !== undefined) return known
  const folder = mkdtempSync(join(tmpdir(), 'throughline-sample-'))
  const database = new DatabaseSync(unpackSample(schema, folder), { readOnly: true })
  const rows = database
    .prepare(
      `select sql from sqlite_schema where name like 'messages_fts%' and (type in ('trigger', 'view')
       or sql like 'create virtual%') order by rowid`,
    )
    .all()
  database.close()
  rmSync(folder, { recursive: true, force: true })
  const sql = rows.map((row) => `${row['sql']};`).join('\n')
  searches.set(schema, sql)
  return sql
}

/** Lines that 0.20.5 wrote. */
export const TAG_DRIFT_LOG = join(FIXTURES, 'agent-0.20.5-tag-drift.log')
