import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The command in the clone, as users start it. */
export const SOURCE_PROGRAM = join(import.meta.dirname, '../../packages/server/bin/throughline.js')

/** What tests start: `npm test` bundles the command once for all of them. */
export const PROGRAM = process.env['THROUGHLINE_TEST_PROGRAM'] ?? SOURCE_PROGRAM

/**
 * How Node starts what is bundled. Loading fills the small young generation several times, and collecting
 * it, in threads of its own, is an eighth of a start. Servers run as users start them: `serve` chooses
 * its young generation itself.
 */
const START_FLAGS =
  PROGRAM === SOURCE_PROGRAM
    ? []
    : ['--single-threaded-gc', '--min-semi-space-size=16', '--max-semi-space-size=16']

/** The arguments of a Node that runs `program`. */
function startOf(program: string = PROGRAM): readonly string[] {
  return program === PROGRAM ? [...START_FLAGS, program] : [program]
}

export interface Finished {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly input?: string | Buffer
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Default: `PROGRAM`. */
  readonly program?: string
  /** Run as this user; only root can. */
  readonly uid?: number
  /** Called with the process once it runs. */
  readonly onStart?: (child: { readonly pid: number; kill(signal: NodeJS.Signals): void }) => void
}

/** Runs the command as a process, as users do. A string goes through the shell. */
export function runCli(
  args: readonly string[] | string,
  options: RunOptions = {},
): Promise<Finished> {
  const start = startOf(options.program)
  const command =
    typeof args === 'string'
      ? ([
          'sh',
          '-c',
          `'${process.execPath}' ${start.map((word) => `'${word}'`).join(' ')} ${args}`,
        ] as const)
      : ([process.execPath, ...start, ...args] as const)
  const [file, ...rest] = command
  const { promise, resolve } = Promise.withResolvers<Finished>()
  const child = spawn(file, rest, {
    cwd: options.cwd,
    ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
    env: { PATH: process.env['PATH'], ...options.env },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdin.on('error', () => {}) // it may end without reading
  child.stdin.end(options.input ?? '')
  child.on('close', (exitCode, signal) => resolve({ exitCode, signal, stdout, stderr }))
  const { pid } = child
  if (pid !== undefined) options.onStart?.({ pid, kill: (signal) => child.kill(signal) })
  return promise
}

/** A Node in the PATH that is too old for the command, and runs it with the Node of `npm ci`. */
export function findOldNode(): string | undefined {
  if (!existsSync('/proc/self/task')) return undefined
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .filter((path) => existsSync(path))
    .find((path) => {
      const version = execFileSync(path, ['--version'], { encoding: 'utf8' })
      return Number.parseInt(version.slice(1), 10) < 24
    })
}
