import { constants, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, readlink, realpath } from 'node:fs/promises'

/**
 * Where an opened file really is. A path is checked after it was opened, by the opened file:
 * between a check and an open, another program could insert a symbolic link.
 *
 * Linux reports the path of an open file. Elsewhere (macOS, Windows) the path is resolved twice and
 * must lead to the open file; a swap in between shows as another inode.
 */
export async function openedPath(handle: FileHandle, path: string): Promise<string | null> {
  if (process.platform === 'linux') {
    // A removed file has " (deleted)" after its name, and so is in no root.
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

/**
 * The path for listing an opened folder. Its name may lead elsewhere by now, so the system's own
 * path is used where there is one.
 */
export function openedFolder(handle: FileHandle, path: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : path
}
