import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'

/**
 * Where an opened file really is. A path is judged after it was opened, by what was opened: between
 * a look and an open anybody may put a symbolic link in the way.
 *
 * Linux tells the path of an open file. Elsewhere (macOS, Windows) the path is resolved and must lead
 * to the very file that is open, seen twice; what is swapped to and fro in between shows as another
 * inode.
 */
export async function openedPath(handle: FileHandle, path: string): Promise<string | null> {
  if (process.platform === 'linux') {
    // A file that was removed meanwhile has " (deleted)" behind its name, and is in no root.
    return await readlink(`/proc/self/fd/${handle.fd}`)
  }
  const opened = await handle.stat()
  const real = await realpath(path)
  const found = await lstat(real)
  const again = await realpath(path)
  return isSame(opened, found) && again === real ? real : null
}

function isSame(a: Stats, b: Stats): boolean {
  return a.ino === b.ino && a.dev === b.dev
}

/** Never waits, as opening a pipe without a writer would. */
export async function openToRead(path: string): Promise<FileHandle> {
  // Windows has neither such pipes nor the flag.
  return await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
}

/** By what to list an opened folder: its name may lead elsewhere by now, where the system knows better. */
export function openedFolder(handle: FileHandle, path: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path
}
