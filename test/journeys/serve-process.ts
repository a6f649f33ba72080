import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM } from '../support/run-cli.ts'

/** `throughline serve` as a process of its own, on a folder that outlives it. */
export interface ServeProcess {
  readonly url: string
  /** As a power cut does it. */
  kill(): Promise<void>
  end(): Promise<void>
}

const READY_MS = 180_000

export const STORE_NAME = 'store.db'

/** The agent `main` on that model; what it thinks of the model's window is given. */
export function writeConfig(
  folder: string,
  model: { readonly url: string; readonly windowTokens: number },
): void {
  const config = {
    agents: {
      main: {
        model: {
          provider: 'openai-chat',
          baseUrl: `${model.url}/v1`,
          credential: { kind: 'none' },
          model: 'stand-in',
          windowTokens: model.windowTokens,
        },
      },
    },
    store: join(folder, STORE_NAME),
    logging: { level: 'error' },
    http: { port: 0 },
  }
  // JSON is YAML.
  writeFileSync(join(folder, 'throughline.yaml'), JSON.stringify(config, null, 2))
}

export async function startServe(folder: string): Promise<ServeProcess> {
  const child = spawn(process.execPath, [PROGRAM, 'serve', '--port', '0', '--json'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, XDG_STATE_HOME: join(folder, 'state') },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // The driving process may be killed; a server without its driver would run forever.
  const orphaned = () => child.kill('SIGKILL')
  process.once('exit', orphaned)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  void ended.then(() => process.off('exit', orphaned))
  const url = await readUrl(child, ended)
  const finish = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await ended
  }
  return { url, kill: () => finish('SIGKILL'), end: () => finish('SIGTERM') }
}

async function readUrl(child: ChildProcess, ended: Promise<void>): Promise<string> {
  let stdout = ''
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-4_000)
  })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const timer = setTimeout(() => {
    child.kill('SIGKILL')
    reject(new Error(`Not ready in time: ${stderr}`))
  }, READY_MS)
  void ended.then(() => reject(new Error(`Ended at once: ${stderr}`)))
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    if (stdout.includes('\n')) resolve((JSON.parse(stdout) as { url: string }).url)
  })
  try {
    return await promise
  } finally {
    clearTimeout(timer)
  }
}
