import { rmSync } from 'node:fs'
import type { Store } from '#core/store/contract'
import { Connections, locationOf } from '#core/store/postgres/connections/connections'
import { translateServerError } from '#core/store/postgres/connections/failure'
import { openPostgres } from '#core/store/postgres/open'
import { openSqliteStore } from '#core/store/sqlite/open'
import { loadPostgresDriver } from '../../host/postgres-driver.ts'

/** Where the store of a rehearsal is; plain data, so that it can be sent to a child process. */
export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly path: string }
  /** A separate schema, so that other data in that database is untouched. */
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string }

// On a busy machine a commit may wait for a dozen others.
const BUSY_MS = 20_000
// 13 agents with 5 + 1 connections each, and ours, stay below a server's default of 100.
const CONNECTIONS = 5

export async function openLocation(location: StoreLocation): Promise<Store> {
  if (location.kind === 'sqlite') {
    return await openSqliteStore({ path: location.path, busyMs: BUSY_MS })
  }
  const { url, schema } = location
  const driver = await loadPostgresDriver()
  return await openPostgres(url, {
    ...{ driver, schema, busyMs: BUSY_MS, connections: CONNECTIONS, pollMs: 250 },
  })
}

/** Removes everything that a store left there; no process may still have it open. */
export async function removeLocation(location: StoreLocation): Promise<void> {
  if (location.kind === 'sqlite') {
    for (const end of ['', '-wal', '-shm', '.anchor', '.commits', '.wake']) {
      rmSync(`${location.path}${end}`, { recursive: true, force: true })
    }
    return
  }
  const { url, schema } = location
  const driver = await loadPostgresDriver()
  const startedAt = performance.now()
  const connections = new Connections({
    ...{ driver, url, schema, connections: 1, busyMs: BUSY_MS, statementMs: 60_000 },
  })
  try {
    await connections.query({ text: `drop schema if exists ${schema} cascade` })
  } catch (error) {
    throw translateServerError(error, locationOf({ url, schema }), performance.now() - startedAt)
  } finally {
    await connections.close()
  }
}
