import { Worker } from 'node:worker_threads'
import type { HandoffReply } from '#core/session/handoff'
import type { HandoffOrder } from './write-digest.ts'

export type WrittenHandoff =
  | (Extract<HandoffReply, { kind: 'written' }> & { readonly text: string })
  | Extract<HandoffReply, { kind: 'failed' }>

/** Started with the first order, ended when it was idle for a while: it holds no memory then. */
const IDLE_MS = 60_000
const OLD_MB = 512

export class HandoffWorker {
  #worker: Worker | null = null
  #calls = 0
  #idle: NodeJS.Timeout | undefined
  readonly #waiting = new Map<number, (reply: WrittenHandoff) => void>()

  write(order: HandoffOrder): Promise<WrittenHandoff> {
    clearTimeout(this.#idle)
    const { promise, resolve } = Promise.withResolvers<WrittenHandoff>()
    this.#calls += 1
    this.#waiting.set(this.#calls, resolve)
    this.#start().postMessage({ ...order, call: this.#calls })
    return promise
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
  }

  #start(): Worker {
    if (this.#worker !== null) return this.#worker
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const worker = new Worker(new URL(`./handoff-thread.${extension}`, import.meta.url), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: OLD_MB, maxYoungGenerationSizeMb: 32 },
    })
    worker.on('message', ({ call, reply }: { call: number; reply: WrittenHandoff }) => {
      this.#waiting.get(call)?.(reply)
      this.#waiting.delete(call)
      if (this.#waiting.size === 0) this.#endLater()
    })
    worker.on('error', (error: Error) => this.#fail(error.message))
    worker.on('exit', () => {
      if (this.#worker === worker) this.#fail('its thread has ended')
    })
    worker.unref()
    this.#worker = worker
    return worker
  }

  #fail(reason: string): void {
    this.#worker = null
    for (const resolve of this.#waiting.values()) resolve({ kind: 'failed', reason })
    this.#waiting.clear()
  }

  #endLater(): void {
    this.#idle = setTimeout(() => void this.close(), IDLE_MS)
    this.#idle.unref()
  }
}
