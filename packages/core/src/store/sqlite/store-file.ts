import { existsSync, lstatSync, realpathSync, statfsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { makeFolder } from '../../base/files/make-folder.ts'
import { ANY_GROUP, followLinks } from '../../base/files/trust.ts'
import { createFile, NamedDraft } from '../../base/files/write.ts'
import { StoreReadOnlyError, StoreRefusedError } from '../errors.ts'
import { wakeFolder } from './worker/wake.ts'

/**
 * The only module that accesses the database's files with ordinary file calls. Opening and closing
 * one while SQLite has it open drops SQLite's locks: another process then deletes the live WAL, and
 * 50 of 110 acknowledged rows were gone while the integrity check said "ok".
 */
export const SQLITE_VERSION_MIN = '3.51.3'

/**
 * File systems with unreliable locks, by statfs(2) number: from Linux's `linux/magic.h`, and two
 * from separate modules (Lustre, GPFS).
 */
const NETWORK_DRIVES: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
  [0x65735546, 'FUSE'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x564c, 'NCP'],
  [0x73757245, 'Coda'],
  [0x47504653, 'GPFS'],
])

export function networkDrive(type: number): string | undefined {
  return NETWORK_DRIVES.get(type)
}

/** The WAL-reset bug of 3.7.0 to 3.51.2 loses commits when several processes write. */
export function isOldSqlite(version: string): boolean {
  const found = version.split('.').map(Number)
  for (const [index, wanted] of SQLITE_VERSION_MIN.split('.').map(Number).entries()) {
    const difference = (found[index] ?? 0) - wanted
    if (difference !== 0) return difference < 0
  }
  return false
}

/**
 * Resolves links. SQLite puts the WAL beside a link's target, so every user of the WAL must do the
 * same.
 */
export function resolveFile(file: string): string {
  const path = resolve(file)
  refuseForeignLink(path)
  const place = isLink(path) ? targetOf(path) : path
  // SQLite would wait forever for the other end of a pipe.
  if (statSync(place, { throwIfNoEntry: false })?.isFIFO() !== true) return place
  throw new StoreRefusedError({ path, problem: 'it is a pipe, not a file.' })
}

function targetOf(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  throw new StoreRefusedError({ path, problem: 'it is a link that leads nowhere.' })
}

/** A link of another user could lead to a store of theirs, or to a file of ours. */
function refuseForeignLink(path: string): void {
  try {
    const way = followLinks(path, ANY_GROUP)
    if (!('doubt' in way)) return
    const problem = `${way.doubt}, so others could choose the store. Remove it, or choose another name.`
    throw new StoreRefusedError({ path, problem })
  } catch (error) {
    if (error instanceof StoreRefusedError) throw error
    refuseFolder(path, error)
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  } catch (error) {
    refuseFolder(path, error)
  }
}

/** The default path of the anchor. */
export function anchorOf(path: string): string {
  return `${path}.anchor`
}

/** The default path of the commit record. */
export function recordOf(path: string): string {
  return `${path}.commits`
}

/**
 * A store without anchor and commit record, such as a copy of the database file alone: nothing
 * reveals the commits that a missing WAL contained.
 */
export function lacksEvidence(path: string): boolean {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return size > 0 && ![anchorOf(path), recordOf(path)].some((file) => existsSync(file))
}

/** Why the system refuses a file beside the database; undefined for other errors. */
export function unusableFile(error: unknown, path: string): StoreRefusedError | undefined {
  const { code, syscall, path: file = path } = error as NodeJS.ErrnoException
  if (syscall === undefined || code === 'EMFILE' || code === 'ENOSPC') return undefined
  const problem = `${file} cannot be used (${code}). Make it a file that this user can read and write.`
  return new StoreRefusedError({ path, problem }, { cause: error })
}

/** Makes sure that the file exists, is private, and is on a local drive. */
export function prepareFile(path: string): void {
  const folder = dirname(path)
  try {
    try {
      makeFolder(folder)
    } catch (error) {
      refuseFolder(path, error)
    }
    const drive = networkDrive(statfsSync(folder).type)
    if (drive !== undefined) {
      const problem = `${folder} is a network drive (${drive}); SQLite needs a local one. For several hosts use PostgreSQL.`
      throw new StoreRefusedError({ path, problem })
    }
    // Exclusive, so that it only opens and closes a file that no other process can have open.
    createFile(path, '')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') {
      refuseSecondName(path)
      refuseForeignStart(path)
      return
    }
    if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM') {
      throw new StoreReadOnlyError({ path, problem: String(code) })
    }
    throw error
  }
}

/** Below /proc, or below a file, the system makes no folder. */
function refuseFolder(path: string, error: unknown): never {
  const { code = '' } = error as NodeJS.ErrnoException
  if (!['ENOENT', 'ENOTDIR', 'EEXIST'].includes(code)) throw error
  const problem = `the folder ${dirname(path)} cannot be used (${code}). Name a file in a folder that exists.`
  throw new StoreRefusedError({ path, problem }, { cause: error })
}

/**
 * A hard link has a separate WAL: of two processes that wrote under two names, one lost its
 * acknowledged commits, and every check said "ok". Other processes' names for the file are not
 * known here.
 */
function refuseSecondName(path: string): void {
  const file = statSync(path)
  if (file.isDirectory()) {
    throw new StoreRefusedError({ path, problem: 'it is a folder. Name a file in it.' })
  }
  const names = file.nlink
  if (names <= 1) return
  const problem = `the file has ${names} names (hard links), and SQLite keeps a WAL for each: commits would be lost. Remove the others, or make them copies.`
  throw new StoreRefusedError({ path, problem })
}

/** SQLite opens these beside a database by their names. */
const SQLITE_FILES = ['-journal', '-wal', '-shm']
const BESIDE = [...SQLITE_FILES, anchorOf(''), recordOf(''), wakeFolder('')]

/**
 * In a folder of all users, such as /tmp, another user can put a journal beside the database after
 * `refuseForeignFiles` looked, and SQLite rolls it back into the database, which can empty it. Own
 * empty files, which SQLite passes over, hold the names before; others cannot exchange them there.
 */
export function takeNames(path: string): void {
  if (!isOwnAmongAll(path)) return
  for (const end of SQLITE_FILES) {
    try {
      createFile(`${path}${end}`, '')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

/**
 * In a folder like /tmp another user can create the files beside a database first, and then read and
 * change what is written to them. Call it before the database is opened, and again when its files
 * exist: from then on they cannot be exchanged there. Windows has no owners.
 */
export function refuseForeignFiles(path: string, { areOpen = false } = {}): void {
  const own = process.geteuid?.()
  if (own === undefined) return
  const owners = [own, ROOT, statSync(path, { throwIfNoEntry: false })?.uid]
  for (const end of BESIDE) {
    const file = `${path}${end}`
    const uid = lstatSync(file, { throwIfNoEntry: false })?.uid
    // Opened, and then taken away: what is written to it would still reach them.
    const isTakenAway = uid === undefined && areOpen && end === '-wal' && isOwnAmongAll(path)
    if (!isTakenAway && (uid === undefined || owners.includes(uid))) continue
    const whose = isTakenAway
      ? 'was taken away by another user'
      : `belongs to another user (${uid})`
    const problem = `${file} ${whose}, who could read and change what is written to it. Remove it, or keep the store in a folder of your own.`
    throw new StoreRefusedError({ path, problem })
  }
}

/** Others can make files beside it. Where root opens a store of somebody, its files stay theirs. */
function isOwnAmongAll(path: string): boolean {
  const own = process.geteuid?.()
  const folder = statSync(dirname(path), { throwIfNoEntry: false })
  return (
    own !== undefined &&
    folder !== undefined &&
    (folder.mode & OTHERS_WRITE) !== 0 &&
    lstatSync(path, { throwIfNoEntry: false })?.uid === own
  )
}
const OTHERS_WRITE = 0o002

/**
 * An empty file would become our store, and stay theirs; so would a store that another user made
 * under our name in a folder like /tmp. Elsewhere users share a store on purpose.
 */
function refuseForeignStart(path: string): void {
  const own = process.geteuid?.()
  const { uid, size } = statSync(path)
  if (own === undefined || uid === own || uid === ROOT) return
  if (size > 0 && !isOpenToAll(dirname(path))) return
  const kind =
    size > 0 ? 'a store of another user in a folder of all users' : 'an empty file of another user'
  const problem = `it is ${kind} (${uid}), who could read everything. Remove it, or choose another name.`
  throw new StoreRefusedError({ path, problem })
}

/** Whether every user can make files there, or in a folder above. */
function isOpenToAll(folder: string): boolean {
  if ((statSync(folder).mode & OTHERS_WRITE) !== 0) return true
  return dirname(folder) !== folder && isOpenToAll(dirname(folder))
}
const ROOT = 0

/**
 * Writes a copy under a temporary name, private from the first byte, and renames it once it is
 * complete and on disk, so that a kill leaves no partial copy under the final name. Never
 * overwrites.
 */
export function makeCopy(path: string, write: (part: string) => void): void {
  if (existsSync(path)) throw takenPlace(path)
  const left = ['-wal', anchorOf(''), recordOf('')].find((end) => existsSync(`${path}${end}`))
  if (left !== undefined) {
    const problem = `${path}${left} belongs to a store that was there before, and the copy would look damaged beside it. Remove it, or choose another name.`
    throw new StoreRefusedError({ path, problem })
  }
  const draft = new NamedDraft(path)
  try {
    write(draft.path)
    draft.publish()
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? takenPlace(path) : error
  } finally {
    draft.remove()
  }
}

function takenPlace(path: string): StoreRefusedError {
  return new StoreRefusedError({
    path,
    problem: 'it already exists, and a copy never replaces a file. Choose another name.',
  })
}

/**
 * The bytes of commits in the WAL. A process killed while it opened the store leaves the header alone,
 * and SQLite 3.51 cannot read such a WAL without changing it ("locking protocol").
 */
export function walSize(path: string): number {
  const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  return Math.max(0, size - WAL_HEADER_BYTES)
}

const WAL_HEADER_BYTES = 32

/** The attributes that change when another process writes to a file that is read without locks. */
export function fileState(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stat === undefined ? '' : `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}`
}

export function hasWalIndex(path: string): boolean {
  return statSync(`${path}-shm`, { throwIfNoEntry: false }) !== undefined
}
