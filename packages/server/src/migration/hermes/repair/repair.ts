import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { createFile, NamedDraft } from '#core/base/files/write'
import { isObject } from '#core/base/json'
import { parsePythonJson } from '#core/message/formats/hermes/python-json'
import { StoreFullError } from '#core/store/errors'
import { translateSqliteError } from '#core/store/sqlite/connection'
import { diagnoseHermes } from '../diagnose/diagnose.ts'
import { isFault } from '../diagnose/diagnosis.ts'
import { type ExaminedProfile, examineOpened } from '../diagnose/examine.ts'
import { followRule } from '../findings/follow.ts'
import { HermesStoreError } from '../read/errors.ts'
import { findProfiles, type ProfileFiles, readRoutingFile, repairedRoutes } from '../read/home.ts'
import { openReadOnly, translate } from '../read/open.ts'
import { rawRows } from '../read/raw-rows.ts'
import { checkCopy, checkIds, checkSchema } from './check.ts'
import { RepairRefusedError } from './errors.ts'
import { findLostRows } from './lost-rows.ts'
import { planRepair, type RepairPlan } from './plan.ts'
import type { Change, RepairReport, UnrepairedFinding } from './report.ts'
import { Workbench } from './workbench.ts'

/**
 * Makes a repaired copy of a Hermes store, for Hermes itself. The store is only read. SQLite makes
 * the copy, which is changed in one transaction with its own triggers active, checked, and renamed
 * into place only if every old row is still there; an existing file is never replaced.
 */
export interface RepairRequest {
  readonly path: string
  readonly to: string
  /** Epoch milliseconds: the closing time of sessions that the repair closes. */
  readonly now?: number
  readonly onRows?: (rows: number, of: number) => void
}

export async function repairHermes(request: RepairRequest): Promise<RepairReport> {
  const { path, to, onRows } = request
  const profile = await onlyProfile(path)
  const routingFile = repairedRoutes(to)
  for (const file of [to, `${to}-wal`, `${to}-journal`, routingFile]) {
    if (existsSync(file)) refuse(file, 'it already exists, and a repair never replaces a file.')
  }
  const now = request.now ?? Date.now()
  const draft = new NamedDraft(to)
  try {
    const opened = await openReadOnly(profile.store)
    // Without the survey, to free its memory before the copy is examined.
    let made: Pick<ExaminedProfile, 'routes' | 'remarks'> & { readonly changes: readonly Change[] }
    try {
      checkSchema(opened.database, profile.store)
      const examined = await examineOpened(opened, profile, onRows)
      checkIds(opened.database, profile.store)
      if (await opened.hasChanged()) refuse(path, 'Hermes writes to it. Try again when it is idle.')
      opened.copyTo(draft.path)
      const { routes, remarks } = examined
      made = { routes, remarks, changes: change(draft.path, profile, examined, now / 1_000) }
    } finally {
      await opened.close()
    }
    const isInFile = made.routes.some(({ from }) => from === 'sessions.json')
    const routes = isInFile ? await oldRoutes(profile, made.changes) : null
    draft.publish()
    if (routes !== null) createFile(routingFile, routes)
    return {
      ...{ format: 'throughline-repair-hermes', version: 1, path, to },
      routingFile: routes === null ? null : routingFile,
      changes: made.changes,
      left: await stillThere(to, now),
      remarks: made.remarks,
    }
  } catch (error) {
    // Only the copy is written.
    const written = translateSqliteError(error, to)
    throw written instanceof StoreFullError ? written : translate(error, profile.store)
  } finally {
    draft.remove()
  }
}

async function onlyProfile(path: string): Promise<ProfileFiles> {
  const [profile, ...others] = await findProfiles(path)
  if (profile === undefined || others.length > 0) {
    refuse(path, `it holds ${others.length + 1} profiles. Name the state.db of one of them.`)
  }
  return profile
}

function refuse(path: string, problem: string): never {
  throw new RepairRefusedError({ path, problem })
}

function change(
  draft: string,
  { store }: ProfileFiles,
  { schema, survey, routes, read }: ExaminedProfile,
  now: number,
): readonly Change[] {
  const plan = planRepair(survey, routes, followRule(schema))
  const database = new DatabaseSync(draft, { enableForeignKeyConstraints: false })
  try {
    database.exec('pragma trusted_schema = off; pragma cache_size = -4000; begin immediate')
    const bench = new Workbench(database, schema, now)
    const before = bench.witness()
    const rows = rawRows(database, schema)
    const lost = findLostRows(plan, { survey, rows, rowIds: rowIdsOf(database) })
    for (const [id, { ids }] of survey.homeless) {
      bench.addSession(id, read(ids[0] ?? 0)?.at ?? null)
    }
    settle(plan, bench)
    for (const row of lost) bench.append(row)
    bench.mendReferences()
    checkCopy(bench, before, store)
    database.exec('commit')
    return bench.changes
  } finally {
    database.close()
  }
}

/** As a list of numbers, because one session may have a million rows. */
function rowIdsOf(database: DatabaseSync): (sessionId: string) => Float64Array {
  const where = 'from "messages" where session_id = ?'
  const counts = database.prepare(`select count(*) as rows ${where}`)
  const ids = database.prepare(`select id ${where} order by id`)
  return (sessionId) => {
    const list = new Float64Array(Number(counts.get(sessionId)?.['rows'] ?? 0))
    let filled = 0
    for (const row of ids.iterate(sessionId)) list[filled++] = Number(row['id'])
    return list
  }
}

function settle(plan: RepairPlan, bench: Workbench): void {
  const { detached, moved, shells, reopened, branches, routes } = plan
  for (const shell of shells) bench.closeShell(shell)
  for (const { session } of reopened) bench.reopen(session)
  for (const branch of branches) bench.closeBranch(branch)
  for (const one of detached) bench.detach(one)
  for (const one of moved) bench.moveClosing(one)
  for (const { route, to } of routes) bench.moveRoute(route, to)
}

/** The original file with only the sessions of its routes changed. */
async function oldRoutes(profile: ProfileFiles, changes: readonly Change[]): Promise<string> {
  const text = profile.routingFile === null ? '{}' : await readRoutingFile(profile.routingFile)
  const value = parsePythonJson(text)
  if (!isObject(value)) return text
  const moved = new Map(
    changes.flatMap((one) => (one.kind === 'route-moved' ? [[one.key, one.to] as const] : [])),
  )
  const entries = Object.entries(value).map(([key, entry]) => {
    const to = moved.get(key)
    return [key, to === undefined || !isObject(entry) ? entry : { ...entry, session_id: to }]
  })
  return `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`
}

/** The faults that the doctor still finds in the copy. */
async function stillThere(to: string, now: number): Promise<readonly UnrepairedFinding[]> {
  const { profiles } = await diagnoseHermes(to, { now })
  return profiles.flatMap(({ store, findings }) => {
    if (store.kind === 'unreadable') throw new HermesStoreError(store)
    return findings
      .filter(isFault)
      .map(({ kind, sessionIds, title, advice }) => ({ kind, sessionIds, title, advice }))
  })
}
