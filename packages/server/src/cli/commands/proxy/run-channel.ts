import { readFileSync } from 'node:fs'
import { Server, Socket } from 'node:net'
import { isObject, type JsonObject } from '#core/base/json'

/**
 * What `run` sends to the proxy that it has started: its port, its connections, and which process
 * the client is. Both processes hold the port. If `run` is killed, its client lives on and sends its
 * next request with its credentials to the same address, so the proxy goes on until that client has
 * ended.
 */
export interface RunClient {
  readonly client: number
  /** The stand-in runs in the process of `run`; afterwards anyone may listen at its address. */
  readonly isModelOfRun: boolean
}

const LOOK_EVERY_MS = 250

export class RunChannel {
  readonly #ended = Promise.withResolvers<void>()
  #take: (socket: Socket) => void = (socket) => void socket.destroy()
  #port: Server | null = null
  #client: (RunClient & { readonly mark: string | null }) | null = null
  #looking: NodeJS.Timeout | undefined
  /** Called when `run` was killed and its model ended with it. */
  onModelGone: () => void = () => {}

  constructor() {
    process.on('message', (message, handle) => this.#receive(message, handle))
    process.once('disconnect', this.#goOn)
  }

  /** Resolves when `run` is gone and no client is left. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  accept(take: (socket: Socket) => void): void {
    this.#take = take
  }

  close(): void {
    process.off('disconnect', this.#goOn)
    clearInterval(this.#looking)
    this.#port?.close()
    // It would keep the process alive.
    if (process.connected) process.disconnect()
  }

  #receive(message: unknown, handle: unknown): void {
    // The connection may have closed on the way.
    if (handle instanceof Socket) this.#take(handle)
    else if (handle instanceof Server) {
      this.#port = handle
      handle.on('connection', (socket: Socket) => this.#take(socket))
    } else if (isObject(message)) this.#client = clientIn(message)
  }

  readonly #goOn = () => {
    const client = this.#client
    if (client === null || this.#port === null) return this.#ended.resolve()
    if (client.isModelOfRun) {
      this.accept((socket) => socket.destroy())
      this.onModelGone()
    }
    const look = () => {
      if (client.mark === null || markOf(client.client) !== client.mark) this.#ended.resolve()
    }
    this.#looking = setInterval(look, LOOK_EVERY_MS)
    look()
  }
}

function clientIn({ client, isModelOfRun }: JsonObject) {
  if (typeof client !== 'number') return null
  return { client, isModelOfRun: isModelOfRun === true, mark: markOf(client) }
}

/**
 * Null: the process has ended. Linux also tells one that waits to be reaped, and, by its start,
 * another one with the same id.
 */
function markOf(pid: number): string | null {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return null
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name before them may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return /[ZX]/.test(fields[0] ?? '') ? null : (fields[19] ?? '')
  } catch {
    return ''
  }
}
