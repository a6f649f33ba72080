import { randomUUID } from 'node:crypto'
import type { Dispatcher } from 'undici'
import type { Clock } from '#core/base/clock'
import { Door } from '#core/base/door'
import type { JsonValue } from '#core/base/json'
import { type DeadlineName, type Deadlines, DeadlineTimers } from '../connections/deadlines.ts'
import type { ConnectionLoan } from '../connections/pool.ts'
import { EventReader } from './event-reader.ts'

/** Servers that echo this id show whether an answer is ours. */
export const REQUEST_ID = 'x-client-request-id'

/**
 * One HTTP exchange with a model server: the fetch that a provider's package is given for a single
 * call. It owns the loan, the abort and all clocks.
 *
 * States: *waiting* (no connection yet), *sent*, *streaming* (an event stream comes in) or
 * *reading* (anything else comes in: errors, pages), *over*. The body is read into a buffer as it
 * arrives, whether or not it is consumed; only a full buffer makes the socket wait. The returned
 * stream always ends and never fails: a failing web stream drops its buffer, and with it text that
 * had arrived. `record` has the outcome.
 */
export class Exchange {
  readonly record: WireRecord = { phase: 'waiting' }
  readonly #base: string
  readonly #takeLoan: (origin: string) => ConnectionLoan
  readonly #prepare: (body: string) => string | undefined
  readonly #clock: Clock
  readonly #watch: DeadlineTimers
  readonly #signal: AbortSignal
  readonly #events: EventReader
  readonly #interrupt = () => this.abort('interrupt')
  readonly #over = Promise.withResolvers<void>()
  #loan: ConnectionLoan | undefined
  #controller: Dispatcher.DispatchController | undefined
  #sink: Sink | undefined
  #answer = Promise.withResolvers<Response>()
  #heardAt = Number.NEGATIVE_INFINITY
  #isUsed = false
  #isAnswered = false
  #isPaused = false
  #bytes = 0

  constructor(options: ExchangeOptions) {
    this.#base = new URL(`${options.baseUrl.replace(/\/$/, '')}/`).href
    this.#takeLoan = options.loan
    this.#prepare = options.prepare
    this.#signal = options.signal
    this.#events = new EventReader(options.take)
    this.#answer.promise.catch(() => {})
    this.#clock = options.clock
    this.#watch = new DeadlineTimers(options.clock, {
      deadlines: options.deadlines,
      expire: (deadline) => this.abort(deadline),
    })
    if (options.signal.aborted) this.abort('interrupt')
    else options.signal.addEventListener('abort', this.#interrupt, { once: true })
  }

  /** Settles when nothing more will come over the wire. */
  get over(): Promise<void> {
    return this.#over.promise
  }

  get isOver(): boolean {
    return this.record.phase === 'over'
  }

  /** For a provider's package; one request only. */
  readonly fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    if (this.isOver || this.#isUsed) throw new Error('this exchange is over')
    this.#isUsed = true
    this.#send(new URL(String(url)), init ?? {})
    return await this.#answer.promise
  }

  /**
   * Closes the connection; what has arrived can still be read. While an answer arrives, a stop says
   * nothing against the other connections of the line, so they stay.
   */
  abort(by: AbortedBy): void {
    if (this.isOver) return
    this.record.abortedBy = by
    if (isDeadline(by) || !this.#isArriving()) this.#loan?.evict()
    this.#end()
  }

  #isArriving(): boolean {
    return this.#clock.monotonic() - this.#heardAt < ARRIVING_MS
  }

  #send(url: URL, { method = 'POST', headers, body }: RequestInit): void {
    const prepared = this.#prepare(typeof body === 'string' ? body : '')
    // Some packages put the model's name into the path, and a name may contain dots and slashes.
    if (prepared === undefined || !url.href.startsWith(this.#base)) {
      this.#end()
      return
    }
    try {
      this.#loan = this.#takeLoan(url.origin)
    } catch (error) {
      this.record.error = error
      this.#end()
      return
    }
    this.record.isProxied = this.#loan.isProxied
    this.#watch.connecting()
    const requestId = randomUUID()
    this.record.requestId = requestId
    const own = { 'accept-encoding': 'identity', [REQUEST_ID]: requestId }
    this.#loan.dispatcher.dispatch(
      {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method,
        headers: { ...Object.fromEntries(new Headers(headers)), ...own },
        body: prepared,
      },
      this.#handler(),
    )
  }

  #handler(): Dispatcher.DispatchHandler {
    return {
      onRequestStart: (controller) => {
        this.#controller = controller
        if (this.isOver) return controller.abort(new Error('the call is over'))
        this.record.phase = 'sent'
        this.#watch.sent()
      },
      onResponseStart: (_, status, headers) => {
        if (status >= 200 && !this.isOver) this.#start(status, headers)
      },
      onResponseData: (_, chunk) => {
        if (this.isOver) return
        this.#heardAt = this.#clock.monotonic()
        this.#bytes += chunk.length
        if (this.#bytes > ANSWER_BYTES_MAX) this.abort('too-large')
        else this.#sink?.take(chunk)
      },
      onResponseEnd: () => {
        if (this.isOver) return
        this.record.isComplete = true
        this.#end()
      },
      onResponseError: (_, error) => {
        if (this.isOver) return
        this.record.error = error
        this.#loan?.evict()
        this.#end()
      },
    }
  }

  #start(status: number, headers: AnswerHeaders): void {
    this.record.status = status
    this.record.headers = headers
    const type = String(headers['content-type'] ?? '')
    // Compression was not requested, and a few bytes may expand to gigabytes, so the body is not
    // decompressed.
    const isPacked = PACKED.test(String(headers['content-encoding'] ?? ''))
    if (status < 300 && isPacked) this.abort('compressed')
    else if (status < 300 && type.includes('text/event-stream')) this.#stream()
    else this.#read({ mayStream: status < 300 && !type.includes('html') })
  }

  #stream(): StreamSink {
    this.record.phase = 'streaming'
    const sink = new StreamSink({
      hear: (chunk) => this.#hear(chunk),
      pause: () => {
        this.#isPaused = true
        this.#watch.pause()
        this.#controller?.pause()
      },
      resume: () => {
        if (this.isOver) return
        this.#isPaused = false
        this.#watch.heard()
        this.#controller?.resume()
      },
      leave: () => this.abort('consumer'),
    })
    this.#sink = sink
    const { status = 200, headers = {} } = this.record
    const answer = new Response(sink.readable, { status, headers: plainHeaders(headers) })
    this.#isAnswered = true
    this.#answer.resolve(new Promise((resolve) => ANSWERS.pass(() => resolve(answer))))
    return sink
  }

  #hear(chunk: Buffer): void {
    const says = this.#events.read(chunk)
    if (this.#events.isTooLarge) this.abort('too-large')
    // A little data may still arrive while we do not read; the silence after it is our own doing.
    if (this.isOver || this.#isPaused) return
    if (says) this.#watch.heard()
    else this.#watch.alive()
  }

  /** Reads any other body to its end, within limits, for the judge. */
  #read({ mayStream }: { mayStream: boolean }): void {
    this.record.phase = 'reading'
    const chunks: Buffer[] = []
    let bytes = 0
    this.#sink = {
      take: (chunk) => {
        this.#watch.heard()
        // Some servers stream under another content type.
        if (mayStream && bytes === 0 && EVENT_START.test(chunk.toString('latin1', 0, 16))) {
          return this.#stream().take(chunk)
        }
        chunks.push(chunk)
        bytes += chunk.length
        if (bytes < DOCUMENT_BYTES_MAX) return
        this.#sink?.end()
        this.abort('enough')
      },
      end: () => {
        this.record.text = Buffer.concat(chunks).subarray(0, DOCUMENT_BYTES_MAX).toString()
      },
    }
  }

  #end(): void {
    if (this.isOver) return
    this.record.wasSent = this.record.phase !== 'waiting'
    this.record.phase = 'over'
    this.#watch.stop()
    this.#signal.removeEventListener('abort', this.#interrupt)
    this.#sink?.end()
    // An error takes its stack along, which costs more than the rest of this.
    if (!this.#isAnswered) this.#answer.reject(new Error('no event stream came'))
    if (this.record.isComplete === undefined) this.#controller?.abort(new Error('the call is over'))
    this.#loan?.release()
    this.#over.resolve()
  }
}

export interface ExchangeOptions {
  /** Requests never go to another origin. */
  readonly baseUrl: string
  readonly loan: (origin: string) => ConnectionLoan
  /** Returns the body to send instead of the provider package's, if possible. */
  readonly prepare: (body: string) => string | undefined
  readonly signal: AbortSignal
  readonly deadlines: Deadlines
  readonly clock: Clock
  /** Receives every raw event before the provider's package does. */
  readonly take?: (event: JsonValue) => void
}

/** `enough`: an error page beyond the useful length; `too-large`: an endless answer. */
export type AbortedBy =
  | DeadlineName
  | 'interrupt'
  | 'consumer'
  | 'enough'
  | 'too-large'
  | 'compressed'

/** The facts of the exchange. */
export interface WireRecord {
  phase: 'waiting' | 'sent' | 'streaming' | 'reading' | 'over'
  abortedBy?: AbortedBy
  /** The id that we gave the request. */
  requestId?: string
  /** Whether a connection took the request. */
  wasSent?: boolean
  /** Whether the request went through a proxy. */
  isProxied?: boolean
  status?: number
  headers?: AnswerHeaders
  /** The body, if it was not an event stream. */
  text?: string
  /** The connection's own failure. */
  error?: unknown
  /** Whether the answer ended properly in terms of HTTP. */
  isComplete?: true
}

type AnswerHeaders = { readonly [name: string]: string | string[] | undefined }

interface Sink {
  take(chunk: Buffer): void
  end(): void
}

/** The body as the provider's package reads it. */
class StreamSink implements Sink {
  readonly readable: ReadableStream<Uint8Array>
  readonly #hear: (chunk: Buffer) => void
  readonly #pause: () => void
  readonly #gathered: Buffer[] = []
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #isPaused = false

  constructor(socket: {
    hear: (chunk: Buffer) => void
    pause: () => void
    resume: () => void
    leave: () => void
  }) {
    this.#hear = socket.hear
    this.#pause = socket.pause
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => {
          if (!this.#isPaused) return
          this.#isPaused = false
          socket.resume()
        },
        cancel: () => {
          this.#controller = undefined
          socket.leave()
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES_MAX }),
    )
  }

  /**
   * Servers send every event as a separate chunk. All chunks of one socket read are passed on
   * together, which halves the cost of later stages.
   */
  take(chunk: Buffer): void {
    if (this.#gathered.push(chunk) === 1) queueMicrotask(() => this.#flush())
  }

  end(): void {
    this.#flush()
    this.#controller?.close()
    this.#controller = undefined
  }

  #flush(): void {
    const [first, ...others] = this.#gathered.splice(0)
    if (first === undefined || this.#controller === undefined) return
    const chunk = others.length === 0 ? first : Buffer.concat([first, ...others])
    this.#hear(chunk)
    this.#handOn(chunk)
  }

  #handOn(chunk: Buffer): void {
    // The callback may have ended the exchange.
    if (this.#controller === undefined) return
    this.#controller.enqueue(chunk)
    if (this.#isPaused || (this.#controller.desiredSize ?? 1) > 0) return
    this.#isPaused = true
    this.#pause()
  }
}

// A provider's package takes one to two milliseconds of processor time to take an answer apart.
const ANSWERS = new Door(4)
// Someone who stops an answer that has been silent for longer may have stopped it for that.
const ARRIVING_MS = 5_000
// A reader that falls this far behind makes the server wait.
const BUFFER_BYTES_MAX = 8 * 1024 * 1024
// Of a body that is not an event stream: enough for an error.
const DOCUMENT_BYTES_MAX = 64 * 1024
// 128,000 tokens at the most wasteful 400 bytes each are a fifth of it.
const ANSWER_BYTES_MAX = 256 * 1024 * 1024
// By name, because some servers send `none` or `utf-8` here and compress nothing.
const PACKED = /gzip|deflate|compress|zstd|\bbr\b/i
const EVENT_START = /^\s*(?:data|event|id|retry)?:/

function isDeadline(by: AbortedBy): by is DeadlineName {
  return by === 'connect' || by === 'first-byte' || by === 'idle' || by === 'total'
}

function plainHeaders(headers: AnswerHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}
