import { Worker } from 'node:worker_threads'
import type { SummaryReply } from '#core/compaction/summary/summary-writer'
import type { HandoffReply } from '#core/session/handoff'
import type { PreparedRequest } from '../../auxiliary/summary-rungs.ts'
import {
  type FromThread,
  failedAnswer,
  type HandoffJob,
  type ToThread,
  writtenAnswer,
} from './messages.ts'

export interface HandoffTerms {
  readonly signal?: AbortSignal
  /** Writes the summary, on the event loop; without it the thread writes a digest. */
  readonly summarize?: (request: PreparedRequest, signal: AbortSignal) => Promise<SummaryReply>
}

interface Call extends HandoffTerms {
  readonly resolve: (reply: HandoffReply) => void
  /** By the request number of the thread. */
  readonly replies: Map<number, SummaryReply>
}

/** Started by the first job and ended when idle for a while, to free its memory. */
const IDLE_MS = 60_000
const OLD_MB = 512
const NEVER = new AbortController().signal

/**
 * Writes handoffs in its own thread; only the model calls stay on the event loop. If the thread
 * ends, its current jobs fail and the next job starts another.
 */
export class HandoffThread {
  #worker: Worker | null = null
  #calls = 0
  #idle: NodeJS.Timeout | undefined
  readonly #waiting = new Map<number, Call>()

  async write(job: HandoffJob, terms: HandoffTerms = {}): Promise<HandoffReply> {
    const { signal = NEVER, summarize } = terms
    if (signal.aborted) return ABORTED
    clearTimeout(this.#idle)
    this.#calls += 1
    const call = this.#calls
    const { promise, resolve } = Promise.withResolvers<HandoffReply>()
    this.#waiting.set(call, { ...terms, resolve, replies: new Map() })
    const abort = () => this.#post({ kind: 'abort', call })
    signal.addEventListener('abort', abort, { once: true })
    // It keeps the process alive only while a job is pending.
    this.#start().ref()
    this.#post({ kind: 'write', call, job, asks: summarize !== undefined })
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    const worker = this.#worker
    this.#fail('its thread was closed')
    await worker?.terminate()
  }

  #post(message: ToThread): void {
    this.#worker?.postMessage(message)
  }

  #start(): Worker {
    if (this.#worker !== null) return this.#worker
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const worker = new Worker(new URL(`./thread.${extension}`, import.meta.url), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: OLD_MB, maxYoungGenerationSizeMb: 32 },
    })
    worker.on('message', (message: FromThread) => this.#hear(message))
    const end = (reason: string) => {
      if (this.#worker === worker) this.#fail(reason)
    }
    worker.on('error', (error: Error) => end(error.message))
    worker.on('exit', () => end('its thread has ended'))
    this.#worker = worker
    return worker
  }

  #hear(message: FromThread): void {
    const { call } = message
    const waiting = this.#waiting.get(call)
    if (waiting === undefined) return
    if (message.kind !== 'done') {
      void this.#answer(message, waiting)
      return
    }
    this.#waiting.delete(call)
    waiting.resolve(message.reply)
    if (this.#waiting.size > 0) return
    this.#worker?.unref()
    this.#endLater()
  }

  async #answer(
    message: Exclude<FromThread, { kind: 'done' }>,
    { summarize, signal = NEVER, replies }: Call,
  ): Promise<void> {
    const { call, ask } = message
    const reply =
      message.kind === 'ask'
        ? summarize?.(message.request, signal)
        : replies.get(message.of)?.next?.(message.fault)
    try {
      if (reply === undefined) throw new Error('no writer')
      const written = await reply
      replies.set(ask, written)
      this.#post({ kind: 'answer', call, ask, answer: writtenAnswer(written) })
    } catch (error) {
      this.#post({ kind: 'answer', call, ask, answer: failedAnswer(error) })
    }
  }

  #fail(reason: string): void {
    this.#worker = null
    for (const { resolve } of this.#waiting.values()) {
      resolve({ kind: 'failed', reason: `writer: ${reason}` })
    }
    this.#waiting.clear()
  }

  #endLater(): void {
    this.#idle = setTimeout(() => void this.close(), IDLE_MS)
    this.#idle.unref()
  }
}

const ABORTED = { kind: 'failed', reason: 'aborted' } as const
