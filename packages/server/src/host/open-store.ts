import { hash } from 'node:crypto'
import { join } from 'node:path'
import { findBehindLogs } from '#core/audit/behind-logs'
import { makeFolder } from '#core/base/files/make-folder'
import type { ReadStore, Store } from '#core/store/contract'
import { StoreRefusedError } from '#core/store/errors'
import { findLostCommits, removeAnchor, withAnchor } from '#core/store/integrity/anchor'
import type { Rewritten } from '#core/store/postgres/rewrite-tables'
import { openSqliteStore } from '#core/store/sqlite/open'
import { readSqliteStore } from '#core/store/sqlite/read'
import { anchorOf, lacksEvidence, recordOf, resolveFile } from '#core/store/sqlite/store-file'
import { Credentials, type Environment } from '../model/routes/credential.ts'
import type { Config } from './config/schema/schema.ts'
import { loadPostgresDriver } from './postgres-driver.ts'

/**
 * Opens the configured store: a database server, or a file, which is created if missing. For a
 * server, a folder on this host records the latest commit of the store. The driver is loaded only
 * for a server.
 */
export async function openStore(
  target: Config['store'],
  environment: Environment,
  folder: string,
): Promise<Store> {
  if (!isServer(target.url)) return await openFile(target.url)
  makeFolder(folder)
  const address = await addressOf(target, environment)
  const { openPostgres } = await import('#core/store/postgres/open')
  const driver = await loadPostgresDriver()
  return await openPostgres(address, { driver, anchorPath: serverAnchor(folder) })
}

/** Removes the bytes of erased rows from a server's table files; each table is locked meanwhile. */
export async function rewriteServerTables(
  target: Config['store'],
  environment: Environment,
  onTable: (table: string) => void,
): Promise<Rewritten> {
  const { rewriteTables } = await import('#core/store/postgres/rewrite-tables')
  const driver = await loadPostgresDriver()
  return await rewriteTables(await addressOf(target, environment), { driver, onTable })
}

/** One name for a server's store: user, password and options are left out. */
export function serverStoreName(url: string): string {
  const address = URL.parse(url)
  const option = (name: string) => address?.searchParams.get(name)
  const where = [address?.host ?? url, address?.pathname, option('host'), option('port')]
  const database = address?.pathname.replace(/[^\w-]/g, '').slice(0, 40) ?? ''
  return `postgres-${database}-${hash('sha256', JSON.stringify(where), 'hex').slice(0, 12)}`
}

/** Reports why the system refuses a file, to the person who named it. */
async function openFile(path: string): Promise<Store> {
  try {
    return await openSqliteStore({ path })
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    throw new StoreRefusedError(
      { path, problem: `it cannot be opened (${code}).` },
      { cause: error },
    )
  }
}

/**
 * The same for reading only: creates nothing and writes no byte. `folder` is where this host
 * records the latest commit of a server's store.
 */
export async function openForReading(
  target: Config['store'],
  environment: Environment,
  folder?: string,
): Promise<ReadStore> {
  if (!isServer(target.url)) return await readSqliteStore(target.url)
  const { readPostgres } = await import('#core/store/postgres/read')
  const driver = await loadPostgresDriver()
  const store = await readPostgres(await addressOf(target, environment), { driver })
  return folder === undefined ? store : withAnchor(store, serverAnchor(folder))
}

/** Which commits the store lacks by the files that record them; null: none. Reads little. */
export async function readLoss(
  store: ReadStore,
  url: string,
  folder: string,
): Promise<string | null> {
  if (isServer(url)) return await findLostCommits(store, serverAnchor(folder))
  const path = resolveFile(url)
  return await findLostCommits(store, anchorOf(path), recordOf(path))
}

/**
 * Whether commits could be missing without a record of them. Call it before the store is opened.
 */
export function mayLackCommits({ url }: Config['store']): boolean {
  return !isServer(url) && lacksEvidence(resolveFile(url))
}

/**
 * Sessions that lack what the audit logs record. Not in a server's store: each host has its own anchor
 * there, which no old copy brings along.
 */
export async function findBehind(
  store: Store,
  url: string,
  logs: readonly string[],
): Promise<readonly string[]> {
  return isServer(url) ? [] : await findBehindLogs(store, logs)
}

/** Continues with the store as it is and gives up commits that only the files beside it record. */
export function acceptLoss(url: string, folder: string): void {
  if (isServer(url)) removeAnchor(serverAnchor(folder))
  else removeAnchor(anchorOf(resolveFile(url)), recordOf(resolveFile(url)))
}

function serverAnchor(folder: string): string {
  return join(folder, 'store.anchor')
}

export function isServer(url: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(url)
}

async function addressOf(
  { url, password }: Config['store'],
  environment: Environment,
): Promise<string> {
  if (password === undefined) return url
  const address = new URL(url)
  address.password = encodeURIComponent(await new Credentials(environment).read(password))
  return address.href
}
