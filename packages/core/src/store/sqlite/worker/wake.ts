import { closeSync, type FSWatcher, mkdirSync, openSync, rmSync, watch } from 'node:fs'
import { join } from 'node:path'
import type { RunnerId } from '../../../base/ids.ts'
import { wakeFolder } from './writer.ts'

/**
 * One small file per runner, touched after a commit that concerns it: its process hears of it within
 * about a millisecond. Watching the WAL instead would wake it before the commit can be seen, and
 * then never again. Only a hint: what is missed here is found by the poll.
 */
export class WakeFile {
  readonly #path: string
  #watcher: FSWatcher | undefined

  constructor(database: string, runner: RunnerId, listener: () => void) {
    const folder = wakeFolder(database)
    this.#path = join(folder, runner)
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      closeSync(openSync(this.#path, 'w', 0o600))
      this.#watcher = watch(this.#path, { persistent: false }, listener)
      this.#watcher.on('error', () => this.close())
    } catch {
      // No watchers left, or no room: the poll carries it.
    }
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    rmSync(this.#path, { force: true })
  }
}

/** For a runner that cannot tidy up after itself any more. */
export function removeWakeFile(database: string, runner: RunnerId): void {
  rmSync(join(wakeFolder(database), runner), { force: true })
}
