import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { makeFolder } from '#core/base/files/make-folder'
import { replaceFile } from '#core/base/files/write'
import { isObject } from '#core/base/json'
import { PRIVATE_FOLDER_MODE } from './operating-system.ts'
import { besideStore } from './store-selection.ts'

/**
 * How a command finds the servers of a store: each server listens on its own Unix domain socket and
 * names it in a file beside the store. Only the server's user can open either, so a caller needs no
 * token, and no other user can impersonate a server that ended. A killed server leaves its file
 * behind; its socket then refuses connections, and the next server removes both.
 */
export interface ServerAddress {
  /** The address of the page and the API. */
  readonly url: string
  readonly socket: string
  /** A path at which any page may have the browser remove what it keeps for this address. */
  readonly clearing?: string
}

/** The path of a Unix domain socket has at most 103 bytes on macOS; its temporary name is longer. */
const SOCKET_PATH_BYTES_MAX = 90

export interface Announcement {
  /** The socket path; null: this user has no private folder beside the store. */
  readonly socket: string | null
  /** A secret path, `clearing` above. */
  readonly clearing: string
  /** Call this once the server listens. */
  publish(url: string): void
  withdraw(): void
}

export function prepareAnnouncement(storeUrl: string): Announcement {
  const folder = serversFolder(storeUrl)
  const clearing = `/${randomBytes(16).toString('base64url')}`
  if (process.platform === 'win32' || !isMadePrivate(folder))
    return { socket: null, clearing, publish() {}, withdraw() {} }
  const id = randomBytes(4).toString('hex')
  const [file, near] = [join(folder, `${id}.json`), join(folder, `${id}.sock`)]
  const isLong = Buffer.byteLength(near) > SOCKET_PATH_BYTES_MAX
  const socket = isLong ? join(mkdtempSync(join(tmpdir(), 'throughline-')), 's') : near
  return {
    ...{ socket, clearing },
    publish(url) {
      replaceFile(file, JSON.stringify({ url, socket, clearing }))
    },
    withdraw() {
      removeFiles(folder, file, socket)
    },
  }
}

/** The servers of a store on this machine that accept connections, the newest first. */
export async function findServers(storeUrl: string): Promise<readonly ServerAddress[]> {
  const found = readAnnouncements(serversFolder(storeUrl))
  const areOpen = await Promise.all(found.map(({ socket }) => accepts(socket)))
  return found.filter((_, index) => areOpen[index])
}

/** Removes the files of killed servers. */
export async function removeDeadServers(storeUrl: string): Promise<void> {
  const folder = serversFolder(storeUrl)
  for (const { socket, file } of readAnnouncements(folder)) {
    if (!(await accepts(socket))) removeFiles(folder, file, socket)
  }
}

function serversFolder(storeUrl: string): string {
  return resolve(besideStore(storeUrl), 'servers')
}

/**
 * The file may have come with a copied folder and name any path: only a socket is removed, and its
 * folder only if nothing else is in it.
 */
function removeFiles(folder: string, file: string, socket: string): void {
  rmSync(file, { force: true })
  if (!isOwnSocket(socket)) return
  rmSync(socket, { force: true })
  if (dirname(socket) === folder) return
  try {
    rmdirSync(dirname(socket))
  } catch {
    // It holds something else.
  }
}

/** A socket of another user would get all messages. */
function isOwnSocket(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false })
  return found?.isSocket() === true && found.uid === process.geteuid?.()
}

function isMadePrivate(folder: string): boolean {
  try {
    makeFolder(folder)
    if (!isOwnFolder(folder)) return false
    chmodSync(folder, PRIVATE_FOLDER_MODE)
    return isPrivate(folder)
  } catch {
    return false // Another user's folder, or a read-only disk: commands open the store themselves.
  }
}

/** Another user who can write there could name a socket of their own. */
function isPrivate(folder: string): boolean {
  return isOwnFolder(folder) && (lstatSync(folder).mode & 0o077) === 0
}

/** Not a link, which could lead anywhere. */
function isOwnFolder(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === process.geteuid?.()
}

function readAnnouncements(folder: string): readonly (ServerAddress & { readonly file: string })[] {
  if (!isPrivate(folder)) return []
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(folder, name))
    .map((file) => ({ file, at: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
  return files
    .toSorted((left, right) => right.at - left.at)
    .flatMap(({ file }) => readAnnouncement(file))
}

function readAnnouncement(file: string): readonly (ServerAddress & { readonly file: string })[] {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (!isObject(value)) return []
    const { url, socket, clearing } = value
    if (typeof url !== 'string' || typeof socket !== 'string') return []
    return [{ url, socket, file, ...(typeof clearing === 'string' && { clearing }) }]
  } catch {
    return [] // The server withdrew it just now.
  }
}

async function accepts(path: string): Promise<boolean> {
  if (!isOwnSocket(path)) return false
  return await new Promise((settle) => {
    const socket = connect(path)
    const answer = (isOpen: boolean) => {
      socket.destroy()
      settle(isOpen)
    }
    socket.once('connect', () => answer(true))
    socket.once('error', () => answer(false))
  })
}
