import { closeSync, type FSWatcher, rmSync, utimesSync, watch } from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../../base/files/make-folder.ts'
import { openToAppend } from '../../../base/files/write.ts'
import type { RunnerId } from '../../../base/ids.ts'
import { hasWork } from '../../rules/create-session.ts'
import type { StoreChange } from '../../rules/ruling.ts'

/** The wake file for sessions that no runner holds; no runner's id has a dot. */
const ANY_RUNNER = 'any.runner'

export function wakeFolder(path: string): string {
  return `${path}.wake`
}

/**
 * One small file per runner, touched after a commit that concerns it, and one for all, touched when
 * a session without a holder has work. A process notices within about a millisecond. Watching the
 * WAL instead would wake it before it can see the commit, and then never again. Only a hint:
 * polling finds commits that are missed here.
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
        closeSync(openToAppend(path))
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

/**
 * The writer's side: touches the files of the runners that its commits concern. The runners of its own
 * process learn of them with the answers, so only others are called.
 */
export class WakeCalls {
  readonly #folder: string
  readonly #ours = new Set<RunnerId>()

  constructor(database: string) {
    this.#folder = wakeFolder(database)
  }

  /** After these changes became durable. */
  follow(changes: readonly StoreChange[]): void {
    // Only its own process registers a runner and renews it.
    for (const { id, after } of changes.flatMap(({ runners = [] }) => runners)) {
      if (after === null) this.#ours.delete(id)
      else this.#ours.add(id)
    }
    const called = changes
      .flatMap(({ sessions = [] }) => sessions)
      .map(({ after }) => after.runner ?? (hasWork(after) ? ANY_RUNNER : null))
    const now = new Date()
    for (const name of new Set(called)) {
      if (name === null || this.#ours.has(name as RunnerId)) continue
      try {
        utimesSync(join(this.#folder, name), now, now)
      } catch {
        // No process watches this file; polling finds the change.
      }
    }
  }
}
