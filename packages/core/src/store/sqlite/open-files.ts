import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from 'node:fs'
import { WAL_KEPT_BYTES } from './connection.ts'

/** The first four bytes of every WAL; the last bit gives the byte order of its checksums. */
const WAL_MAGIC = 0x377f0682
const WAL_HEADER_BYTES = 32
const ENDS = ['', '-wal', '-shm'] as const
type End = (typeof ENDS)[number]

/**
 * Compares the database's three files with what they were when it was opened. `stat` opens nothing,
 * and the WAL may stay open here, since SQLite takes no locks on it. Closing one of the other two
 * would drop SQLite's locks.
 */
export class OpenFiles {
  readonly #path: string
  readonly #wal: number
  readonly #found: readonly (Stats | undefined)[]
  readonly #header = Buffer.alloc(WAL_HEADER_BYTES)
  #generation: string
  #size = 0

  constructor(path: string) {
    this.#path = path
    this.#wal = openSync(`${path}-wal`, 'r')
    this.#found = ENDS.map((end) => this.#look(end))
    this.#generation = this.#readHeader()
  }

  /** The caller holds the write lock, so no commit is in progress. */
  findDamageBefore(): string | null {
    return this.#findMoved(ENDS) ?? this.#findCut()
  }

  /**
   * After a commit that wrote something: the WAL must still be the file that other processes see,
   * and must have a header. The other two files are checked before the next commit.
   */
  findDamageAfter(): string | null {
    return this.#findMoved(['-wal']) ?? (this.#readHeader() === 'none' ? CUT : null)
  }

  close(): void {
    closeSync(this.#wal)
  }

  #look(end: End): Stats | undefined {
    return statSync(`${this.#path}${end}`, { throwIfNoEntry: false })
  }

  #findMoved(ends: readonly End[]): string | null {
    const moved = ends.find((end) => {
      const was = this.#found[ENDS.indexOf(end)]
      const is = this.#look(end)
      return is?.ino !== was?.ino || is?.dev !== was?.dev
    })
    return moved === undefined ? null : MOVED[moved]
  }

  /**
   * A WAL restarts with a new salt; until then it only grows. There is one exception: if the first
   * commit was rolled back or killed, the next one reuses its salt and truncates what is too long.
   */
  #findCut(): string | null {
    const header = this.#readHeader()
    // As it was when opened: a power failure may leave this, and SQLite then treats the WAL as
    // empty.
    if (header === 'none') return this.#generation === 'none' ? null : CUT
    const { size } = fstatSync(this.#wal)
    if (header === this.#generation && size < Math.min(this.#size, WAL_KEPT_BYTES)) return CUT
    this.#generation = header
    this.#size = size
    return null
  }

  /** The WAL's salts. Empty for an empty file, which a checkpoint may leave. */
  #readHeader(): string {
    if (readSync(this.#wal, this.#header, 0, WAL_HEADER_BYTES, 0) < WAL_HEADER_BYTES) return ''
    const isHeader = (this.#header.readUInt32BE(0) & ~1) === WAL_MAGIC
    return isHeader ? this.#header.toString('hex', 16, 24) : 'none'
  }
}

const RESTART = 'Restart all processes, then run `doctor`.'
const CUT = `its WAL was cut while it was open: commits would be lost. ${RESTART}`
const MOVED: Readonly<Record<End, string>> = {
  '': 'the file was moved or replaced while it was open. Stop all processes, put it back.',
  '-wal': `its WAL was removed or replaced while it was open: commits would be lost. ${RESTART}`,
  '-shm': `the index of its WAL (-shm) was removed or replaced while it was open: processes would write over each other. ${RESTART}`,
}
