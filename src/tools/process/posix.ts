import { type ChildProcess, execFile, spawn } from 'node:child_process'

/**
 * All that differs between systems when children are started and ended. On POSIX systems each child
 * leads a process group of its own, so that what it starts ends with it. Windows has no such groups:
 * there the tree below the child is ended by its own tool, at once and by force.
 */
const IS_WINDOWS = process.platform === 'win32'

/** Without a shell: the arguments reach the program as they are. */
export function startGroup(
  program: string,
  args: readonly string[],
  {
    folder,
    env,
    stdin = 'ignore',
  }: {
    readonly folder: string
    readonly env: Readonly<Record<string, string>>
    readonly stdin?: 'ignore' | 'pipe'
  },
): ChildProcess {
  return spawn(program, args, {
    cwd: folder,
    env: { ...env },
    detached: !IS_WINDOWS,
    shell: false,
    stdio: [stdin, 'pipe', 'pipe'],
    windowsHide: true,
  })
}

/** Asks the group to end, or ends it. What is gone already is no failure. */
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

/** Whether a guard can end the groups of a process that was killed. */
export const HAS_GROUPS = !IS_WINDOWS
