import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { Recent } from '#core/base/recent'

/**
 * The differences between systems in starting and ending children. On POSIX systems each child
 * leads its own process group, so that its children end with it. Windows has no such groups; there
 * `taskkill` ends the tree below the child, at once and by force.
 *
 * A signal does not reach a process that leaves the group (`setsid`, a daemon). On Linux it is
 * still found by a mark in the environment that it inherits, unless it clears its environment. On
 * macOS its origin is unknown, and it stays.
 */
const IS_WINDOWS = process.platform === 'win32'
const IS_LINUX = process.platform === 'linux'
const MARK = 'THROUGHLINE_GROUP'
/** Processes started during a scan are found in the next one. */
const ROUNDS_MAX = 5

const marks = new Recent<number, string>(1_000)

/** The mark in the environment of everything that this child starts. */
export function processMark(pid: number): string | undefined {
  return marks.get(pid)
}

/** Without a shell, so the arguments reach the program unchanged. */
export function startGroup(
  program: string,
  args: readonly string[],
  {
    folder,
    env,
    stdin = 'ignore',
    isMarked = false,
  }: {
    readonly folder: string
    readonly env: Readonly<Record<string, string>>
    readonly stdin?: 'ignore' | 'pipe'
    /** So that processes that leave the group can be found; see `endEscapedProcesses`. */
    readonly isMarked?: boolean
  },
): ChildProcess {
  const hasMark = isMarked && IS_LINUX
  const mark = randomUUID()
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...env, ...(hasMark && { [MARK]: mark }) },
    detached: !IS_WINDOWS,
    shell: false,
    stdio: [stdin, 'pipe', 'pipe'],
    windowsHide: true,
  })
  const { pid } = child
  if (hasMark && pid !== undefined) marks.set(pid, mark)
  return child
}

/** Asks the group to end, or kills it. A group that is already gone is not a failure. */
export function endGroup(pid: number, how: 'ask' | 'force'): void {
  if (IS_WINDOWS) {
    execFile('taskkill', ['/pid', String(pid), '/t', '/f'], () => {})
    return
  }
  try {
    process.kill(-pid, how === 'ask' ? 'SIGTERM' : 'SIGKILL')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
  }
}

/** Ends processes that left the group of a child that has ended. */
export async function endEscapedProcesses(pid: number): Promise<void> {
  const mark = marks.get(pid)
  marks.delete(pid)
  if (mark === undefined) return
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const found: number[] = []
    for (const name of await readdir('/proc')) {
      if (!/^\d+$/.test(name)) continue
      // Another user's process, or one that has ended: it cannot be read.
      const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '')
      if (isMarked(environment, mark)) found.push(Number(name))
    }
    if (!endAll(found)) return
  }
}

/** The synchronous form, for a process that is exiting. */
export function endStraysNow(mark: string): void {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const names = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    const found = names.filter((name) => {
      try {
        return isMarked(readFileSync(`/proc/${name}/environ`, 'latin1'), mark)
      } catch {
        return false
      }
    })
    if (!endAll(found.map(Number))) return
  }
}

function isMarked(environment: string, mark: string): boolean {
  return environment.split('\0').includes(`${MARK}=${mark}`)
}

/** False: no process was left. */
function endAll(pids: readonly number[]): boolean {
  const ended = pids.filter((pid) => {
    try {
      return process.kill(pid, 'SIGKILL')
    } catch {
      return false
    }
  })
  return ended.length > 0
}

/** Whether a guard can end the groups of a killed process. */
export const HAS_GROUPS = !IS_WINDOWS
