import { constants, type Stats } from 'node:fs'
import { copyFile, mkdtemp, open, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { HermesStoreError, type StoreVerdict } from './errors.ts'
import { readWalEnd } from './wal.ts'

/**
 * Opens a foreign database without leaving a trace in it. A store that is not being written is
 * opened immutable: SQLite then takes no lock and creates no side file. If a write-ahead log or a
 * rollback journal has content, reading needs recovery, which writes; so both files are copied to a
 * private folder and the copy is recovered.
 *
 * The schema is untrusted too: views and triggers never run, functions in it are refused, and no
 * value may be larger than `VALUE_BYTES_MAX`.
 */
export interface OpenedStore {
  readonly database: DatabaseSync
  /** What a reader of the report must know about how the store was read. */
  readonly remarks: readonly string[]
  /** Frames of its log after the last complete commit, which SQLite ignores. */
  readonly lostFrames: number
  /** Writes a new file with the same content through SQLite; the original is only read. */
  copyTo(file: string): void
  /** Whether the file was written to since it was opened. */
  hasChanged(): Promise<boolean>
  /** Turns a read error into a verdict; a file that is being written may look damaged. */
  judge(error: unknown): Promise<unknown>
  close(): Promise<void>
}

const VALUE_BYTES_MAX = 64 * 1024 * 1024
const COPY_ATTEMPTS_MAX = 5
const HEADER_BYTES = 100
const WAL_HEADER_BYTES = 32
const HEADER_TEXT = 'SQLite format 3\0'

export async function openReadOnly(path: string): Promise<OpenedStore> {
  const before = await look(path)
  const sideFile = await findSideFile(path)
  const header = await checkHeader(path, sideFile)
  if (sideFile === null) {
    const database = connect(path, path, { immutable: true })
    const hasChanged = async () => differs(before, await look(path))
    return {
      database,
      remarks: header.isWal
        ? [
            'It is in WAL mode and no -wal file stands beside it. That is so after a clean shutdown; ' +
              'if the file was copied from a running Hermes, its newest messages stayed behind.',
          ]
        : [],
      lostFrames: 0,
      copyTo: (file) => vacuumInto(database, file),
      hasChanged,
      judge: async (error) =>
        (await hasChanged()) ? changing(error, path) : translate(error, path),
      close: async () => database.close(),
    }
  }
  const folder = await mkdtemp(join(tmpdir(), 'throughline-doctor-'))
  try {
    const copy = await copyWhole({ path, sideFile, folder })
    // Before opening, because recovery discards incomplete frames.
    const isLog = sideFile.suffix === '-wal'
    const end = isLog ? await readWalEnd(copy + sideFile.suffix) : { lostFrames: 0 }
    const isCut = end.lostFrames > 0 && !(await isBeingWritten(sideFile))
    const database = connect(path, copy, { immutable: false })
    return {
      database,
      remarks: [
        `Read from a copy, because ${sideFile.suffix} beside it holds content.`,
        ...(isCut
          ? ['That log ends in the middle of a commit: the newest messages may be missing.']
          : []),
      ],
      lostFrames: isCut ? end.lostFrames : 0,
      copyTo: (file) => vacuumInto(database, file),
      hasChanged: async () => false,
      judge: async (error) => translate(error, path),
      close: async () => {
        database.close()
        await rm(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function look(path: string): Promise<Stats> {
  try {
    return await stat(path)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    const [verdict, problem] = isMissing
      ? (['missing', 'there is no such file. Name a Hermes home or its state.db.'] as const)
      : (['unreadable', `it cannot be read: ${(error as Error).message}.`] as const)
    throw new HermesStoreError({ path, verdict, problem }, { cause: error })
  }
}

async function checkHeader(
  path: string,
  sideFile: SideFile | null,
): Promise<{ readonly isWal: boolean }> {
  const header = Buffer.concat([await readStart(path, HEADER_BYTES)], HEADER_BYTES)
  // After the header, because a file in use grows.
  const { size } = await look(path)
  const refuse = (verdict: StoreVerdict, problem: string) =>
    new HermesStoreError({ path, verdict, problem })
  if (size === 0) throw refuse('empty', 'the file is empty.')
  if (header.toString('latin1', 0, 16) !== HEADER_TEXT) {
    throw refuse('not-a-database', 'it is not an SQLite database: its first 16 bytes are others.')
  }
  const declared = header.readUInt16BE(16)
  const pageBytes = declared === 1 ? 65_536 : declared
  const pages = header.readUInt32BE(28)
  // The page count is valid only if the two change counters agree; otherwise SQLite uses the size.
  const isCountValid = header.readUInt32BE(24) === header.readUInt32BE(92)
  // If a log or a journal has content, the missing pages may be there.
  if (sideFile === null && isCountValid && pages * pageBytes > size) {
    throw refuse(
      'damaged',
      `it is cut short: its header promises ${pages * pageBytes} bytes, ${size} are there. ` +
        'Look for a backup, or for a longer copy.',
    )
  }
  return { isWal: header[18] === 2 }
}

interface SideFile {
  readonly path: string
  readonly suffix: '-wal' | '-journal'
}

async function findSideFile(path: string): Promise<SideFile | null> {
  for (const suffix of ['-wal', '-journal'] as const) {
    const size = await sizeOf(path + suffix)
    if (size > 0) return { path: path + suffix, suffix }
  }
  return null
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch {
    return 0
  }
}

/**
 * Copies two files that belong together, again while either changes. A write-ahead log that only
 * grows does not count as changed: its content stays valid, and an incomplete commit at its end is
 * ignored. So a Hermes that writes all the time is read between two of its checkpoints.
 */
async function copyWhole({
  path,
  sideFile,
  folder,
}: {
  readonly path: string
  readonly sideFile: SideFile
  readonly folder: string
}): Promise<string> {
  const copy = join(folder, 'state.db')
  for (let attempt = 1; attempt <= COPY_ATTEMPTS_MAX; attempt++) {
    const before = await stateOf(path, sideFile)
    await checkRoom(path, before.database.size + before.side.size)
    await copyFile(path, copy, constants.COPYFILE_FICLONE)
    await copyFile(sideFile.path, copy + sideFile.suffix, constants.COPYFILE_FICLONE)
    const after = await stateOf(path, sideFile)
    const hasGrownOnly =
      sideFile.suffix === '-wal' &&
      before.side.ino === after.side.ino &&
      before.side.size <= after.side.size &&
      before.sideHeader.equals(after.sideHeader)
    const isSame = hasGrownOnly || !differs(before.side, after.side)
    if (isSame && !differs(before.database, after.database)) return copy
  }
  throw new HermesStoreError({
    path,
    verdict: 'changing',
    problem: `it was written to during each of ${COPY_ATTEMPTS_MAX} copies. Try again when Hermes is idle.`,
  })
}

interface FilesState {
  readonly database: Stats
  readonly side: Stats
  /** Changes when the log is restarted. */
  readonly sideHeader: Buffer
}

async function stateOf(path: string, { path: sidePath }: SideFile): Promise<FilesState> {
  const [database, side] = [await look(path), await look(sidePath)]
  return { database, side, sideHeader: await readStart(sidePath, WAL_HEADER_BYTES) }
}

async function readStart(path: string, length: number): Promise<Buffer> {
  try {
    const file = await open(path)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    const problem = `it cannot be read: ${(error as Error).message}.`
    throw new HermesStoreError({ path, verdict: 'unreadable', problem }, { cause: error })
  }
}

async function checkRoom(path: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(tmpdir())
  const free = bavail * bsize
  if (needed <= free) return
  throw new HermesStoreError({
    path,
    verdict: 'no-room',
    problem:
      `reading it needs a copy of ${needed} bytes, and the folder for temporary files has ${free}. ` +
      'Name a larger one in TMPDIR, or stop Hermes so that its log is folded into the database.',
  })
}

/** A log that is being written sometimes ends in the middle of a frame. */
async function isBeingWritten({ path }: SideFile): Promise<boolean> {
  const before = await stat(path).catch(() => null)
  await new Promise((resolve) => setTimeout(resolve, WRITING_MS))
  const after = await stat(path).catch(() => null)
  return before === null || after === null || differs(before, after)
}

const WRITING_MS = 20

function differs(before: Stats, after: Stats): boolean {
  return before.mtimeMs !== after.mtimeMs || before.size !== after.size || before.ino !== after.ino
}

function connect(
  path: string,
  file: string,
  { immutable }: { readonly immutable: boolean },
): DatabaseSync {
  const address = pathToFileURL(file)
  if (immutable) address.searchParams.set('immutable', '1')
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(address, {
      // Recovery writes to the copy.
      readOnly: immutable,
      enableForeignKeyConstraints: false,
      // One, because copying attaches the new file.
      limits: { length: VALUE_BYTES_MAX, attach: 1 },
    })
    database.exec(
      'pragma trusted_schema = off; pragma cell_size_check = on; pragma mmap_size = 0; ' +
        'pragma cache_size = -4000',
    )
    // SQLite recovers and reads the schema on the first query, not on opening.
    database.prepare('select count(*) from sqlite_schema').get()
    database.exec('pragma query_only = on')
    return database
  } catch (error) {
    database?.close()
    throw translate(error, path)
  }
}

/** SQLite accepts an empty file. */
function vacuumInto(database: DatabaseSync, file: string): void {
  database.exec('pragma query_only = off')
  try {
    database.prepare('vacuum into ?').run(file)
  } finally {
    database.exec('pragma query_only = on')
  }
}

function changing(error: unknown, path: string): unknown {
  const known = translate(error, path)
  if (!(known instanceof HermesStoreError)) return known
  const problem = 'it was written to while it was read. Try again.'
  return new HermesStoreError({ path, verdict: 'changing', problem }, { cause: error })
}

/** Turns SQLite's errors about a file into a verdict; other errors pass through. */
export function translate(error: unknown, path: string): unknown {
  const { code, errcode, message } = error as Error & { code?: string; errcode?: number }
  if (code !== 'ERR_SQLITE_ERROR') return error
  const primary = (errcode ?? 0) & 0xff
  const verdict: StoreVerdict =
    primary === SQLITE_NOTADB
      ? 'not-a-database'
      : primary === SQLITE_CORRUPT
        ? 'damaged'
        : 'unreadable'
  const advice =
    verdict === 'damaged'
      ? ' Look for a backup; `sqlite3 FILE ".recover"` on a copy saves what is left.'
      : ''
  const problem = `SQLite cannot read it: ${message}.${advice}`
  return new HermesStoreError({ path, verdict, problem }, { cause: error })
}

const SQLITE_CORRUPT = 11
const SQLITE_NOTADB = 26
