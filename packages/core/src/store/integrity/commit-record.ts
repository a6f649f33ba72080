import {
  closeSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { openToAppend, replaceFile } from '../../base/files/write.ts'
import { sha256 } from './canonical.ts'
import { readBounded } from './read-bounded.ts'

/**
 * A file beside the database that records the newest commits, one short line after each, written
 * but not synced. The lines of a killed process survive in the system's cache, so they outlive any
 * damage to the WAL except a power failure, which loses no synced commit. Several processes append
 * to one file. Its newest commit never moves backwards, because the anchor names how far it has
 * come: when the file is too long, it is replaced under the write lock by its newest line.
 */
export interface RecordedCommit {
  readonly commits: number
  /** Enough digits of the hash to distinguish histories. */
  readonly hash: string
  /** A line behind it cannot be read: there was a later commit, because each is written after its own. */
  readonly isFollowed?: true
}

const HASH_DIGITS = 16
const CHECK_DIGITS = 8
const LINE = /^(\d{1,15}) ([0-9a-f]{16}) ([0-9a-f]{8})$/
/** About 20,000 commits; read in a few milliseconds. */
const RECORD_BYTES_MAX = 1024 * 1024
/** Far above any record: each process that writes to it may add a few lines before it looks. */
const READ_BYTES_MAX = 64 * RECORD_BYTES_MAX
const NO_HASH = ''
/** How many commits between two checks of the length. */
const LOOK_EVERY = 256

export class CommitRecord {
  readonly #path: string
  readonly #owner: number | undefined
  #file: number
  #lines = 0
  #furthest = 0

  /** The user who owns the store may own the file too. */
  constructor(path: string, owner?: number) {
    this.#path = path
    this.#owner = owner
    this.#file = this.#open()
  }

  #open(): number {
    const file = openToAppend(this.#path, this.#owner)
    syncFolder(this.#path)
    return file
  }

  add(commits: number, hash: string): void {
    this.#lines += 1
    writeSync(this.#file, lineOf(commits, hash))
    this.#furthest = commits
  }

  /** Another process may have replaced the file or accepted a loss. Call before each commit. */
  reopenIfReplaced(): void {
    const [mine, present] = [fstatSync(this.#file), statSync(this.#path, { throwIfNoEntry: false })]
    if (mine.ino === present?.ino && mine.dev === present.dev) return
    const file = this.#open()
    closeSync(this.#file)
    this.#file = file
    this.#furthest = 0
  }

  /** The newest commit that is on disk; undefined if the file cannot be written. */
  sync(): number | undefined {
    try {
      this.reopenIfReplaced()
      fdatasyncSync(this.#file)
      return this.#furthest
    } catch {
      return undefined
    }
  }

  /** Call before each commit; checks the size only once in a while. */
  isLong(): boolean {
    if (this.#lines < LOOK_EVERY) return false
    this.#lines = 0
    return fstatSync(this.#file).size > RECORD_BYTES_MAX
  }

  /** Call only under the write lock, with the newest commit. */
  shorten(commits: number, hash: string): void {
    replaceFile(this.#path, lineOf(commits, hash), { synced: true })
    this.reopenIfReplaced()
  }

  close(): void {
    closeSync(this.#file)
  }
}

function lineOf(commits: number, hash: string): string {
  const line = `${commits} ${hash.slice(0, HASH_DIGITS)}`
  return `${line} ${checkOf(line)}\n`
}

/** If a power failure lost the file's name, the file would look deleted. */
function syncFolder(path: string): void {
  let folder: number | undefined
  try {
    folder = openSync(dirname(path), 'r')
    fsyncSync(folder)
  } catch {
    // Windows cannot open folders, and this user may lack access; most systems sync the name with
    // the file.
  } finally {
    if (folder !== undefined) closeSync(folder)
  }
}

/**
 * The newest recorded commit, 0 if none; undefined if there is no file. A file that is not a record
 * gives a commit that no store has.
 */
export function readRecord(path: string): RecordedCommit | undefined {
  const text = readBounded(path, READ_BYTES_MAX)
  if (text === undefined) return undefined
  if (text === null) return { commits: Number.MAX_SAFE_INTEGER, hash: NO_HASH }
  let furthest: RecordedCommit = { commits: 0, hash: NO_HASH }
  for (const line of text.split('\n')) {
    const [, number, hash = '', check] = LINE.exec(line) ?? []
    if (number === undefined || checkOf(`${number} ${hash}`) !== check) {
      // Processes write beside each other, so a torn line may be that of an earlier commit.
      const [start = Number.POSITIVE_INFINITY] = /^\d{1,15}(?= )/.exec(line) ?? []
      if (line !== '' && Number(start) > furthest.commits)
        furthest = { ...furthest, isFollowed: true }
      continue
    }
    // Of two lines with one number the later counts: a restored store repeats numbers with other
    // commits.
    if (Number(number) >= furthest.commits) furthest = { commits: Number(number), hash }
  }
  return furthest
}

/** A program that has only the library can do this; the command does the same. */
const DELETE =
  'delete the files that end in .anchor and .commits beside the store (`throughline doctor --accept-loss` does)'

/** What to do about a store that has lost acknowledged commits. */
export const ACCEPT: string = `Restore a copy that has all commits; or, to accept the loss, ${DELETE}.`

/** What to do about a file beside the store that this program did not write. */
export const REPLACE: string = `Put a copy of that file back; or ${DELETE}: new ones are written. \`throughline audit\` then compares the store with the audit logs.`

/** Why the store lacks the recorded commit; null if it has it. */
export function checkRecord(
  path: string,
  recorded: RecordedCommit | undefined,
  { commits }: { readonly commits: number },
  hashAt: (commit: number) => string | undefined,
): string | null {
  if (recorded === undefined) return null
  if (recorded.isFollowed === true && commits <= recorded.commits) {
    return `it holds ${commits} commits and ${path} records a later one, in a line that was cut or changed: acknowledged ones are lost. ${ACCEPT}`
  }
  if (recorded.commits === 0) return null
  if (recorded.hash === NO_HASH) {
    return `${path} is not the record of commits that was written there: it was replaced or damaged, so that lost commits go unnoticed. ${REPLACE}`
  }
  if (recorded.commits > commits) {
    return `it holds ${commits} commits and ${path} records ${recorded.commits}: acknowledged ones are lost. ${ACCEPT}`
  }
  if (hashAt(recorded.commits)?.startsWith(recorded.hash) === true) return null
  return `its commit ${recorded.commits} is not the one that ${path} records: this is another history. ${ACCEPT}`
}

function checkOf(line: string): string {
  return sha256(line).slice(0, CHECK_DIGITS)
}
