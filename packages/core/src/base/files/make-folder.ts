import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a private folder, and the missing ones above it. Node's own recursive mkdir never returns
 * where the system answers ENOENT below a folder that exists, as Linux does below /proc: it makes the
 * folder above again, without end.
 */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (isFolder(folder)) return
    const above = dirname(folder)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || isFolder(above)) throw error
    // The root of a drive that does not exist.
    if (above === folder) throw error
    makeFolder(above)
    makeFolder(folder)
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  } catch {
    return false
  }
}
