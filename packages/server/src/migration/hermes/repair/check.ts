import type { DatabaseSync } from 'node:sqlite'
import { findSearchFaults } from '../read/search-index.ts'
import { RepairRefusedError } from './errors.ts'
import type { Workbench } from './workbench.ts'

/**
 * What must hold before a repair starts and before its result is accepted. Writing runs the file's
 * triggers, and checking its search index reads its views, so both must be as Hermes creates them;
 * afterwards their effects are compared with the original rows.
 */
const TABLES = ['messages', 'sessions', 'gateway_routing']
const TRIGGER = /^(?:messages_fts|messages?_display|sessions?_display)/i
const OF_SEARCH = 'malformed inverted index for FTS5 table'
/** A recursive query may never end. */
const ENDLESS = /\brecursive\b/i

export function checkSchema(database: DatabaseSync, path: string): void {
  const objects = database
    .prepare(`select type, name, tbl_name as "table", sql from sqlite_schema
      where type in ('trigger', 'view')`)
    .all()
  for (const { type, name, table, sql } of objects) {
    const isOurs = type === 'trigger' && TABLES.includes(String(table).toLowerCase())
    const isKnown = type === 'view' || !isOurs || TRIGGER.test(String(name))
    if (isKnown && !ENDLESS.test(String(sql))) continue
    throw new RepairRefusedError({
      path,
      problem: `its ${String(type)} "${String(name)}" is none of Hermes, and a repair would run it. Nothing was written.`,
    })
  }
}

/** Rows are copied by their ids. */
export function checkIds(database: DatabaseSync, path: string): void {
  const last = database.prepare('select cast(max(id) as text) as id from "messages"').get()?.['id']
  if (!Number.isSafeInteger(Number(last ?? 0))) {
    throw new RepairRefusedError({
      path,
      problem: `its table of messages has the impossible id ${last}. Nothing was written.`,
    })
  }
}

export function checkCopy(bench: Workbench, before: string, path: string): void {
  const { database } = bench
  mendIndexes(bench)
  const foreign = database.prepare('pragma foreign_key_check').all()
  if (foreign.length > 0) fail(path, `${foreign.length} references lead nowhere`)
  const first = soundness(database)
  if (first !== 'ok') {
    database.exec('reindex')
    const second = soundness(database)
    if (second !== 'ok') fail(path, `SQLite finds it damaged (${second})`)
    bench.note({ kind: 'index-rebuilt', table: 'all' })
  }
  if (bench.witness() !== before) fail(path, 'a trigger of its own changed rows that were there')
}

function soundness(database: DatabaseSync): string {
  const problems = database
    .prepare('pragma integrity_check')
    .all()
    .map((row) => String(row['integrity_check']))
  // Whether the search index is whole was looked at before; its words differ by the SQLite that cut them.
  return problems.find((problem) => !problem.startsWith(OF_SEARCH)) ?? 'ok'
}

/** Rebuilds a search index that lacks rows or cannot be read. */
function mendIndexes(bench: Workbench): void {
  const { database } = bench
  for (const { table, problem } of findSearchFaults(database)) {
    if (problem !== 'not-whole' && problem !== 'not-readable') continue
    try {
      database.exec(`insert into "${table}" ("${table}") values ('rebuild')`)
      bench.note({ kind: 'index-rebuilt', table })
    } catch {
      // More than its words is missing; the doctor reports that for the copy.
    }
  }
}

function fail(path: string, problem: string): never {
  throw new RepairRefusedError({
    path,
    problem: `${problem}, so no copy was kept. \`throughline import hermes\` reads what can be read.`,
  })
}
