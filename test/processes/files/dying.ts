import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { expect } from 'vitest'
import type { Store } from '../../../packages/core/src/store/contract.ts'
import { StoreFixture, said } from '../../../packages/core/src/store/contract-suite/bench.ts'
import { POSTGRES_SCHEMA } from '../../../packages/core/src/store/postgres/schema.ts'
import { SQLITE_SCHEMA } from '../../../packages/core/src/store/sqlite/schema.ts'
import { openPlace, type Place } from '../place.ts'

/** Stores that are worked on by processes that die. */
const MIGRATOR = join(import.meta.dirname, '..', 'children', 'migrator.ts')
const DIE_MIGRATING = join(import.meta.dirname, '..', 'children', 'die-migrating.ts')
const COMPILED = join(tmpdir(), 'throughline-compiled')

export async function using<Value>(
  place: Place,
  work: (store: Store) => Promise<Value>,
): Promise<Value> {
  const store = await openPlace(place)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

export function start(child: string, args: readonly string[], env: Record<string, string> = {}) {
  return spawn(process.execPath, [child, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...env },
  })
}

/** Opened repeatedly by processes that are killed on the way, then by one that is not. */
export async function migrateThroughDeaths(
  place: Place,
  schemaOf: () => Promise<number>,
  from = 1,
): Promise<void> {
  for (const [point, schema] of [
    ['half', from],
    ['whole', from],
    ['after', place.kind === 'sqlite' ? SQLITE_SCHEMA : POSTGRES_SCHEMA],
  ] as const) {
    const env = { DIE_AT: point, NODE_OPTIONS: `--import=${pathToFileURL(DIE_MIGRATING).href}` }
    const child = start(MIGRATOR, [JSON.stringify(place)], env)
    const [, signal] = await once(child, 'exit')
    expect([point, signal, await schemaOf()]).toEqual([point, 'SIGKILL', schema])
  }
}

export function sqliteSchema(path: string): number {
  const database = new DatabaseSync(path, { timeout: 2_000 })
  const { user_version: found } = database.prepare('pragma user_version').get() ?? {}
  database.close()
  return Number(found)
}

export async function fill(store: Store): Promise<StoreFixture> {
  const fixture = await StoreFixture.open(store)
  await fixture.exchange('before', 'the change')
  await fixture.admit(said('waiting'))
  return fixture
}

export async function checkFilled(store: Store, fixture: StoreFixture): Promise<void> {
  expect(await store.verify({})).toEqual([])
  const row = await store.findSession(fixture.id)
  expect([row?.tail, row?.mail, row?.title]).toEqual([3, 2, null])
  expect(await store.setTitle({ sessionId: fixture.id, title: 'x' })).toEqual({ kind: 'done' })
  expect(await store.listNotes({ agent: 'ada', limit: 1 })).toEqual([])
}
