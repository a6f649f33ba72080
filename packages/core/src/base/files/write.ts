import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { KnownError } from '../errors.ts'
import { draftOf, sweepDrafts } from './drafts.ts'
import { makeFolder } from './make-folder.ts'
import { ANY_GROUP, doubtAbove, followLinks, trustOf } from './trust.ts'

/**
 * The one module that writes to a path which a user, a configuration or the environment names
 * (test/tidy.test.ts checks it). In a folder like /tmp another user can put a link, a pipe or a
 * file of their own there first: a link would direct the text into another file, a pipe would hang
 * the process, and a file would let them read it. So links of other users are refused, files of
 * other users are not appended to, and new content is written to a private draft and then renamed.
 */
export class FileRefusedError extends KnownError {
  override readonly name = 'FileRefusedError'
  readonly code = 'file-refused'
  readonly retryable = false
  /** Without the path. */
  readonly problem: string

  constructor(path: string, problem: string) {
    const told = `${problem}. Remove it, or name a file in a folder of your own.`
    super(`${path} is not written: ${told}`)
    this.problem = told
  }
}

const { O_APPEND, O_CREAT, O_EXCL, O_RDWR, O_WRONLY } = constants
/** Windows has none of these. */
const { O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants
const WITHOUT_TRAPS = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
/** Linux: opens a folder that may be used but not listed. */
const O_PATH = 0o10000000
const PRIVATE = 0o600

/** What the shell or a service manager opened for this process; there is nothing to check. */
const OPEN_ALREADY = /^\/(?:dev\/(?:std(?:out|err)|fd\/\d+)|proc\/self\/fd\/\d+)$/

/** Opens a file to append to, or makes it. A device is opened too, a pipe is not. */
export function openToAppend(path: string, owner?: number): number {
  if (OPEN_ALREADY.test(path)) return openSync(path, O_WRONLY | O_APPEND | O_NOCTTY)
  return openOwn(path, O_WRONLY | O_APPEND | O_CREAT, owner)
}

/** Opens a file that exists, to change it in place. */
export function openToChange(path: string): number {
  return openOwn(path, O_RDWR)
}

/** A pipe or a device is written into; null: the path is a file, or free. */
export function openPipe(path: string): number | null {
  if (OPEN_ALREADY.test(path)) return openSync(path, O_WRONLY | O_APPEND | O_NOCTTY)
  const place = withoutLinks(path)
  const there = lstatSync(place, { throwIfNoEntry: false })
  if (there === undefined || there.isFile() || there.isDirectory()) return null
  refuseForeign(path, there)
  const file = openSync(place, O_WRONLY | O_NOFOLLOW | O_NOCTTY)
  const facts = fstatSync(file)
  if (facts.ino === there.ino && facts.dev === there.dev) return file
  closeSync(file)
  throw new FileRefusedError(path, 'it was exchanged meanwhile')
}

/** Makes a new private file; throws EEXIST where there is one. */
export function createFile(path: string, content: string | Uint8Array): void {
  const place = withoutLinks(path)
  const folder = new Folder(path, dirname(place))
  try {
    const file = openSync(folder.at(basename(place)), O_WRONLY | O_CREAT | O_EXCL, PRIVATE)
    closeAfter(file, () => writeFileSync(file, content))
  } finally {
    folder.close()
  }
}

/** Readers see the old content or the new one, even after a power failure if it is `synced`. */
export function replaceFile(
  path: string,
  content: string | Uint8Array,
  options: DraftOptions & { readonly synced?: boolean } = {},
): void {
  const draft = new FileDraft(path, options)
  try {
    draft.write(content)
    draft.publish(options.synced)
  } finally {
    draft.close()
  }
}

export interface DraftOptions {
  /** Whether a file of this user keeps its mode; otherwise the new one is private. */
  readonly keepsMode?: boolean
}

/** The next content of a file, written bit by bit. Close it in any case. */
export class FileDraft {
  readonly #folder: Folder
  readonly #name: string
  readonly #draft: string
  readonly #file: number
  #isPublished = false

  constructor(path: string, { keepsMode = false }: DraftOptions = {}) {
    const place = withoutLinks(path)
    this.#folder = new Folder(path, dirname(place))
    this.#name = basename(place)
    this.#draft = draftOf(this.#name)
    sweepOnce(place)
    try {
      const there = lstatSync(this.#folder.at(this.#name), { throwIfNoEntry: false })
      const isKept = keepsMode && there?.isFile() === true && isOwn(there)
      const mode = isKept ? there.mode & 0o777 : PRIVATE
      const flags = O_WRONLY | O_CREAT | O_EXCL | WITHOUT_TRAPS
      this.#file = openSync(this.#folder.at(this.#draft), flags, mode)
    } catch (error) {
      this.#folder.close()
      throw error
    }
  }

  write(content: string | Uint8Array): void {
    writeFileSync(this.#file, content)
  }

  publish(synced = false): void {
    if (synced) fsyncSync(this.#file)
    renameSync(this.#folder.at(this.#draft), this.#folder.at(this.#name))
    this.#isPublished = true
  }

  close(): void {
    closeSync(this.#file)
    if (!this.#isPublished) remove(this.#folder.at(this.#draft))
    this.#folder.close()
  }
}

/**
 * A draft for SQLite, which opens files by name: others must not be able to exchange it meanwhile.
 * It never replaces a file. Remove it in any case.
 */
export class NamedDraft {
  readonly path: string
  readonly #to: string

  constructor(path: string) {
    this.#to = withoutLinks(path)
    const folder = dirname(this.#to)
    makeFolder(folder)
    const doubt = doubtAbove(this.#to, trustOf())
    if (doubt !== null) {
      throw new FileRefusedError(path, `${doubt}, so others could exchange the file meanwhile`)
    }
    sweepOnce(this.#to)
    this.path = draftOf(this.#to)
    createFile(this.path, '')
  }

  publish(): void {
    sync(this.path)
    // A link, because a rename would replace a file that was created in between.
    linkSync(this.path, this.#to)
    sync(dirname(this.#to))
  }

  remove(): void {
    for (const end of ['', '-journal', '-wal', '-shm']) remove(`${this.path}${end}`)
  }
}

const swept = new Set<string>()

/** The anchor is written every second: its folder is not listed each time. */
function sweepOnce(path: string): void {
  if (swept.has(path)) return
  swept.add(path)
  sweepDrafts(path)
}

/** Links of this user and of root are followed. */
function withoutLinks(path: string): string {
  const way = followLinks(path, ANY_GROUP)
  if ('doubt' in way) {
    throw new FileRefusedError(path, `${way.doubt}, so others could choose what is written to`)
  }
  return way.path
}

/**
 * A folder that cannot be exchanged for a link while it is used: Linux reaches it through its
 * descriptor.
 */
class Folder {
  readonly #descriptor: number | null
  readonly #place: string

  constructor(path: string, folder: string) {
    makeFolder(folder)
    this.#descriptor = process.platform === 'linux' ? openFolder(folder) : null
    this.#place = this.#descriptor === null ? folder : `/proc/self/fd/${this.#descriptor}`
    if (this.#descriptor === null || readlinkSync(this.#place) === folder) return
    this.close()
    throw new FileRefusedError(path, `${folder} was exchanged meanwhile`)
  }

  at(name: string): string {
    return join(this.#place, name)
  }

  get facts(): Stats {
    return statSync(this.#place)
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor)
  }
}

/** Null: this process does not see /proc. */
function openFolder(folder: string): number | null {
  const descriptor = openSync(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW)
  if (lstatSync(`/proc/self/fd/${descriptor}`, { throwIfNoEntry: false })) return descriptor
  closeSync(descriptor)
  return null
}

function openOwn(path: string, flags: number, owner?: number): number {
  const place = withoutLinks(path)
  const folder = new Folder(path, dirname(place))
  let file: number | undefined
  try {
    const inside = folder.at(basename(place))
    refusePipe(path, lstatSync(inside, { throwIfNoEntry: false }))
    file = openSync(inside, flags | WITHOUT_TRAPS, PRIVATE)
    const facts = fstatSync(file)
    refusePipe(path, facts)
    refuseForeign(path, facts, owner)
    // Another user may have given one of our files a second name there.
    if (facts.isFile() && facts.nlink > 1 && (folder.facts.mode & 0o022) !== 0) {
      throw new FileRefusedError(path, `it has ${facts.nlink} names (hard links)`)
    }
    return file
  } catch (error) {
    if (file !== undefined) closeSync(file)
    throw error
  } finally {
    folder.close()
  }
}

function refusePipe(path: string, facts: Stats | undefined): void {
  if (facts?.isFIFO() !== true && facts?.isSocket() !== true) return
  throw new FileRefusedError(path, 'it is a pipe or a socket, not a file')
}

function refuseForeign(path: string, facts: Stats, owner?: number): void {
  if (isOwn(facts) || facts.uid === owner) return
  throw new FileRefusedError(path, `it belongs to another user (${facts.uid})`)
}

/** This user's or root's. */
function isOwn({ uid }: Stats): boolean {
  return trustOf().owners?.includes(uid) !== false
}

function closeAfter(file: number, act: () => void): void {
  try {
    act()
  } finally {
    closeSync(file)
  }
}

function sync(path: string): void {
  const file = openSync(path, 'r')
  closeAfter(file, () => fsyncSync(file))
}

function remove(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The error before this one is reported.
  }
}
