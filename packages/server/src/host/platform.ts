import type { ChildProcess } from 'node:child_process'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Differences between systems: signals, process groups, file modes and state folders. */
const isWindows = process.platform === 'win32'

/**
 * Signals that ask a process to end. Windows has Ctrl-C and Ctrl-Break; it stops services by
 * closing the console.
 */
export const END_SIGNALS: readonly NodeJS.Signals[] = isWindows
  ? ['SIGINT', 'SIGBREAK', 'SIGHUP']
  : ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Readable only by its owner. Windows has no modes; there the owner's folder protects it. */
export const PRIVATE_MODE = 0o600
export const PRIVATE_FOLDER_MODE = 0o700

/** Starts a child so that its own children end with it; on Windows only the child ends. */
export const LEADS_GROUP = !isWindows

export function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    if (isWindows) child.kill()
    else process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The whole process group has already ended.
  }
}

/**
 * Calls back on the first signal to end; the second one ends the process at once, with the exit
 * code that shells use. The returned function removes the handlers.
 */
export function onEndSignal(callback: (signal: NodeJS.Signals) => void): () => void {
  let asked = false
  const handler = (signal: NodeJS.Signals) => {
    if (asked) process.exit(signalExitCode(signal))
    asked = true
    callback(signal)
  }
  for (const signal of END_SIGNALS) process.on(signal, handler)
  return () => {
    for (const signal of END_SIGNALS) process.off(signal, handler)
  }
}

const SIGNAL_NUMBERS: { readonly [signal: string]: number } = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }

export function signalExitCode(signal: NodeJS.Signals): number {
  return 128 + (SIGNAL_NUMBERS[signal] ?? 2)
}

/** The folder for state between runs, such as the input history. */
export function stateFolder(env: NodeJS.ProcessEnv = process.env): string {
  const local = isWindows ? env['LOCALAPPDATA'] : env['XDG_STATE_HOME']
  const usual = isWindows ? join(homedir(), 'AppData', 'Local') : join(homedir(), '.local', 'state')
  return join(local || usual, 'throughline')
}

const PROGRAM_VARIABLES = isWindows
  ? ['Path', 'PATHEXT', 'SystemRoot', 'ComSpec', 'TEMP', 'TMP', 'USERPROFILE', 'LANG']
  : ['PATH', 'HOME', 'SHELL', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ']

/** The environment of programs that agents start, without our keys. */
export function programEnvironment(env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  return Object.fromEntries(
    PROGRAM_VARIABLES.flatMap((name) => {
      const value = env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
