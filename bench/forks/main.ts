/**
 * `npm run bench:forks [-- --entries N]`: forks of a long session on each engine. Limits: 20 ms for a
 * fork, 20 kB of the store, and the context at its first entry is that of its origin. Beside each fork
 * an empty session is created: the same commit without an origin, which tells what the machine takes.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  entryNumber,
  operationId,
  type SessionId,
  sessionId,
} from '../../packages/core/src/base/ids.ts'
import type { JsonValue } from '../../packages/core/src/base/json.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { openPostgres } from '../../packages/core/src/store/postgres/open.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { connectAdmin, newSchema, startPostgres } from '../../test/support/postgres.ts'
import { LIMITS } from '../store/places.ts'

const { values } = parseArgs({ options: { entries: { type: 'string', default: '100000' } } })
const ENTRIES = Number(values.entries)
/** A recorded turn ends with an entry of its own. */
const TURN = 100
const FORKS = 50
const ORIGIN = sessionId('origin')

let misses = 0
await onSqlite()
await onPostgres()
process.exitCode = misses === 0 ? 0 : 1

async function onSqlite(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-forks-'))
  const path = join(folder, 'store.db')
  // Closed before each reading: what is still in the log is then in the file.
  const bytes = async () => statSync(path).size
  try {
    const filled = await openSqliteStore({ path })
    await fill(filled)
    await filled.close()
    const before = await bytes()
    const store = await openSqliteStore({ path })
    const times = await forkOften(store)
    await store.close()
    report('SQLite', times, (await bytes()) - before)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function onPostgres(): Promise<void> {
  const server = await startPostgres()
  if ('problem' in server) {
    console.log(`PostgreSQL is not measured: ${server.problem}`)
    return
  }
  const schema = newSchema()
  const admin = await connectAdmin(server.url)
  const bytes = async () => {
    const { rows } = await admin.query<{ bytes: string }>(
      `select coalesce(sum(pg_total_relation_size(c.oid)), 0) as bytes from pg_class c
       join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relkind = 'r'`,
      [schema],
    )
    return Number(rows[0]?.bytes)
  }
  const store = await openPostgres(server.url, { schema })
  try {
    await fill(store)
    await indexed(admin, schema)
    const before = await bytes()
    report('PostgreSQL', await forkOften(store), (await bytes()) - before)
  } finally {
    await store.close()
    await admin.query(`drop schema ${schema} cascade`)
    await admin.end()
    await server.stop()
  }
}

/** A session this long is indexed for minutes, beside everything else: that is not the fork's time. */
async function indexed(admin: Admin, schema: string): Promise<void> {
  const text = `select 1 from ${schema}.indexed where session = $1 and upto >= $2`
  while ((await admin.query(text, [ORIGIN, ENTRIES])).rows.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}
type Admin = Awaited<ReturnType<typeof connectAdmin>>

async function fill(store: Store): Promise<void> {
  await create(store, ORIGIN)
  const text = 'Some words that people and models say to each other. '.repeat(4)
  const said = (role: string) => ({ role, parts: [{ type: 'text', text }] })
  for (let turn = 0; turn < ENTRIES / TURN; turn++) {
    const steps = Array.from({ length: TURN - 1 }, (_, index) =>
      index % 2 === 0
        ? ({ kind: 'input', body: { message: said('user') } as JsonValue, tokens: 50 } as const)
        : ({
            kind: 'assistant',
            calls: [],
            body: said('assistant') as JsonValue,
            tokens: 50,
          } as const),
    )
    const key = `turn-${turn}`
    const what = { kind: 'turn', steps } as const
    const recorded = await store.recordEntries({
      ...{ sessionId: ORIGIN, source: 'bench', key, operation: operationId(key), what },
    })
    if (recorded.kind !== 'recorded') throw new Error(`The turn was ${recorded.kind}.`)
  }
}

/** At places all over the session, the last one at its end. */
async function forkOften(store: Store): Promise<Times> {
  const [forks, creations]: [number[], number[]] = [[], []]
  for (let nth = 1; nth <= FORKS; nth++) {
    const at = entryNumber(Math.floor((ENTRIES * nth) / FORKS))
    const id = sessionId(`fork-${nth}`)
    creations.push(await timed(() => create(store, sessionId(`plain-${nth}`))))
    const started = performance.now()
    const { kind } = await store.fork({
      ...{ id, from: ORIGIN, at, source: 'bench', key: id, operation: operationId(id) },
    })
    forks.push(performance.now() - started)
    if (kind !== 'forked') throw new Error(`The fork at ${at} was ${kind}.`)
    // The whole context is read: that of the early ones is enough to compare.
    if (nth > 2) continue
    const [own, its] = [await contextOf(store, id, at), await contextOf(store, ORIGIN, at)]
    if (own === its) continue
    misses++
    console.log(`MISS  the context of the fork at ${at} is not that of its origin`)
  }
  return { forks: ascending(forks), creations: ascending(creations) }
}
interface Times {
  readonly forks: readonly number[]
  readonly creations: readonly number[]
}

async function create(store: Store, id: SessionId): Promise<void> {
  const plain = { agent: 'main', limits: LIMITS, policy: 'steer' } as const
  await store.createSession({ ...plain, id, operation: operationId(`create-${id}`) })
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

function ascending(times: readonly number[]): readonly number[] {
  return times.toSorted((a, b) => a - b)
}

async function contextOf(store: Store, id: SessionId, upto: number): Promise<string> {
  return JSON.stringify(
    (await store.readContext({ sessionId: id, upto: entryNumber(upto) }))?.entries,
  )
}

function report(engine: string, { forks, creations }: Times, grown: number): void {
  const part = (times: readonly number[], share: number) =>
    (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(1)
  const at = (share: number) => part(forks, share)
  const kB = grown / FORKS / 1_000
  const isMet = Number(at(1)) <= 20 && kB <= 20
  if (!isMet) misses++
  console.log(
    `${isMet ? 'met ' : 'MISS'}  ${engine}: ${ENTRIES} entries, ${FORKS} forks: median ${at(0.5)} ms,`,
    `p90 ${at(0.9)} ms, worst ${at(1)} ms (20); ${kB.toFixed(1)} kB each, with one empty session (20);`,
    `to create one takes ${part(creations, 0.5)} ms, worst ${part(creations, 1)} ms`,
  )
}
