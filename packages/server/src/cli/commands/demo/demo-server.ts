import { type ChildProcess, spawn } from 'node:child_process'
import { FailedError } from '../../../host/errors.ts'

/** `serve` as a separate process, so that the tour can kill it. */
export interface DemoServer {
  readonly url: string
  readonly pid: number
  /** As `kill -9` does. Resolves when it has ended. */
  kill(): Promise<void>
}

export async function startDemoServer(
  store: string,
  { port }: { readonly port: string },
): Promise<DemoServer> {
  const words = ['serve', '--json', '--store', store, '--port', port]
  // Ignores any configuration in the current folder.
  const settings = ['--set', 'logging.level=error', '--config', `${store}.yaml`]
  const program = [...process.execArgv, process.argv[1] ?? '']
  const child = spawn(process.execPath, [...program, ...words, ...settings], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const endWithTour = () => child.kill('SIGKILL')
  process.once('exit', endWithTour)
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      process.off('exit', endWithTour)
      resolve()
    })
  })
  return {
    url: await readAddress(child, ended),
    pid: child.pid ?? 0,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function readAddress(child: ChildProcess, ended: Promise<void>): Promise<string> {
  let [stdout, stderr] = ['', '']
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    const [line, rest] = stdout.split('\n')
    if (rest !== undefined) resolve((JSON.parse(line ?? '') as { url: string }).url)
  })
  void ended.then(() => reject(new FailedError(`The server did not start: ${stderr.trim()}`)))
  return await promise
}
