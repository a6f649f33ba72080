import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { HAS_GROUPS, processMark } from './posix.ts'

/**
 * Started with the first child; see guard.ts. Without it, children survive only if the runtime is
 * killed.
 */
export class Watchdog {
  #guard: ChildProcess | undefined

  add(pid: number): void {
    if (!HAS_GROUPS) return
    this.#guard ??= startGuard()
    this.#guard.stdin?.write(`+${pid} ${processMark(pid) ?? ''}\n`)
  }

  remove(pid: number): void {
    this.#guard?.stdin?.write(`-${pid}\n`)
  }

  /** The guard exits when its pipe closes. */
  close(): void {
    this.#guard?.stdin?.end()
    this.#guard = undefined
  }
}

function startGuard(): ChildProcess {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  const file = fileURLToPath(new URL(`./guard.${extension}`, import.meta.url))
  const guard = spawn(process.execPath, [file], {
    // Its own group, so that Ctrl-C at the terminal does not end the guard first.
    detached: true,
    env: {},
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  // A guard that cannot run guards nothing; the runtime itself still ends its children.
  guard.on('error', () => {})
  guard.stdin?.on('error', () => {})
  guard.unref()
  return guard
}
