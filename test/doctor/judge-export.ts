import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionId } from '../../src/base/ids.ts'
import { exportHermes } from '../../src/doctor/export/hermes.ts'
import { diagnoseHermes } from '../../src/doctor/hermes/diagnose.ts'
import { isFault } from '../../src/doctor/hermes/diagnosis.ts'
import { unshelve } from '../../src/runtime/blobs.ts'
import type { Store } from '../../src/store/contract.ts'
import { openMemoryStore } from '../../src/store/memory/open.ts'
import type { Entry, SessionRow } from '../../src/store/rows.ts'
import { bring, contentOf, readAll } from './bring.ts'
import type { GeneratedHome } from './generate.ts'

/** Faults that a conversation takes with it: they are in what was said. */
const CARRIED = new Set<string>(['broken-tool-pair', 'torn-summary', 'said-no-record'])
const SESSIONS_MAX = 1

/** The way back and here again: the longest conversation says the same, and shows the same. */
export async function judgeExport(store: Store, home: GeneratedHome): Promise<string[]> {
  const sessions = await store.listSessions({ limit: 1_000 })
  const longest = sessions.toSorted((one, other) => other.tail - one.tail).slice(0, SESSIONS_MAX)
  const problems: string[] = []
  for (const session of longest) {
    const told = await judgeRoundTrip(store, session, join(home.path, 'back.db'), home.now)
    problems.push(...told.map((problem) => `export of ${session.id}: ${problem}`))
  }
  return problems
}

export async function judgeRoundTrip(
  store: Store,
  session: SessionRow,
  to: string,
  now: number,
): Promise<string[]> {
  rmSync(to, { force: true })
  const sessionId = session.id
  const { id } = await exportHermes({
    ...{ reads: store, sessionId, to, now },
    unshelve: async (message) => (await unshelve(store, sessionId, [message]))[0] ?? message,
  })
  const problems: string[] = []
  const { profiles } = await diagnoseHermes(to, { now })
  for (const { kind } of profiles.flatMap(({ findings }) => findings.filter(isFault))) {
    if (!CARRIED.has(kind)) problems.push(`the doctor finds ${kind}`)
  }
  const other = openMemoryStore()
  try {
    await bring(to, other)
    const back = (await other.listSessions({ limit: 9 }))[0]
    if (back === undefined) return [...problems, `${id} does not come back`]
    const [early, late] = [await times(store, session), await times(other, back)]
    // What was said twice in one millisecond is parted by another.
    const isMoved = early.some((at, index) => Math.abs(at - (late[index] ?? 0)) > 5)
    if (isMoved) problems.push('it has other times')
    for (const read of [said, shown]) {
      const [there, here] = [await read(other, back), await read(store, session)]
      const at = here.findIndex((words, index) => words !== there[index])
      if (at >= 0 || there.length !== here.length) {
        const found = `${there[at]} instead of ${here[at]}`
        problems.push(`${read.name}: ${there.length} of ${here.length}, ${at}: ${found}`)
      }
    }
    return problems
  } finally {
    await other.close()
  }
}

/** What was said, in order; what was taken back may stand anywhere. */
async function said(store: Store, { id, tail }: SessionRow): Promise<readonly string[]> {
  const entries = (await readAll(store, id, tail)).filter(isTold)
  const aside = entries.filter(({ kind }) => kind === 'turn').map(contentOf)
  const spoken = entries.filter(({ kind }) => kind !== 'turn')
  return [...spoken.map(contentOf), ...aside.sort()]
}

async function times(store: Store, { id, tail }: SessionRow): Promise<readonly number[]> {
  const entries = await readAll(store, id, tail)
  return entries.flatMap((one) => (isTold(one) && one.kind !== 'turn' ? [one.at] : []))
}

async function shown(store: Store, { id }: SessionRow): Promise<readonly string[]> {
  const context = await store.readContext({ sessionId: id as SessionId })
  const entries = (context?.entries ?? []).filter(
    (entry) => isTold(entry) && entry.kind !== 'turn' && entry.number > (context?.covers ?? 0),
  )
  return entries.filter(({ kind }) => kind !== 'compaction').map(contentOf)
}

function isTold({ meta }: Entry): boolean {
  return 'row' in meta
}
