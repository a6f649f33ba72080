import {
  createWriteStream,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { draftBeside } from '#core/base/draft'
import { KnownError } from '#core/base/errors'
import { makeFolder } from '#core/base/make-folder'
import { UsageError } from '../../host/errors.ts'
import { PRIVATE_MODE } from '../../host/platform.ts'
import { forTerminal } from './stderr.ts'

/** Writes to standard output for `-`, otherwise atomically to a file. */
export function writeOutput(path: string, text: string): Promise<void> {
  if (path === '-') {
    return new Promise((resolve, reject) => {
      process.stdout.write(text, (error) =>
        error ? reject(cannotWrite('Standard output', error)) : resolve(),
      )
    })
  }
  writeFileWhole(path, text)
  return Promise.resolve()
}

/** The same for text that does not fit in memory; a file that it replaces becomes private. */
export async function writeStream(path: string, pieces: AsyncIterable<string>): Promise<void> {
  if (path === '-') {
    for await (const piece of pieces) await writeOutput('-', forTerminal(piece))
    return
  }
  try {
    const there = statSync(path, { throwIfNoEntry: false })
    if (there === undefined) await replaceByStream(path, pieces)
    else if (there.isFile()) await replaceByStream(realpathSync(path), pieces)
    else await pipeline(pieces, createWriteStream(path))
  } catch (error) {
    throw error instanceof KnownError ? error : cannotWrite(path, error)
  }
}

async function replaceByStream(path: string, pieces: AsyncIterable<string>): Promise<void> {
  const draft = draftBeside(path)
  makeFolder(dirname(path))
  try {
    await pipeline(pieces, createWriteStream(draft, { mode: PRIVATE_MODE, flags: 'wx' }))
    renameSync(draft, path)
  } catch (error) {
    remove(draft)
    throw error
  }
}

function writeFileWhole(path: string, text: string): void {
  try {
    const there = statSync(path, { throwIfNoEntry: false })
    if (there === undefined) replaceFile(path, text)
    // Replaces the target of a link, and keeps the file's mode.
    else if (there.isFile()) replaceFile(realpathSync(path), text, there.mode & 0o777)
    // Write into pipes and devices; replacing them by a file would break other programs.
    else writeFileSync(path, text)
  } catch (error) {
    throw cannotWrite(path, error)
  }
}

/** Private by default: most output contains conversations. */
function replaceFile(path: string, text: string, mode = PRIVATE_MODE): void {
  const draft = draftBeside(path)
  makeFolder(dirname(path))
  try {
    writeFileSync(draft, text, { mode, flag: 'wx' })
    renameSync(draft, path)
  } catch (error) {
    remove(draft)
    throw error
  }
}

function remove(draft: string): void {
  try {
    rmSync(draft, { force: true })
  } catch {
    // The error before this one is reported.
  }
}

export function cannotWrite(name: string, cause: unknown): UsageError {
  return new UsageError(`${name} cannot be written: ${(cause as Error).message}.`, { cause })
}
