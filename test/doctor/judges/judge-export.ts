import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { loadParts } from '../../../packages/core/src/session/blobs.ts'
import type { Store } from '../../../packages/core/src/store/contract.ts'
import { openMemoryStore } from '../../../packages/core/src/store/memory/open.ts'
import type { SessionRow } from '../../../packages/core/src/store/tables/rows.ts'
import { diagnoseHermes } from '../../../packages/server/src/migration/hermes/diagnose/diagnose.ts'
import { isFault } from '../../../packages/server/src/migration/hermes/diagnose/diagnosis.ts'
import { exportHermes } from '../../../packages/server/src/migration/hermes/export/export.ts'
import type { GeneratedHome } from '../homes/generate.ts'
import { plainRows } from '../homes/plain-rows.ts'
import { bring } from './bring.ts'
import { entriesOf, judgeWayBack } from './round-trip.ts'

/** Faults that a conversation takes with it: they are in what was said. */
const CARRIED = new Set<string>(['broken-tool-pair', 'torn-summary', 'said-no-record'])

/** The way back for every conversation, and there once more, judged by plain SQL alone. */
export async function judgeExport(store: Store, home: GeneratedHome): Promise<string[]> {
  const source = join(home.path, 'state.db')
  const to = join(home.path, 'back.db')
  const problems = await judgeWayBack(store, source, to)
  const sessions = await store.listSessions({ limit: 1_000 })
  const [longest] = sessions.toSorted((one, other) => other.tail - one.tail)
  if (longest !== undefined) problems.push(...(await judgeRoundTrip(store, longest, to, home.now)))
  return problems.map((problem) => `export: ${problem}`)
}

/** Exported, brought into another store and exported from there: the same rows in the same places. */
export async function judgeRoundTrip(
  store: Store,
  session: SessionRow,
  to: string,
  now: number,
): Promise<string[]> {
  const again = `${to}.again`
  const problems: string[] = []
  await write(store, session, to, now)
  const { profiles } = await diagnoseHermes(to, { now })
  for (const { kind } of profiles.flatMap(({ findings }) => findings.filter(isFault))) {
    if (!CARRIED.has(kind)) problems.push(`the doctor finds ${kind}`)
  }
  const other = openMemoryStore()
  try {
    await bring(to, other)
    const [back] = await other.listSessions({ limit: 9 })
    if (back === undefined) return [...problems, `${session.id} does not come back`]
    problems.push(...(await judgeWayBack(other, to, again)))
    await write(other, back, again, now)
    const [first, second] = [to, again].map((path) => plainRows(path).map(placed).sort())
    if (first?.join() !== second?.join()) problems.push('it is another after the second way')
    const [mine, theirs] = [await said(store, session), await said(other, back)]
    if (mine !== theirs) problems.push(`it has ${theirs} entries instead of ${mine}`)
    return problems
  } finally {
    await other.close()
    rmSync(again, { force: true })
  }
}

function placed({ said: words, state }: ReturnType<typeof plainRows>[number]): string {
  return `${state} ${words}`
}

async function said(store: Store, { id, tail }: SessionRow): Promise<number> {
  return (await entriesOf(store, id, tail)).filter(({ meta }) => 'row' in meta).length
}

async function write(store: Store, { id }: SessionRow, to: string, now: number): Promise<void> {
  rmSync(to, { force: true })
  await exportHermes({
    ...{ reads: store, sessionId: id, to, now },
    unshelve: async (message) => (await loadParts(store, id, [message]))[0] ?? message,
  })
}
