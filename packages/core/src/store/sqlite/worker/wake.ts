import { closeSync, type FSWatcher, openSync, rmSync, watch } from 'node:fs'
import { join } from 'node:path'
import type { RunnerId } from '../../../base/ids.ts'
import { makeFolder } from '../../../base/make-folder.ts'
import { ANY_RUNNER, wakeFolder } from './writer.ts'

/**
 * One small file per runner, touched after a commit that concerns it, and one for all, touched when
 * a session without a holder has work. A process notices within about a millisecond. Watching the
 * WAL instead would wake it before it can see the commit, and then never again. Only a hint:
 * polling finds what is missed here.
 */
export class WakeFile {
  readonly #path: string
  #watchers: readonly FSWatcher[] = []

  constructor(database: string, runner: RunnerId, listener: () => void) {
    const folder = wakeFolder(database)
    this.#path = join(folder, runner)
    try {
      makeFolder(folder)
      this.#watchers = [this.#path, join(folder, ANY_RUNNER)].map((path) => {
        closeSync(openSync(path, 'a', 0o600))
        return watch(path, { persistent: false }, listener).on('error', () => this.close())
      })
    } catch {
      // Out of watchers or space: polling takes over.
    }
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close()
    this.#watchers = []
    rmSync(this.#path, { force: true })
  }
}

/** For a runner that can no longer clean up after itself. */
export function removeWakeFile(database: string, runner: RunnerId): void {
  rmSync(join(wakeFolder(database), runner), { force: true })
}
