import { join } from 'node:path'
import type { SessionId } from '../../../packages/core/src/base/ids.ts'
import type { Store } from '../../../packages/core/src/store/contract.ts'
import { openMemoryStore } from '../../../packages/core/src/store/memory/open.ts'
import {
  type ImportReport,
  unaccounted,
} from '../../../packages/server/src/migration/import-report.ts'
import type { GeneratedHome } from '../homes/generate.ts'
import { HermesModel, type ModelRow, writeStore } from '../homes/hermes-model.ts'
import { bring } from './bring.ts'
import { judgeExport } from './judge-export.ts'
import { entriesOf } from './round-trip.ts'

/** Brings a generated home over and looks for every row of the model, by means of its own. */
export async function judgeImport(home: GeneratedHome): Promise<readonly string[]> {
  const store = openMemoryStore()
  try {
    const first = await bring(home.path, store)
    const problems = [...judgeSum(first), ...(await judgeRows(home.model, store))]
    problems.push(...(await judgeContexts(home.model, first, store)))
    problems.push(...(await judgeExport(store, home)))
    const entries = await countEntries(store)
    const second = await bring(home.path, store)
    if (sum(second, 'brought') !== 0 || (await countEntries(store)) !== entries) {
      problems.push(`a second run brought ${sum(second, 'brought')} rows again`)
    }
    return [...problems, ...(await judgeLater(home))]
  } finally {
    await store.close()
  }
}

/** Half of it first, as if Hermes had written the rest meanwhile: only the new arrives, all of it. */
async function judgeLater(home: GeneratedHome): Promise<readonly string[]> {
  const { model, shape, path } = home
  const half = earlier(model)
  const early = join(path, 'early.db')
  writeStore(half, shape, early)
  const store = openMemoryStore()
  try {
    const before = await bring(early, store)
    const report = await bring(path, store)
    const problems = [...judgeSum(report), ...(await judgeRows(model, store, { isOneRun: false }))]
    const restored = before.profiles
      .flatMap((one) => one.conversations)
      .flatMap((one) => one.restored)
    problems.push(...(await judgeContexts(model, report, store, restored)))
    const entries = await countEntries(store)
    await bring(path, store)
    if ((await countEntries(store)) !== entries) problems.push('a third run added entries')
    return problems.map((problem) => `in two runs: ${problem}`)
  } finally {
    await store.close()
  }
}

/** The store as it was when about half of its rows were written. */
function earlier(model: HermesModel): HermesModel {
  const half = new HermesModel()
  let cut = Math.ceil(model.rows.length / 2)
  const isOneWrite = (at: number) =>
    model.rows[at]?.copyOf !== null || model.rows[at].at - (model.rows[at - 1]?.at ?? 0) < 0.01
  while (cut < model.rows.length && isOneWrite(cut)) cut += 1
  const rows = model.rows.slice(0, cut)
  const now = rows.reduce((latest, { at }) => Math.max(latest, at), 0)
  half.rows = rows.map((row, index) => {
    const isCompacted = rows
      .slice(index)
      .some((later) => later.sessionId === row.sessionId && isHandoffRow(later))
    return row.compacted === 1 && !isCompacted ? { ...row, active: 1, compacted: 0 } : row
  })
  for (const [id, session] of model.sessions) {
    const isOpen = session.endedAt !== null && session.endedAt > now
    if (session.startedAt > now) continue
    half.sessions.set(id, isOpen ? { ...session, endedAt: null, endReason: null } : session)
  }
  return half
}

function sum({ profiles }: ImportReport, key: 'brought' | 'left'): number {
  return profiles.reduce((total, { rows }) => total + rows[key], 0)
}

function judgeSum(report: ImportReport): string[] {
  const lost = report.profiles.reduce((total, { rows }) => total + unaccounted(rows), 0)
  const problems: string[] = []
  if (lost !== 0) problems.push(`${lost} rows unaccounted for`)
  if (sum(report, 'left') !== 0) problems.push(`${sum(report, 'left')} rows were left`)
  return problems
}

/** Every row once, by the number that its entry carries; what is absent is a copy of one that is not. */
async function judgeRows(
  model: HermesModel,
  store: Store,
  { isOneRun = true } = {},
): Promise<string[]> {
  const problems: string[] = []
  const homes = new Map<number, string>()
  for (const { id, tail } of await store.listSessions({ limit: 1_000 })) {
    for (const { kind, meta } of await entriesOf(store, id, tail)) {
      const row = 'row' in meta ? meta.row : undefined
      if (row === undefined) continue
      // Hermes may return to a side of a fork; then its handoff replaces the other side's.
      const isAgain = !isOneRun && kind === 'compaction'
      if (homes.has(row) && !isAgain) problems.push(`row ${row} stands twice`)
      homes.set(row, id)
    }
  }
  const said = new Set([...homes.keys()].map((row) => wordsAt(model, row)))
  const rewritten = rewrittenSessions(model)
  for (const row of model.rows) {
    const isHere = homes.has(row.id)
    if (!isHere && !said.has(wordsOf(row))) problems.push(`row ${row.id} is nowhere`)
    // Of a session that was written anew nobody knows what was a copy of what.
    if (
      !isOneRun ||
      rewritten.has(row.sessionId) ||
      rewritten.has(parentOf(model, row.sessionId) ?? '')
    )
      continue
    if (!isHere && row.copyOf === null) problems.push(`row ${row.id} is no copy and is left out`)
    const original = row.copyOf === null ? undefined : homes.get(row.copyOf)
    if (isHere && original !== undefined && original === homes.get(row.id)) {
      problems.push(`row ${row.id} stands beside row ${row.copyOf}, of which it is a copy`)
    }
  }
  for (const { problem } of await store.verify({})) problems.push(problem)
  return problems
}

function rewrittenSessions(model: HermesModel): ReadonlySet<string> {
  const found = new Set<string>()
  const last = new Map<string, number>()
  for (const { sessionId, at } of model.rows) {
    const step = at - (last.get(sessionId) ?? Number.NEGATIVE_INFINITY)
    if (step > 0 && step < 2e-6) found.add(sessionId)
    last.set(sessionId, at)
  }
  return found
}

/** What Hermes showed its model last is what ours shows next, and what was lost is there as well. */
async function judgeContexts(
  model: HermesModel,
  report: ImportReport,
  store: Store,
  before: readonly number[] = [],
): Promise<string[]> {
  const problems: string[] = []
  for (const { sessionId, ids, restored } of report.profiles.flatMap((one) => one.conversations)) {
    const id = sessionId as SessionId
    const context = await store.readContext({ sessionId: id })
    const shown = new Set<number>()
    for (const entry of context?.entries ?? []) {
      const isShown = entry.number > (context?.covers ?? 0)
      if (isShown && 'row' in entry.meta && entry.kind !== 'turn') shown.add(entry.meta.row ?? 0)
    }
    const live = model.live(ids.at(-1) ?? '').filter((row) => !isHandoffRow(row))
    const said = new Set([...shown].map((row) => wordsAt(model, row)))
    const missing = live.filter((row) => !said.has(wordsOf(row))).map((row) => row.id)
    if (missing.length > 0) problems.push(`${id}: rows ${missing.join()} left the context`)
    const lost = restored.filter((row) => !shown.has(row))
    if (lost.length > 0) problems.push(`${id}: rows ${lost.join()} stay lost`)
    const given = new Set([
      ...live.map(wordsOf),
      ...[...restored, ...before].map((row) => wordsAt(model, row)),
    ])
    const early = [...shown].filter(
      (row) => !given.has(wordsAt(model, row)) && !isHandoffRow(rowOf(model, row)),
    )
    const isForked = ids.some(
      (one) => ids.filter((other) => parentOf(model, other) === one).length > 1,
    )
    const hasHandoff = context !== null && context.effective > 0
    if (hasHandoff && !isForked && early.length > 0) {
      problems.push(`${id}: rows ${early.join()} came back into the context`)
    }
  }
  return problems
}

const rowOf = (model: HermesModel, id: number) => model.rows.find((row) => row.id === id)
const wordsAt = (model: HermesModel, id: number) => {
  const row = rowOf(model, id)
  return row === undefined ? '' : wordsOf(row)
}
const parentOf = (model: HermesModel, id: string) => model.sessions.get(id)?.parentId

function isHandoffRow(row: ModelRow | undefined): boolean {
  return /^\[CONTEXT (?:COMPACTION|SUMMARY)/.test(row?.content ?? '')
}

function wordsOf({ content, toolCalls, toolCallId }: ModelRow): string {
  return JSON.stringify([content, toolCalls, toolCallId])
}

async function countEntries(store: Store): Promise<number> {
  const sessions = await store.listSessions({ limit: 1_000 })
  return sessions.reduce((total, { tail }) => total + tail, 0)
}
