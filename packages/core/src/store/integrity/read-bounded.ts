import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/**
 * The text of a file beside the store; undefined if there is none, null if this program cannot have
 * written it: too large, or no plain file. Other programs can put anything there: 3 GB do not fit a
 * string, and a pipe would block the process.
 */
export function readBounded(path: string, bytesMax: number): string | null | undefined {
  let file: number
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  try {
    const facts = fstatSync(file)
    if (facts.isDirectory()) {
      throw Object.assign(new Error(`${path} is a folder`), {
        ...{ code: 'EISDIR', syscall: 'open', path },
      })
    }
    if (!facts.isFile() || facts.size > bytesMax) return null
    return readFileSync(file, 'latin1')
  } finally {
    closeSync(file)
  }
}
