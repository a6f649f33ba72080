import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { sha256 } from './canonical.ts'

/**
 * The newest commits, in a file beside the database: one short line behind each of them, written and
 * not synced. A process that is killed leaves its lines in the system's cache, so they outlive every
 * harm to the WAL but a power cut, which takes no commit that was synced. Several processes append to
 * one file; it is emptied only under the write lock, after the anchor was synced that covers it all.
 */
export interface RecordedCommit {
  readonly commits: number
  /** As many digits of the hash as tell one history from another. */
  readonly hash: string
}

const HASH_DIGITS = 16
const CHECK_DIGITS = 8
const LINE = /^(\d{1,15}) ([0-9a-f]{16}) ([0-9a-f]{8})$/
/** About 20,000 commits; read in a few milliseconds. */
const RECORD_BYTES_MAX = 1024 * 1024
/** How often the length is asked for. */
const LOOK_EVERY = 256

export class CommitRecord {
  readonly #file: number
  #lines = 0

  constructor(path: string) {
    this.#file = openSync(path, 'a', 0o600)
  }

  add(commits: number, hash: string): void {
    const line = `${commits} ${hash.slice(0, HASH_DIGITS)}`
    this.#lines += 1
    writeSync(this.#file, `${line} ${checkOf(line)}\n`)
  }

  /** Asked before each commit; only now and then it looks. */
  isLong(): boolean {
    if (this.#lines < LOOK_EVERY) return false
    this.#lines = 0
    return fstatSync(this.#file).size > RECORD_BYTES_MAX
  }

  /** Call only under the write lock, after the anchor of the newest commit was synced. */
  empty(): void {
    ftruncateSync(this.#file, 0)
  }

  close(): void {
    closeSync(this.#file)
  }
}

/** The newest recorded commit; undefined: none. Malformed lines are ignored. */
export function readRecord(path: string): RecordedCommit | undefined {
  let text: string
  try {
    text = readFileSync(path, 'latin1')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  let furthest: RecordedCommit | undefined
  for (const line of text.split('\n')) {
    const [, number, hash = '', check] = LINE.exec(line) ?? []
    if (number === undefined || checkOf(`${number} ${hash}`) !== check) continue
    // Of two with one number the later one counts: a store put back goes its own way from there.
    if (Number(number) >= (furthest?.commits ?? 0)) furthest = { commits: Number(number), hash }
  }
  return furthest
}

/** Advice for a store that has lost acknowledged commits. */
export const ACCEPT =
  'Restore a copy that has them, or accept the loss with `throughline doctor --accept-loss`.'

/** Why the store does not hold the recorded commit; null: it does. */
export function checkRecord(
  path: string,
  recorded: RecordedCommit | undefined,
  { commits }: { readonly commits: number },
  hashAt: (commit: number) => string | undefined,
): string | null {
  if (recorded === undefined) return null
  if (recorded.commits > commits) {
    return `it holds ${commits} commits and ${path} records ${recorded.commits}: acknowledged ones are lost. ${ACCEPT}`
  }
  if (hashAt(recorded.commits)?.startsWith(recorded.hash) === true) return null
  return `its commit ${recorded.commits} is not the one that ${path} records: this is another history. ${ACCEPT}`
}

function checkOf(line: string): string {
  return sha256(line).slice(0, CHECK_DIGITS)
}
