import type { ChildProcess } from 'node:child_process'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { findDoubt, trustOf } from '#core/base/files/trust'
import { UsageError } from './errors.ts'

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

/**
 * Where state is kept between runs: conversations of clients, the input history, copies of logs.
 * `XDG_STATE_HOME` must hold an absolute path and is ignored otherwise, as its specification says.
 */
export function statePath(env: NodeJS.ProcessEnv = process.env): string {
  if (isWindows) {
    return join(env['LOCALAPPDATA'] || join(homedir(), 'AppData', 'Local'), 'throughline')
  }
  const named = env['XDG_STATE_HOME'] ?? ''
  return join(isAbsolute(named) ? named : join(homedir(), '.local', 'state'), 'throughline')
}

/**
 * The same, for use. A user who can write to it could read and replace what is kept there, so it must be
 * the user's own: `HOME` can name the home of another user, after `su -m` or some kinds of `sudo`.
 */
export function stateFolder(env: NodeJS.ProcessEnv = process.env): string {
  const folder = statePath(env)
  const doubt = doubtOf(folder, env)
  if (doubt === null) return folder
  const origin = isAbsolute(env['XDG_STATE_HOME'] ?? '') ? 'XDG_STATE_HOME' : 'below HOME'
  throw new UsageError(
    `${folder} (${origin}) is not used: ${doubt.replace(/^it /, 'the folder ')}. Others could ` +
      'read and exchange what is kept there. Set XDG_STATE_HOME to a folder of your own that only you can write to.',
  )
}

/** A folder that cannot be reached is not doubted: its use reports the reason. */
function doubtOf(folder: string, env: NodeJS.ProcessEnv): string | null {
  try {
    return findDoubt(folder, trustOf(env))
  } catch {
    return null
  }
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

/** For the copies of clients' logs that `leave` changed. */
export function leftFolder(): string {
  return join(stateFolder(), 'left')
}
