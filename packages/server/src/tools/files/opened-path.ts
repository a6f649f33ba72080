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
