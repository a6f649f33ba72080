import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { UsageError } from './exit.ts'

/** Writes to standard output for `-`, else to a file that is never seen half written. */
export function writeOutput(path: string, text: string): Promise<void> {
  if (path === '-') {
    return new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()))
    })
  }
  writeFileWhole(path, text)
  return Promise.resolve()
}

function writeFileWhole(path: string, text: string): void {
  const folder = dirname(path)
  const draft = join(folder, `.${basename(path)}.${process.pid}.tmp`)
  try {
    mkdirSync(folder, { recursive: true })
    try {
      writeFileSync(draft, text)
      renameSync(draft, path)
    } finally {
      rmSync(draft, { force: true }) // still there only if something went wrong
    }
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${(error as Error).message}.`, {
      cause: error,
    })
  }
}
