import type { Clock } from '#core/base/clock'
import type { AssistantMessage } from '#core/message/message'
import type { Deadlines } from '../connections/deadlines.ts'
import type {
  CallOptions,
  CallUsage,
  EndPiece,
  Model,
  ModelRequest,
  ModelStream,
  StreamPiece,
} from '../model.ts'
import { type Decision, decideRetry, splitDeadlines } from './retry.ts'

/**
 * A call with its retries and fallbacks, as one stream with the guarantees of a single try. If a
 * try fails after it has sent text, `retry` voids that text. The end is that of the last try; it
 * has the text of the last try that sent any, and the usage of all.
 */
export function callModel(
  models: readonly [Model, ...Model[]],
  request: ModelRequest,
  options: CallOptions & { readonly clock: Clock; readonly random: () => number },
): ModelStream {
  return { [Symbol.asyncIterator]: () => new Persistence(models, { request, options }) }
}

type Options = CallOptions & { readonly clock: Clock; readonly random: () => number }

class Persistence implements AsyncIterator<StreamPiece> {
  readonly #models: readonly [Model, ...Model[]]
  readonly #request: ModelRequest
  readonly #options: Options
  #endsAt: number | undefined
  #route = 0
  #tries = 0
  #freshTries = 0
  #hasRenewed = false
  #current: AsyncIterator<StreamPiece> | undefined
  #delayMs = 0
  #said: AssistantMessage | null = null
  #usage: CallUsage | undefined
  #isEnded = false

  constructor(
    models: readonly [Model, ...Model[]],
    { request, options }: { request: ModelRequest; options: Options },
  ) {
    this.#models = models
    this.#request = request
    this.#options = options
  }

  async next(): Promise<IteratorResult<StreamPiece>> {
    if (this.#isEnded) return { done: true, value: undefined }
    if (this.#current === undefined) {
      if (this.#delayMs > 0) await this.#sleep(this.#delayMs)
      this.#current = this.#start()
    }
    const result = await this.#current.next()
    if (result.done === true || result.value.kind !== 'end') return result
    return { done: false, value: await this.#judgeTry(result.value) }
  }

  async return(): Promise<IteratorResult<StreamPiece>> {
    this.#isEnded = true
    await this.#current?.return?.()
    return { done: true, value: undefined }
  }

  #start(): AsyncIterator<StreamPiece> {
    this.#tries++
    const { purpose, signal, isFresh } = this.#options
    const stream = this.#model.stream(this.#request, {
      purpose,
      signal,
      deadlines: this.#deadlines(),
      ...(isFresh && { isFresh }),
    })
    return stream[Symbol.asyncIterator]()
  }

  async #judgeTry(end: EndPiece): Promise<StreamPiece> {
    this.#said = end.reply ?? this.#said
    this.#usage = sum(this.#usage, end.usage)
    const { outcome } = end
    const decision = await this.#decide(end)
    if (decision.kind === 'stop' || decision.kind === 'renew') {
      this.#isEnded = true
      return { ...end, reply: this.#said, ...(this.#usage !== undefined && { usage: this.#usage }) }
    }
    this.#current = undefined
    this.#delayMs = 0
    if (decision.kind === 'again') {
      this.#delayMs = decision.delayMs
      if (decision.isFresh) this.#freshTries++
    } else {
      this.#route++
      this.#tries = 0
      this.#freshTries = 0
      this.#hasRenewed = false
    }
    const route = this.#model.route.name
    return { kind: 'retry', after: outcome, delayMs: this.#delayMs, route }
  }

  async #decide({ outcome }: EndPiece): Promise<Decision> {
    const decision = decideRetry({
      outcome,
      tries: this.#tries,
      freshTries: this.#freshTries,
      hasRenewed: this.#hasRenewed,
      routesLeft: this.#routesLeft,
      remainingMs: this.#remainingMs(),
      chance: this.#options.random(),
    })
    if (decision.kind !== 'renew') return decision
    this.#hasRenewed = true
    return (await this.#renew()) ? { kind: 'again', delayMs: 0 } : { kind: 'stop' }
  }

  /**
   * Whether there is another credential. A command that fetches one may take long; if there is no
   * time for it, the next try ends at once with the reason.
   */
  async #renew(): Promise<boolean> {
    let isWorthATry = true
    const renewal = this.#model.renew().then((isAnother) => {
      isWorthATry = isAnother
    })
    await this.#sleep(this.#remainingMs(), renewal)
    return isWorthATry
  }

  get #model(): Model {
    return this.#models[this.#route] ?? this.#models[0]
  }

  get #routesLeft(): number {
    return this.#models.length - 1 - this.#route
  }

  #deadlines(): Deadlines {
    return splitDeadlines(this.#options.deadlines, {
      remainingMs: this.#remainingMs(),
      freshTries: this.#freshTries,
      routesLeft: this.#routesLeft,
    })
  }

  #remainingMs(): number {
    const now = this.#options.clock.monotonic()
    this.#endsAt ??= now + this.#options.deadlines.totalMs
    return Math.max(0, this.#endsAt - now)
  }

  /** An interrupt ends the wait; the next attempt then ends at once as interrupted. */
  #sleep(delayMs: number, sooner?: Promise<void>): Promise<void> {
    const { clock, signal } = this.#options
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => {
      callOff()
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const callOff = clock.after(delayMs, wake)
    void sooner?.then(wake, wake)
    if (signal.aborted) wake()
    else signal.addEventListener('abort', wake, { once: true })
    return promise
  }
}

function sum(a: CallUsage | undefined, b: CallUsage | undefined): CallUsage | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const add = (key: keyof CallUsage) => (a[key] ?? 0) + (b[key] ?? 0)
  return {
    inputTokens: add('inputTokens'),
    outputTokens: add('outputTokens'),
    cacheReadTokens: add('cacheReadTokens'),
    cacheWriteTokens: add('cacheWriteTokens'),
    reasoningTokens: add('reasoningTokens'),
    ...(a.cost !== undefined && b.cost !== undefined && { cost: a.cost + b.cost }),
  }
}
