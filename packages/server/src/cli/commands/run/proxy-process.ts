import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { openToAppend } from '#core/base/files/write'
import { isObject } from '#core/base/json'
import { PeerUsers } from '../../../gateway/http/access/peer-user.ts'
import { FailedError } from '../../../host/errors.ts'
import type { RunClient } from '../proxy/run-channel.ts'

/**
 * The proxy as a separate process: it can die without its client, and is restarted. Both processes
 * hold the port and accept connections, whichever comes first; this one hands its own over. If the
 * port were free as long as the client runs, another local user could listen on it and receive the
 * client's next request with its credentials. So the proxy goes on when this process is killed.
 */
export interface ProxyProcessOptions {
  /** Node, the program, and `proxy` with its options, without a port. */
  readonly command: readonly string[]
  /** Beside our own environment. Every user of the computer can read a command, not this. */
  readonly env?: { readonly [name: string]: string }
  /** Tried first; if it is taken, another port is used. */
  readonly port: number
  readonly logFile: string
}

/** A client's conversation, by the client's own id. */
export interface ClientConversation {
  readonly client: string
  readonly session: string
}

/**
 * By default glibc keeps freed memory in a pool for each thread, and after the first large body the
 * next ones as well. With these settings the proxy gives it back: 207 MB instead of 239 MB with
 * bodies of 5.8 MB. Other systems ignore them.
 */
export const ALLOCATOR = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '262144' }

const RESTART_MS_MIN = 50
const RESTART_MS_MAX = 2_000
const START_MS_MAX = 30_000

export class ProxyProcess {
  readonly #options: ProxyProcessOptions
  /** Connections are not read here. */
  readonly #server: Server = createServer({ pauseOnConnect: true })
  readonly #waiting = new Set<Socket>()
  #peers: PeerUsers | null = null
  #child: ChildProcess | null = null
  #isReady = false
  #isEnding = false
  #failures = 0
  #restart: NodeJS.Timeout | undefined
  #conversation: ClientConversation | null = null
  #client: RunClient | null = null

  constructor(options: ProxyProcessOptions) {
    this.#options = options
  }

  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** The one that was recorded last; null: none was. */
  get conversation(): ClientConversation | null {
    return this.#conversation
  }

  /** The port that it listens on until it closes. */
  async start(): Promise<number> {
    this.#server.on('connection', (socket) => void this.#take(socket))
    await this.#listen(this.#options.port).catch(() => this.#listen(0))
    this.#peers = await PeerUsers.open(this.#port).catch(() => null)
    if (!(await this.#spawn())) {
      this.#server.close()
      throw new FailedError(`The proxy does not start. ${this.#options.logFile} says why.`)
    }
    this.#watch()
    return this.#port
  }

  /** The client has started: the proxy serves it even if this process is killed. */
  serve(client: RunClient): void {
    this.#client = client
    if (this.#isReady) this.#tell()
  }

  async end(): Promise<void> {
    this.#isEnding = true
    clearTimeout(this.#restart)
    // Frees the port at once. The promise resolves when every connection that was handed over is
    // closed.
    this.#server.close()
    for (const socket of this.#waiting) socket.destroy()
    const child = this.#child
    if (child !== null && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    }
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async #listen(port: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#server.once('error', reject)
    this.#server.listen(port, '127.0.0.1', resolve)
    await promise.finally(() => this.#server.off('error', reject))
  }

  /**
   * A client waits a little longer for its answer while the proxy starts. Thousands of connections of
   * another user would keep it waiting, so those end here.
   */
  async #take(socket: Socket): Promise<void> {
    socket.on('error', () => socket.destroy())
    const isOwn = (await this.#peers?.isOwner(socket)) ?? true
    if (!isOwn || this.#isEnding || socket.destroyed) {
      socket.destroy()
      return
    }
    socket.once('close', () => this.#waiting.delete(socket))
    this.#waiting.add(socket)
    this.#handOver(socket)
  }

  #handOver(socket: Socket): void {
    const child = this.#child
    if (!this.#isReady || child?.connected !== true) return
    // Kept open here until it is handed over: if the proxy dies now, the next one gets it.
    child.send('connection', socket, { keepOpen: true }, (error) => {
      if (error === null) socket.destroy()
    })
  }

  /** Shares the port with the proxy, and says which client it serves. */
  #share(child: ChildProcess): void {
    if (this.#isEnding) return
    child.send('port', this.#server, {}, () => {})
    this.#tell()
    for (const socket of this.#waiting) this.#handOver(socket)
  }

  #tell(): void {
    // It may die meanwhile; the next one gets the message, too.
    if (this.#client !== null) this.#child?.send({ ...this.#client }, () => {})
  }

  /** Whether it started and accepts connections. */
  #spawn(): Promise<boolean> {
    const { command, env, logFile } = this.#options
    const [file = process.execPath, ...args] = command
    const log = openToAppend(logFile)
    const child = spawn(file, [...args, '--handed-over', '--port', String(this.#port)], {
      stdio: ['ignore', 'ignore', log, 'ipc'],
      env: { ...ALLOCATOR, ...process.env, ...env },
      // Ctrl-C is meant for the client.
      detached: true,
    })
    closeSync(log)
    this.#child = child
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const late = setTimeout(() => child.kill('SIGKILL'), START_MS_MAX)
    child.on('message', (message) => {
      resolve(true)
      this.#conversation = conversationIn(message) ?? this.#conversation
    })
    // Also when it died before it received a message.
    child.on('error', () => resolve(false))
    child.once('exit', () => {
      this.#isReady = false
      resolve(false)
    })
    return promise
      .then((isReady) => {
        this.#isReady = isReady && child.connected
        if (this.#isReady) this.#share(child)
        return isReady
      })
      .finally(() => clearTimeout(late))
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
    if (await this.#spawn()) this.#failures = 0
    this.#watch()
  }
}

/** The id can be pasted into a shell: it comes from a header that any local program could send. */
function conversationIn(message: unknown): ClientConversation | null {
  const { client, session } = isObject(message) ? message : {}
  if (typeof client !== 'string' || typeof session !== 'string') return null
  return /^\w[\w-]{0,127}$/.test(session) ? { client, session } : null
}
