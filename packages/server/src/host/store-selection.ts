import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { makeFolder } from '#core/base/files/make-folder'
import { trustOf, whyFileUntrusted } from '#core/base/files/trust'
import type { ReadStore, Store } from '#core/store/contract'
import type { EmbeddingRoute } from '../model/embeddings/embedder.ts'
import type { SpendLimits } from '../runtime/models/spend-caps.ts'
import type { Loaded, LoadRequest } from './config/load.ts'
import { UsageError } from './errors.ts'
import type { StoreFlags } from './flags.ts'
import { loadRequest as configRequest } from './flags.ts'
import { isServer, openForReading, openStore, readLoss, serverStoreName } from './open-store.ts'
import { stateFolder } from './operating-system.ts'

/** The store that a command acts on, without agents or a runtime. */

/** `--store` overrides the configuration for one run. */
export function storeRequest({ store, set = [], ...flags }: StoreFlags): LoadRequest {
  return configRequest({ ...flags, set: store === undefined ? set : [...set, `store=${store}`] })
}

/** With `--store` the configuration is not read, so a broken one does not matter. */
export async function storeOf(
  flags: StoreFlags,
  { mayMake = false }: { readonly mayMake?: boolean } = {},
): Promise<{ readonly url: string }> {
  if (flags.store !== undefined) return { url: flags.store }
  const { requireConfig } = await import('./config/load.ts')
  const loaded = requireConfig(storeRequest(flags))
  checkOwn(loaded, mayMake)
  return loaded.config.store
}

/**
 * An unnamed store in the working folder must be the user's own: another user who made it, or can write
 * to it, could read all messages and issue tokens. Its folder is created before the check, so that
 * another user cannot create it in between.
 */
export function checkOwn({ config, file, isFileFound, originOf }: Loaded, mayMake: boolean): void {
  const { url } = config.store
  const isNamed = (file !== null && !isFileFound) || originOf(['store', 'url']).kind !== 'default'
  if (isNamed) return
  const folder = dirname(url)
  try {
    if (mayMake) makeFolder(folder)
  } catch {
    // Opening the store reports the reason.
  }
  const doubt = existsSync(folder) ? whyFileUntrusted(url, trustOf(process.env)) : null
  if (doubt === null) return
  throw new UsageError(
    `The store ${url} is not used: ${doubt}. Work in a folder that only you can write to (if it is ` +
      `yours, \`chmod go-w FOLDER\` makes it one), or name the store if you trust it: \`--store ${url}\`.`,
  )
}

/** The agents that a configuration names; null if it cannot be read. */
export async function configuredAgents(flags: StoreFlags): Promise<readonly string[] | null> {
  const { requireConfig } = await import('./config/load.ts')
  try {
    return Object.keys(requireConfig(storeRequest(flags)).config.agents)
  } catch {
    return null
  }
}

/** What turns may spend; nothing is known of a store that the configuration does not name. */
export async function configuredSpend(flags: StoreFlags): Promise<SpendLimits> {
  if (flags.store !== undefined && flags.config === undefined) return {}
  const { requireConfig } = await import('./config/load.ts')
  const { spendLimitsOf } = await import('./config/allowance-of.ts')
  return spendLimitsOf(requireConfig(storeRequest(flags)).config)
}

/** How to search by meaning; nothing is sent about a store that the configuration does not name. */
export async function configuredEmbeddings(flags: StoreFlags): Promise<EmbeddingRoute | undefined> {
  if (flags.store !== undefined && flags.config === undefined) return undefined
  const { requireConfig } = await import('./config/load.ts')
  const { embeddingRouteOf } = await import('./config/embedding-route.ts')
  return embeddingRouteOf(requireConfig(storeRequest(flags)).config)
}

/** Always closes the store. */
export async function withStore<Answer>(
  flags: StoreFlags,
  act: (store: Store) => Promise<Answer>,
  { mayMake = false }: { readonly mayMake?: boolean } = {},
): Promise<Answer> {
  const where = await storeOf(flags, { mayMake })
  if (!mayMake) checkExists(where.url)
  const store = await openStore(where, process.env, besideStore(where.url))
  // A store alone keeps no process alive; a command that waits for an answer must.
  const staying = setInterval(() => {}, STAY_MS)
  try {
    return await act(store)
  } finally {
    clearInterval(staying)
    // A new store stays, even if it is empty: another process may have opened it since.
    await store.close()
  }
}

const STAY_MS = 60_000

/** Read-only: writes nothing, even while other processes write. */
export async function withStoreToRead(
  flags: StoreFlags,
  act: (store: ReadStore, lost: string | null) => Promise<number>,
): Promise<number> {
  const where = await storeOf(flags)
  checkExists(where.url)
  const store = await openForReading(where, process.env)
  try {
    return await act(store, await readLoss(store, where.url, besideStore(where.url)))
  } finally {
    await store.close()
  }
}

/**
 * The folder of files that belong to a store. It is beside the file, not beside a link to it, so
 * that processes that use different names share their logs.
 */
export function besideStore(storeUrl: string): string {
  if (isServer(storeUrl)) return join(stateFolder(), serverStoreName(storeUrl))
  const isLink = lstatSync(storeUrl, { throwIfNoEntry: false })?.isSymbolicLink() === true
  return dirname(isLink && existsSync(storeUrl) ? realpathSync(storeUrl) : storeUrl)
}

/** Each process that runs sessions of the store writes one log there. */
export function auditFolder(storeUrl: string): string {
  return join(besideStore(storeUrl), 'audit')
}

/** The audit logs in a folder. */
export function logsIn(folder: string): readonly string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return []
  return (
    readdirSync(folder)
      .filter((name) => /\.jsonl(?:\.gz)?$/.test(name))
      .sort()
      .map((name) => join(folder, name))
      // A process that recorded nothing leaves an empty log.
      .filter((path) => statSync(path).size > 0)
  )
}

/**
 * In a folder like /tmp another user can create the folder of the logs first, as a link to any other,
 * and then exchange the logs. Call it before the logs are opened, and again when their folder exists:
 * from then on it cannot be exchanged there. Windows has no owners.
 */
export function checkOwnLogs(storeUrl: string): void {
  const own = process.geteuid?.()
  const folder = auditFolder(storeUrl)
  const owner = ownerOf(folder)
  if (own === undefined || owner === null) return
  if ([own, ROOT, ownerOf(storeUrl)].includes(owner)) return
  throw new UsageError(
    `The store ${displayUrl(storeUrl)} is not used: ${folder} belongs to another user (${owner}), ` +
      'who could exchange its logs. Remove it, or keep the store in a folder of your own.',
  )
}

/** Null: there is nothing, or it cannot be reached; opening it reports the reason. */
function ownerOf(path: string): number | null {
  try {
    return lstatSync(path).uid
  } catch {
    return null
  }
}

const ROOT = 0

/**
 * Where earlier versions wrote audit logs: beside a link to the store, and into one folder for all
 * stores on servers.
 */
export function olderAuditFolders(storeUrl: string): readonly string[] {
  const folder = isServer(storeUrl) ? stateFolder() : dirname(storeUrl)
  return resolve(folder) === resolve(besideStore(storeUrl)) ? [] : [join(folder, 'audit')]
}

/** For display: a password may be before the host, after the "?", or misspelt. */
export function displayUrl(storeUrl: string): string {
  if (!isServer(storeUrl)) return storeUrl
  const url = URL.parse(storeUrl)
  if (url === null) return 'a postgres:// address that cannot be read'
  const user = url.username === '' ? '' : `${url.username}@`
  return `${url.protocol}//${user}${url.host}${url.pathname}`
}

/** A misspelt path must not create an empty store. */
export function checkExists(url: string): void {
  if (isServer(url)) return
  const there = statSync(url, { throwIfNoEntry: false })
  if (there?.isDirectory()) {
    throw new UsageError(`${url} is a folder. --store names the file of a store.`)
  }
  if (there !== undefined) return
  throw new UsageError(
    `There is no store at ${url}. \`throughline serve\` or \`throughline chat\` creates one; ` +
      '--store names another.',
  )
}
