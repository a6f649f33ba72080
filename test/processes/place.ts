import type { Store } from '../../packages/core/src/store/contract.ts'

/** Where a store is, as plain data for child processes. */
export type Place =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string; readonly schema: string }

/** Loads only the requested engine, so that a process that will be killed starts quickly. */
export async function openPlace(place: Place, busyMs = 5_000): Promise<Store> {
  if (place.kind === 'sqlite') {
    const { openSqliteStore } = await import('../../packages/core/src/store/sqlite/open.ts')
    return await openSqliteStore({ path: place.path, busyMs })
  }
  const { openPostgres } = await import('../../packages/core/src/store/postgres/open.ts')
  // 13 processes and their checker stay below a server's hundred connections.
  const { url, schema } = place
  return await openPostgres(url, { schema, busyMs, connections: 4, pollMs: 250 })
}
