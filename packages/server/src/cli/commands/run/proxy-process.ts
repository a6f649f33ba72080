import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'

/**
 * The proxy as a process of its own: it can die without its client. A dead one is started again on
 * the same port, which is all that the client knows of it.
 */
export interface ProxyProcessOptions {
  /** Node, the program, and `proxy` with its options, without a port. */
  readonly command: readonly string[]
  /** Tried first; another one if it is taken. */
  readonly port: number
  readonly logFile: string
}

const RESTART_MS_MIN = 50
const RESTART_MS_MAX = 2_000
const START_MS_MAX = 30_000

export class ProxyProcess {
  readonly #options: ProxyProcessOptions
  #child: ChildProcess | null = null
  #port = 0
  #isEnding = false
  #failures = 0
  #restart: NodeJS.Timeout | undefined

  constructor(options: ProxyProcessOptions) {
    this.#options = options
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** The port that it listens on, from now to the end. */
  async start(): Promise<number> {
    this.#port = (await this.#spawn(this.#options.port)) ?? (await this.#spawn(0)) ?? this.#refuse()
    this.#watch()
    return this.#port
  }

  async end(): Promise<void> {
    this.#isEnding = true
    clearTimeout(this.#restart)
    const child = this.#child
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
  }

  #refuse(): never {
    throw new Error(`The proxy does not start. ${this.#options.logFile} says why.`)
  }

  /** The port it got; null: it ended before it listened. */
  #spawn(port: number): Promise<number | null> {
    const { command, logFile } = this.#options
    const [file = process.execPath, ...args] = command
    const log = openSync(logFile, 'a', 0o600)
    const child = spawn(file, [...args, '--port', String(port)], {
      stdio: ['ignore', 'ignore', log, 'ipc'],
      // Ctrl-C is for the client.
      detached: true,
    })
    closeSync(log)
    this.#child = child
    const { promise, resolve } = Promise.withResolvers<number | null>()
    const late = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX)
    child.once('message', (message: { port: number }) => resolve(message.port))
    child.once('error', () => resolve(null))
    child.once('exit', () => resolve(null))
    return promise.finally(() => clearTimeout(late))
  }

  #watch(): void {
    const child = this.#child
    const again = () => {
      if (this.#isEnding || this.#child !== child) return
      const delay = Math.min(RESTART_MS_MAX, RESTART_MS_MIN * 2 ** this.#failures)
      this.#failures += 1
      this.#restart = setTimeout(() => void this.#startAgain(), delay)
    }
    if (child === null || child.exitCode !== null || child.signalCode !== null) again()
    else child.once('exit', again)
  }

  async #startAgain(): Promise<void> {
    const port = await this.#spawn(this.#port)
    if (port !== null) this.#failures = 0
    this.#watch()
  }
}
