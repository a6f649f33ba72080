import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { create } from '../../packages/core/src/store/contract-suite/bench.ts'
import { openPostgres } from '../../packages/core/src/store/postgres/open.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { connectAdmin, newSchema, startPostgres } from '../../test/support/postgres.ts'
import type { Age } from './age.ts'
import { fillPostgres } from './fill-postgres.ts'
import { fillSqlite } from './fill-sqlite.ts'

/** A new store, and one with a year of other sessions in it. */
export interface Stores {
  readonly fresh: Store
  readonly aged: Store
  /**
   * In milliseconds. The disk's part is the same for both and changes by the second: a commit took 3 ms in
   * one run and 25 ms in the next. So SQLite's clock is the processor time of all threads, and the
   * server that is started here does not wait for the disk.
   */
  now(): number
  /** Until the work that a figure leaves to the background is done too: it counts with the figure. */
  settle(): Promise<void>
  /** The index follows the appends, and would be measured with what comes next. */
  untilIndexed(): Promise<void>
  /** Removes the fresh one. */
  close(): Promise<void>
}

/** The store's thread begins that work 20 ms after a commit. */
const SETTLE_MS = 50
const PATTERN = sessionId('pattern')

export async function openSqliteStores(age: Age, report: (text: string) => void): Promise<Stores> {
  const folder = join('.throughline', 'bench-age')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `year-${age.sessions}-${age.entries}.db`)
  await addPattern(await openSqliteStore({ path }))
  fillSqlite(path, age, report)
  const scratch = mkdtempSync(join(tmpdir(), 'throughline-age-'))
  const freshPath = join(scratch, 'fresh.db')
  const fresh = await openSqliteStore({ path: freshPath })
  const aged = await openSqliteStore({ path })
  const untilIndexed = () =>
    untilNone(async () =>
      [freshPath, path].some((each) => {
        using database = new DatabaseSync(each, { readOnly: true })
        return database.prepare('select 1 from unindexed limit 1').get() !== undefined
      }),
    )
  const close = async () => {
    await Promise.all([fresh.close(), aged.close()])
    rmSync(scratch, { recursive: true, force: true })
  }
  const now = () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1_000
  }
  const settle = () => sleep(SETTLE_MS)
  return { fresh, aged, now, settle, untilIndexed, close }
}

export async function openPostgresStores(
  age: Age,
  report: (text: string) => void,
): Promise<Stores> {
  const server = await startPostgres({ flags: ['-c', 'fsync=off'], lifeSeconds: 7_200 })
  if ('problem' in server) throw new Error(server.problem)
  const { url } = server
  const [freshSchema, schema] = [newSchema(), `throughline_year_${age.sessions}_${age.entries}`]
  await addPattern(await openPostgres(url, { schema }))
  const admin = await connectAdmin(url)
  await fillPostgres(admin, { ...age, schema }, report)
  const fresh = await openPostgres(url, { schema: freshSchema })
  const aged = await openPostgres(url, { schema })
  const untilIndexed = () =>
    untilNone(async () => {
      const some = `select 1 from ${freshSchema}.unindexed union all select 1 from ${schema}.unindexed`
      return (await admin.query(`${some} limit 1`)).rows.length > 0
    })
  const close = async () => {
    await Promise.all([fresh.close(), aged.close()])
    await admin.query(`drop schema ${freshSchema} cascade`)
    await admin.end()
    await server.stop()
  }
  const [now, settle] = [() => performance.now(), async () => {}]
  return { fresh, aged, now, settle, untilIndexed, close }
}

async function untilNone(isSome: () => Promise<boolean>): Promise<void> {
  while (await isSome()) await sleep(100)
}

/** The session that the others of the year are copies of. */
async function addPattern(store: Store): Promise<void> {
  if ((await store.findSession(PATTERN)) === undefined) {
    await create(store, { id: PATTERN })
  }
  await store.close()
}
