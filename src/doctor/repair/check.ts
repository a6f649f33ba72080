import type { DatabaseSync } from 'node:sqlite'
import { RepairRefusedError } from './errors.ts'
import type { Workbench } from './workbench.ts'

/**
 * What must hold before a repair begins and before it counts. Writing runs the triggers of the file,
 * and checking its search index reads its views, so both must be such as Hermes makes; and what they
 * did is held against what was there.
 */
const TABLES = ['messages', 'sessions', 'gateway_routing']
const TRIGGER = /^(?:messages_fts|messages?_display|sessions?_display)/i
/** A query without an end would never come back. */
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
  const [row] = database.prepare('pragma integrity_check(1)').all()
  return String(row?.['integrity_check'])
}

/** The search index agrees with the rows, or is built anew from them. */
function mendIndexes(bench: Workbench): void {
  const { database } = bench
  const tables = database
    .prepare(`select name from sqlite_schema where type = 'table' and rootpage = 0
      and name like 'messages_fts%' and sql like '%using fts5%'`)
    .all()
  // Hermes is in the middle of building it: what is missing is not wrong.
  const isBeingBuilt = hasPendingRebuild(database)
  for (const { name } of tables) {
    const table = String(name).replaceAll('"', '""')
    const check = isBeingBuilt
      ? `insert into "${table}" ("${table}") values ('integrity-check')`
      : `insert into "${table}" ("${table}", rank) values ('integrity-check', 1)`
    try {
      database.exec(check)
    } catch {
      database.exec(`insert into "${table}" ("${table}") values ('rebuild')`)
      database.exec(check)
      bench.note({ kind: 'index-rebuilt', table: String(name) })
    }
  }
}

function hasPendingRebuild(database: DatabaseSync): boolean {
  const table = database
    .prepare(`select 1 from sqlite_schema where type = 'table' and name = 'state_meta'`)
    .get()
  if (table === undefined) return false
  const row = database
    .prepare(`select 1 from "state_meta" where key = 'fts_rebuild_high_water'`)
    .get()
  return row !== undefined
}

function fail(path: string, problem: string): never {
  throw new RepairRefusedError({
    path,
    problem: `${problem}, so no copy was kept. \`throughline import hermes\` reads what can be read.`,
  })
}
