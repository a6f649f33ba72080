import { chmodSync, lstatSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { makeFolder } from '#core/base/files/make-folder'
import { ListenError } from '../../listening.ts'

/**
 * A Unix domain socket that only its owner can use. It is bound in a private folder, restricted, and
 * then moved to its name, so other users can never connect. A socket left behind by a killed server is
 * replaced; one in use is not.
 */
export async function listenAt(
  path: string,
  listen: (temporary: string) => Promise<void>,
): Promise<() => void> {
  const folder = dirname(path)
  makeFolder(folder)
  checkFolder(path, folder)
  await checkFree(path)
  const inside = mkdtempSync(join(folder, '.s-'))
  try {
    const temporary = join(inside, 's')
    await listen(temporary)
    chmodSync(temporary, 0o600)
    renameSync(temporary, path)
  } finally {
    rmSync(inside, { recursive: true, force: true })
  }
  const { ino } = lstatSync(path)
  return () => {
    if (lstatSync(path, { throwIfNoEntry: false })?.ino === ino) rmSync(path)
  }
}

/** Another user with write access to the folder could put their own socket under this name. */
function checkFolder(path: string, folder: string): void {
  const { uid, mode } = lstatSync(folder)
  const own = process.geteuid?.()
  const isOwn = uid === own || uid === 0
  if (isOwn && (mode & 0o022) === 0) return
  throw new ListenError(
    path,
    new Error(`other users can write to ${folder}. Make it private (chmod 700), or name another`),
  )
}

async function checkFree(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (!found.isSocket()) {
    throw new ListenError(path, new Error('a file that is not a socket exists there'))
  }
  const isServed = await new Promise<boolean>((resolve) => {
    const socket = connect(path)
    const answer = (isOpen: boolean) => {
      socket.destroy()
      resolve(isOpen)
    }
    socket.once('connect', () => answer(true))
    socket.once('error', () => answer(false))
  })
  if (isServed) throw new ListenError(path, Object.assign(new Error(), { code: 'EADDRINUSE' }))
}
