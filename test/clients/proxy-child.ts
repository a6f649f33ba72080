import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ALLOCATOR } from '../../packages/server/src/cli/commands/run/proxy-process.ts'

export const PROGRAM = resolve(import.meta.dirname, '../../packages/server/bin/throughline.js')

/** `throughline proxy` as `run` starts it: a process that can be killed and started again on its port. */
export class ProxyChild {
  readonly #folder: string
  readonly #provider: string
  readonly #more: readonly string[]
  #child: ChildProcess | null = null
  port = 0

  constructor(folder: string, provider: string, more: readonly string[] = []) {
    this.#folder = folder
    this.#provider = provider
    this.#more = more
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  get store(): string {
    return join(this.#folder, 'clients.db')
  }

  get log(): string {
    return join(this.#folder, 'proxy.log')
  }

  async start(): Promise<void> {
    const log = openSync(this.log, 'a')
    const args = [
      ...[PROGRAM, 'proxy', '--port', String(this.port), '--store', this.store],
      ...['--anthropic', this.#provider, '--openai', `${this.#provider}/v1`, ...this.#more],
    ]
    const env = { ...ALLOCATOR, ...process.env }
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', log, 'ipc'], env })
    closeSync(log)
    this.#child = child
    const { promise, resolve: ready, reject } = Promise.withResolvers<unknown>()
    child.once('message', ready)
    child.once('exit', (code) => reject(new Error(`the proxy ended with ${code}; see ${this.log}`)))
    await promise
    // An earlier proxy may have written to the same log.
    const said = readFileSync(this.log, 'utf8').matchAll(/proxy: http:\/\/[\d.]+:(\d+) forwards/g)
    const [, port] = [...said].at(-1) ?? []
    this.port = Number(port)
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolveEnd) => child.once('exit', resolveEnd))
    child.kill(signal)
    await ended
  }
}
