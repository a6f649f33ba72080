import { Worker } from 'node:worker_threads'
import { OutcomeUnknownError, StoreBusyError } from '../../errors.ts'
import {
  reviveError,
  type WorkerAnswer,
  type WorkerNews,
  type WorkerOrder,
  type WorkerRequest,
} from './protocol.ts'

interface Waiting {
  readonly what: string
  readonly order: WorkerOrder
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/**
 * A thread's objects live for one request, a page of entries at most. By default a thread that has
 * worked for a minute keeps 64 MB for them; with 16 MB the same work takes the same CPU time
 * (50,000 entries written, read three times and verified: 4.9 s either way).
 */
const YOUNG_MB = 16
/**
 * Per turn of the event loop: each answer starts work, which must not block the loop, whether the
 * answers came in one batch or in several.
 */
const HANDED_ON_AT_ONCE = 4

function startWorker(): Worker {
  const options = { execArgv: [], resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB } }
  const source = import.meta.url.replace(/threads\.ts$/, 'thread.ts')
  if (source !== import.meta.url) return new Worker(new URL(source), options)
  // Bundlers take the file along if its address is written in exactly this form.
  return new Worker(new URL('./thread.js', import.meta.url), options)
}

/**
 * The caller's end of one store thread. It keeps the process alive only while answers are pending.
 */
export class StoreThread {
  readonly #worker: Worker
  readonly #waiting = new Map<number, Waiting>()
  readonly #listeners = new Map<number, () => void>()
  /** Answers that are not passed on yet. */
  readonly #heard: WorkerAnswer[] = []
  /** This turn of the event loop has reached its limit. */
  #isSated = false
  #calls = 0
  #ended: string | undefined

  constructor() {
    this.#worker = startWorker()
    this.#worker.on('message', (news: WorkerNews) => this.#hear(news))
    this.#worker.on('error', (error: Error) => this.#end(error.message))
    this.#worker.on('exit', () => this.#end('its thread has ended'))
    this.#worker.unref()
  }

  get waiting(): number {
    return this.#waiting.size
  }

  get ended(): boolean {
    return this.#ended !== undefined
  }

  call(store: number, what: string, order: WorkerOrder): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(unanswered(what, order, this.#ended))
        return
      }
      this.#calls += 1
      const letter: WorkerRequest = { store, call: this.#calls, order }
      this.#worker.postMessage(letter)
      this.#waiting.set(this.#calls, { what, order, resolve, reject })
      this.#worker.ref()
    })
  }

  onChange(store: number, listener: () => void): void {
    this.#listeners.set(store, listener)
  }

  forget(store: number): void {
    this.#listeners.delete(store)
  }

  #hear(news: WorkerNews): void {
    if ('changed' in news) {
      this.#listeners.get(news.changed)?.()
      return
    }
    this.#heard.push(...news.answers)
    if (!this.#isSated) this.#handOn()
  }

  #handOn(): void {
    for (const answer of this.#heard.splice(0, HANDED_ON_AT_ONCE)) this.#settle(answer)
    if (this.#waiting.size === 0) this.#worker.unref()
    this.#isSated = true
    setImmediate(() => {
      this.#isSated = false
      if (this.#heard.length > 0) this.#handOn()
    })
  }

  #settle(answer: WorkerAnswer): void {
    const waiting = this.#waiting.get(answer.call)
    this.#waiting.delete(answer.call)
    if ('error' in answer) waiting?.reject(reviveError(answer.error))
    else waiting?.resolve(answer.value)
  }

  #end(problem: string): void {
    this.#ended ??= problem
    for (const answer of this.#heard.splice(0)) this.#settle(answer)
    for (const { what, order, reject } of this.#waiting.values()) {
      reject(unanswered(what, order, this.#ended))
    }
    this.#waiting.clear()
  }
}

/** Only a commit can have an unknown outcome; any other request simply did not happen. */
function unanswered(verb: string, order: WorkerOrder, problem: string): Error {
  if (order.kind === 'commit') return new OutcomeUnknownError({ verb, problem })
  return new StoreBusyError({ waitedMs: 0, problem: `its thread does not run: ${problem}` })
}

let stores = 0

/** Identifies an opened store in the threads. */
export function newStoreNumber(): number {
  stores += 1
  return stores
}

const threads = new Map<'writer' | 'reader', StoreThread>()

/**
 * One writer and one reader per process, started when first needed, however many stores are open.
 */
export function storeThread(role: 'writer' | 'reader'): StoreThread {
  const present = threads.get(role)
  if (present !== undefined && !present.ended) return present
  const thread = new StoreThread()
  threads.set(role, thread)
  return thread
}
