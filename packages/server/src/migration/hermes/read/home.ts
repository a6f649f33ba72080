import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { HermesStoreError } from './errors.ts'

/** The files of a Hermes home: one store per profile, with its logs and its old routing file. */
export interface ProfileFiles {
  readonly name: string
  /** Null: a single store outside any home. */
  readonly folder: string | null
  readonly store: string
  readonly logs: readonly string[]
  readonly routingFile: string | null
}

/** Rotated by number or date, compressed or not. */
const LOG_NAME = /\.log(?:[.-]\d[\d.-]{0,20})?(?:\.(?:gz|zst))?$/
const ROUTING_BYTES_MAX = 32 * 1024 * 1024

export async function findProfiles(path: string): Promise<readonly ProfileFiles[]> {
  if (!(await isFolder(path))) return [await profileAt(dirname(path), path, profileName(path))]
  const folders = [
    { name: 'default', folder: path },
    ...(await list(join(path, 'profiles'))).map((name) => ({
      name,
      folder: join(path, 'profiles', name),
    })),
  ]
  const profiles: ProfileFiles[] = []
  for (const { name, folder } of folders) {
    const store = join(folder, 'state.db')
    if (await isFile(store)) profiles.push(await profileAt(folder, store, name))
  }
  if (profiles.length > 0) return profiles
  throw new HermesStoreError({
    path,
    verdict: 'missing',
    problem: 'there is no state.db in this folder, nor in profiles/ below it. Name a Hermes home.',
  })
}

/** Looks for logs only if the store has Hermes' own file name. */
async function profileAt(folder: string, store: string, name: string): Promise<ProfileFiles> {
  const beside = repairedRoutes(store)
  const routes = (await isFile(beside)) ? beside : null
  if (basename(store) !== 'state.db') {
    return { name, folder: null, store, logs: [], routingFile: routes }
  }
  const logs = (await list(join(folder, 'logs'))).filter((file) => LOG_NAME.test(file))
  const routingFile = join(folder, 'sessions', 'sessions.json')
  return {
    ...{ name, folder, store },
    logs: logs.sort().map((file) => join(folder, 'logs', file)),
    routingFile: (await isFile(routingFile)) ? routingFile : routes,
  }
}

/** Where a repair writes the routes of a version that keeps them in a separate file. */
export function repairedRoutes(store: string): string {
  return `${store}.sessions.json`
}

export async function readRoutingFile(path: string): Promise<string> {
  const { size } = await stat(path)
  const text = size > ROUTING_BYTES_MAX ? '' : await readFile(path, 'utf8')
  // Some editors add a byte order mark, which JSON does not allow.
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

function profileName(path: string): string {
  const folder = dirname(path)
  return basename(dirname(folder)) === 'profiles' ? basename(folder) : 'default'
}

async function list(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort()
  } catch {
    return []
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() ?? false
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() ?? false
}
