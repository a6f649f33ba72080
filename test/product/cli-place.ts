import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Finished, PROGRAM, type RunOptions, runCli } from '../support/run-cli.ts'

/** A folder with a store of its own, and processes that serve it. */
export interface CliPlace {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  run(args: readonly string[], options?: RunOptions): Promise<Finished>
  /** Two at a time: there are hardly more processors, and each is a process of its own. */
  all(commands: readonly (readonly string[])[]): Promise<readonly Finished[]>
  serve(args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Served>
  close(): Promise<void>
}

export interface Served {
  readonly url: string
  readonly child: ChildProcess
  stderr(): string
  /** Resolves with the exit code once it has ended. */
  readonly ended: Promise<number | null>
}

const READY_MS = 50_000

export function cliPlace(): CliPlace {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-product-'))
  // Small, so that a few messages are worth a compaction.
  writeFileSync(
    join(folder, 'throughline.yaml'),
    'agents: {main: {model: {windowTokens: 16000}}}\n',
  )
  const env = { XDG_STATE_HOME: join(folder, 'state'), HOME: folder, OLLAMA_HOST: '127.0.0.1:9' }
  const served: Served[] = []
  const run: CliPlace['run'] = (args, options = {}) =>
    runCli(args, { cwd: folder, ...options, env: { ...env, ...options.env } })
  return {
    ...{ folder, env, run },
    async all(commands) {
      const finished: Finished[] = []
      for (let at = 0; at < commands.length; at += 2) {
        const pair = commands.slice(at, at + 2)
        finished.push(...(await Promise.all(pair.map((args) => run(args)))))
      }
      return finished
    },
    async serve(args = [], more = {}) {
      const started = await startServer(folder, { ...env, ...more }, args)
      served.push(started)
      return started
    },
    async close() {
      for (const { child, ended } of served) {
        child.kill('SIGKILL')
        await ended
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function startServer(
  cwd: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<Served> {
  const child = spawn(
    process.execPath,
    [PROGRAM, 'serve', '--port', '0', '--json', '--set', 'logging.level=error', ...args],
    { cwd, env: { PATH: process.env['PATH'], ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let stdout = ''
  let stderr = ''
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ready = new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready: ${stderr}`)), READY_MS)
    void ended.then(() => reject(new Error(`ended: ${stderr}`)))
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      if (!stdout.includes('\n')) return
      clearTimeout(timer)
      resolve((JSON.parse(stdout) as { url: string }).url)
    })
  })
  return { url: await ready, child, stderr: () => stderr, ended }
}

/** The objects that a command with `--json` printed. */
export function lines(finished: Finished | undefined): Record<string, unknown>[] {
  const text = finished?.stdout.split('\n') ?? []
  return text.filter((line) => line !== '').map((line) => JSON.parse(line))
}
