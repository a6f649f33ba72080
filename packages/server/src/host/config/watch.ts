import { statSync } from 'node:fs'
import { type Clock, systemClock } from '#core/base/clock'
import { type ConfigChange, compareConfigs } from './compare.ts'
import { type Loaded, type LoadRequest, loadConfig } from './load.ts'
import type { ConfigProblem } from './read/problem.ts'

/**
 * Reloads the configuration when its file, or a text that it names, changes. Files are polled
 * instead of watched: editors replace them, mounted volumes swap links, network disks send no
 * events. A broken file changes nothing; it is reported once, and the configuration in effect
 * stays.
 */
export interface WatchRequest {
  readonly load: LoadRequest
  readonly current: Loaded
  readonly onChange: (after: Loaded, change: ConfigChange) => void
  /** The old configuration stays in effect. */
  readonly onBroken: (problems: readonly ConfigProblem[]) => void
  readonly everyMs?: number
  readonly clock?: Clock
}

const EVERY_MS = 1_000

/** The function returned ends it; it may be called twice. */
export function watchConfig(request: WatchRequest): () => void {
  const { load, onChange, onBroken, everyMs = EVERY_MS, clock = systemClock } = request
  let { current } = request
  let { files } = current
  let acted = stampOf(files)
  let seen = acted
  let isEnded = false
  let cancel = clock.after(everyMs, look)

  function look(): void {
    if (isEnded) return
    const stamp = stampOf(files)
    // Waits until the file stops changing, because an editor may not have finished.
    if (stamp !== acted && stamp === seen) reload(stamp)
    seen = stamp
    if (!isEnded) cancel = clock.after(everyMs, look)
  }

  function reload(stamp: string): void {
    const { file, isFileFound } = current
    const found = file === null ? {} : { path: file, isPathFound: isFileFound }
    const result = loadConfig({ ...load, ...found })
    files = result.files
    acted = files === current.files ? stamp : stampOf(files)
    if (result.kind === 'refused') {
      onBroken(result.problems)
      return
    }
    const change = compareConfigs(current.config, result.config, request.current.config)
    current = result
    if (change.applies.length + change.needsRestart.length > 0) onChange(result, change)
  }

  return () => {
    isEnded = true
    cancel()
  }
}

/** Changes when a file is replaced, changed or removed. */
function stampOf(files: readonly string[]): string {
  return files
    .map((file) => {
      try {
        const { ino, size, mtimeMs } = statSync(file)
        return `${ino} ${size} ${mtimeMs}`
      } catch {
        return 'gone'
      }
    })
    .join('\n')
}
