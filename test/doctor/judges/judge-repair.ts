import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openMemoryStore } from '../../../packages/core/src/store/memory/open.ts'
import { diagnoseHermes } from '../../../packages/server/src/migration/hermes/diagnose/diagnose.ts'
import { isFault } from '../../../packages/server/src/migration/hermes/diagnose/diagnosis.ts'
import type { Finding } from '../../../packages/server/src/migration/hermes/findings/finding.ts'
import { repairHermes } from '../../../packages/server/src/migration/hermes/repair/repair.ts'
import type { RepairReport } from '../../../packages/server/src/migration/hermes/repair/report.ts'
import { unaccounted } from '../../../packages/server/src/migration/import-report.ts'
import type { GeneratedHome } from '../homes/generate.ts'
import { bring } from './bring.ts'
import { hermesTip, isClosedToWriters } from './follow-rules.ts'

/** Repairs a generated home and looks at the copy by means of its own. */
const MENDED = new Set<string>([
  ...['rows-after-closing', 'orphaned-parent', 'fork', 'empty-shell'],
  ...['route-on-closed-parent', 'homeless-rows'],
])

export async function judgeRepair(
  home: GeneratedHome,
  before: readonly Finding[],
): Promise<readonly string[]> {
  const path = join(home.path, 'state.db')
  const to = join(home.path, 'repaired', 'state.db')
  const print = hashOf(path)
  const report = await repairHermes({ path, to, now: home.now })
  const { profiles } = await diagnoseHermes(to, { now: home.now })
  const after = profiles.flatMap(({ findings }) => findings.filter(isFault))
  const problems = [
    ...compareStores(path, to, report),
    ...judgeChanges(home, report, before),
    ...judgeTips(home, to, report),
  ]
  if (hashOf(path) !== print) problems.push('the original was changed')
  for (const { kind, sessionIds } of after) {
    const isNew = !before.some((one) => one.kind === kind && one.sessionIds[0] === sessionIds[0])
    if (MENDED.has(kind)) problems.push(`${kind} of ${sessionIds.join()} is still there`)
    else if (isNew) problems.push(`${kind} of ${sessionIds.join()} was made`)
  }
  if (report.changes.length === 0) return problems
  const again = await repairHermes({ path: to, to: join(home.path, 'again.db'), now: home.now })
  if (again.changes.length > 0) problems.push(`repaired twice: ${JSON.stringify(again.changes[0])}`)
  return [...problems, ...(await judgeImported(to))].map((problem) => `repair: ${problem}`)
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

const CHANGED = new Set([
  'ended_at',
  'end_reason',
  'model_config',
  'message_count',
  'tool_call_count',
])

/** Wherever Hermes begins, it comes to a session that takes messages and that the repair left open. */
function judgeTips({ shape }: GeneratedHome, to: string, { changes }: RepairReport): string[] {
  if (shape.version === null) return []
  const database = new DatabaseSync(to, { readOnly: true })
  const ids = database.prepare('select id from sessions').all()
  database.close()
  const closed = new Set(
    changes.flatMap((one) =>
      one.kind === 'shell-closed' || one.kind === 'branch-closed' ? [one.sessionId] : [],
    ),
  )
  return ids.flatMap(({ id }) => {
    const tip = hermesTip(to, String(id))
    if (isClosedToWriters(to, tip)) return [`${tip} takes no messages`]
    return closed.has(tip) && !closed.has(String(id))
      ? [`${id} leads to ${tip}, which is closed`]
      : []
  })
}

function compareStores(path: string, to: string, { changes }: RepairReport): string[] {
  const [old, made] = [path, to].map((file) => new DatabaseSync(file, { readOnly: true }))
  if (old === undefined || made === undefined) return []
  const problems: string[] = []
  const all = (database: DatabaseSync, sql: string) => database.prepare(sql).all()
  const schema = `select type, name, tbl_name, sql from sqlite_schema
    where name not like 'sqlite%' order by type, name`
  if (JSON.stringify(all(old, schema)) !== JSON.stringify(all(made, schema))) {
    problems.push('the schema is another')
  }
  const rows = new Map(all(made, 'select * from messages').map((row) => [row['id'], row]))
  for (const row of all(old, 'select * from messages')) {
    if (JSON.stringify(rows.get(row['id'])) !== JSON.stringify(row)) {
      problems.push(`row ${row['id']} is not as it was`)
    }
  }
  const sessions = new Map(all(made, 'select * from sessions').map((row) => [row['id'], row]))
  for (const row of all(old, 'select * from sessions')) {
    const now = sessions.get(row['id'])
    const isDetached = changes.some(
      (one) => one.kind === 'session-detached' && one.sessionId === row['id'],
    )
    const different = Object.keys(row)
      .filter((key) => row[key] !== now?.[key] && !CHANGED.has(key))
      .filter((key) => !(isDetached && key === 'parent_session_id'))
    if (different.length > 0) problems.push(`session ${row['id']} has another ${different.join()}`)
  }
  const checks = [
    ...all(made, 'pragma foreign_key_check').map(() => 'a foreign key leads nowhere'),
    ...all(made, 'pragma integrity_check').map((row) => String(row['integrity_check'])),
  ]
  problems.push(...checks.filter((check) => check !== 'ok'))
  const hasIndex = all(made, "select 1 from sqlite_schema where name = 'messages_fts'").length > 0
  if (hasIndex) {
    const indexed = all(made, 'select count(*) as n from messages_fts_docsize')[0]?.['n']
    if (indexed !== rows.size) problems.push(`${indexed} rows are indexed of ${rows.size}`)
  }
  old.close()
  made.close()
  return problems
}

/** What was lost is at the end of its conversation, in the context; routes lead there. */
function judgeChanges(
  { model }: GeneratedHome,
  { changes }: RepairReport,
  before: readonly Finding[],
): string[] {
  const appended = new Set(changes.flatMap((one) => ('ofRowId' in one ? [one.ofRowId] : [])))
  const reopened = new Set(
    changes.flatMap((one) => (one.kind === 'session-reopened' ? [one.sessionId] : [])),
  )
  const lost = before
    .filter(({ kind }) => kind === 'rows-after-closing')
    .flatMap(({ rows }) => rows)
    .filter(({ id, sessionId }) => !appended.has(id) && !reopened.has(sessionId))
  const problems = lost.map(({ id }) => `row ${id} stays lost`)
  for (const change of changes) {
    if (change.kind !== 'route-moved') continue
    const isKnown = model.routes.get(change.key) === change.from && change.to !== change.from
    if (!isKnown) problems.push(`route ${change.key} was not on ${change.from}`)
  }
  return problems
}

async function judgeImported(path: string): Promise<string[]> {
  const store = openMemoryStore()
  try {
    const { profiles } = await bring(path, store)
    return profiles.flatMap(({ rows }) =>
      unaccounted(rows) === 0 && rows.left === 0 ? [] : ['importing it does not add up'],
    )
  } finally {
    await store.close()
  }
}
