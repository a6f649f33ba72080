import { randomUUID } from 'node:crypto'
import type { Clock } from '#core/base/clock'
import type { JsonValue } from '#core/base/json'
import type { ReportedError } from '#core/message/dialects/provider-error'
import type { AssistantMessage, Message, OpaquePart } from '#core/message/message'
import { Exchange } from './calls/exchange.ts'
import type { Pool } from './connections/pool.ts'
import { PieceQueue } from './connections/queue.ts'
import type {
  CallOptions,
  EndPiece,
  Model,
  ModelRequest,
  ModelStream,
  StreamPiece,
} from './model.ts'
import { judgeCall } from './outcomes/judge.ts'
import type { MalformedReason, Outcome } from './outcomes/outcome.ts'
import { PROTOCOLS } from './protocols/all.ts'
import { type Collector, type ModelProtocol, splice } from './protocols/protocol.ts'
import type { ProviderName } from './providers/names.ts'
import { openProvider } from './providers/open.ts'
import type { ProviderPart, ProviderStream } from './providers/provider.ts'
import { withoutPrivateAddresses } from './routes/addresses.ts'
import type { Credentials } from './routes/credential.ts'
import type { ModelRoute } from './routes/route.ts'
import { capabilitiesOf } from './routes/windows.ts'

/** What all models of a process share. */
export interface ModelDependencies {
  readonly pool: Pool
  readonly credentials: Credentials
  readonly clock: Clock
}

type FinishPart = Extract<ProviderPart, { kind: 'finish' }>

const OPENING_MS_MAX = 50

// The other packages pass on each raw event at little cost. Anthropic's sends it through two more
// streams, which took 40% of a call (profiled, 20,000 tokens); parsing it twice takes 10%.
const OFF_THE_WIRE: readonly ProviderName[] = ['anthropic']

/** A model behind a provider's package. */
export function openModel(route: ModelRoute, deps: ModelDependencies): Model {
  const { credentials } = deps
  let used: string | undefined
  const readCredential = async () => {
    used = await credentials.read(route.credential)
    return used
  }
  return {
    route,
    stream: (request, options): ModelStream => ({
      [Symbol.asyncIterator]: () => new Try(route, { request, options, deps, readCredential }),
    }),
    renew: () => credentials.renew(route.credential, used),
  }
}

interface TryParts {
  readonly request: ModelRequest
  readonly options: CallOptions
  readonly deps: ModelDependencies
  readonly readCredential: () => Promise<string>
}

/**
 * One attempt. *new* until the first piece is read; *running* while the request is made and the
 * answer is read; *ended* when `end` is in the queue. The provider's package is waited for only as
 * long as the exchange lives: an abort or a deadline ends the opening at once, whatever the package
 * is doing.
 */
class Try implements AsyncIterator<StreamPiece> {
  readonly #route: ModelRoute
  readonly #request: ModelRequest
  readonly #options: CallOptions
  readonly #deps: ModelDependencies
  readonly #readCredential: () => Promise<string>
  readonly #protocol: ModelProtocol
  readonly #collector: Collector
  readonly #pieces = new PieceQueue()
  readonly #placeholder = `throughline-${randomUUID()}`
  #exchange: Exchange | undefined
  #stream: ProviderStream | undefined
  #finish: FinishPart | undefined
  #complaint: ReportedError | undefined
  #fault: MalformedReason | undefined
  #key: string | undefined
  readonly #charactersMax: number
  #characters = 0

  constructor(route: ModelRoute, { request, options, deps, readCredential }: TryParts) {
    this.#route = route
    this.#request = { ...request, messages: withoutPrivateAddresses(request.messages) }
    this.#options = options
    this.#deps = deps
    this.#readCredential = readCredential
    this.#protocol = PROTOCOLS[route.provider]
    this.#collector = this.#protocol.collector()
    this.#charactersMax = charactersMax(outputLimit(route, request.outputTokensMax))
  }

  next(): Promise<IteratorResult<StreamPiece>> {
    if (this.#exchange === undefined) {
      const exchange = this.#openExchange()
      this.#exchange = exchange
      this.#run(exchange).catch(() => this.#giveUp(exchange))
    }
    return this.#pieces.next()
  }

  async return(): Promise<IteratorResult<StreamPiece>> {
    this.#pieces.close()
    this.#exchange?.abort('consumer')
    this.#stream?.cancel()
    return { done: true, value: undefined }
  }

  async #run(exchange: Exchange): Promise<void> {
    const credential = await orOver(this.#readCredential(), exchange)
    this.#key = credential
    if (credential === undefined && !exchange.isOver) {
      this.#end(exchange, { kind: 'refused', refusal: 'no-credential' })
      return
    }
    if (hasForeignItems(this.#request.messages, this.#route)) {
      void this.#pieces.push({ kind: 'note', code: 'foreign-items-dropped' })
    }
    if (credential !== undefined) this.#stream = await this.#open(exchange, credential)
    await this.#stream?.run((part) => this.#take(part))
    this.#end(exchange)
  }

  #openExchange(): Exchange {
    const { pool, clock } = this.#deps
    const { purpose, signal, deadlines, isFresh } = this.#options
    const line = { route: this.#route.name, purpose, ...(isFresh && { isFresh }) }
    return new Exchange({
      baseUrl: this.#route.baseUrl,
      signal,
      deadlines,
      clock,
      loan: (origin) => pool.loan({ origin, ...line }),
      ...(OFF_THE_WIRE.includes(this.#route.provider) && {
        take: (event: JsonValue) => this.#collect(event),
      }),
      prepare: (body) =>
        splice(body, {
          placeholder: this.#protocol.placeholder(this.#placeholder),
          members: this.#protocol.writeMembers(this.#request, this.#route),
        }),
    })
  }

  async #open(exchange: Exchange, credential: string): Promise<ProviderStream | undefined> {
    const outputTokensMax = outputLimit(this.#route, this.#request.outputTokensMax)
    const { effort = this.#route.effort } = this.#request
    const { cacheKey, compaction } = this.#request
    const opening = openProvider({
      route: this.#route,
      credential,
      placeholder: this.#placeholder,
      fetch: exchange.fetch as typeof fetch,
      headers: this.#protocol.headers?.(this.#request) ?? {},
      tools: this.#request.tools ?? [],
      wantsEvents: !OFF_THE_WIRE.includes(this.#route.provider),
      ...(outputTokensMax !== undefined && { outputTokensMax }),
      ...(effort !== undefined && { effort }),
      ...(cacheKey !== undefined && { cacheKey }),
      ...(compaction !== undefined && { compaction }),
    })
    return await this.#whileAlive(opening, exchange)
  }

  /**
   * The stream; undefined if the exchange was aborted and the package does not notice. The package
   * gets a short time to notice, because it may hold text that arrived just before.
   */
  async #whileAlive(
    opening: Promise<ProviderStream>,
    exchange: Exchange,
  ): Promise<ProviderStream | undefined> {
    const { promise: tooLate, resolve } = Promise.withResolvers<undefined>()
    let callOff = () => {}
    void exchange.over.then(() => {
      if (exchange.record.abortedBy === undefined) return
      callOff = this.#deps.clock.after(OPENING_MS_MAX, () => resolve(undefined))
    })
    const stream = await Promise.race([opening, tooLate])
    callOff()
    if (stream === undefined) void opening.then((late) => late.cancel())
    return stream
  }

  #collect(event: JsonValue): void {
    try {
      const value = this.#collector.take(event)
      if (value !== undefined) void this.#pieces.push({ kind: 'item', value })
    } catch {
      // This may be called from the socket, where no caller would catch an error.
      this.#fault ??= 'unparsable'
    }
    if (this.#collector.size > this.#charactersMax + ITEMS_MAX) this.#exchange?.abort('too-large')
  }

  #take(part: ProviderPart): Promise<void> | undefined {
    switch (part.kind) {
      case 'event':
        this.#collect(part.event)
        return undefined
      case 'text':
      case 'reasoning':
        this.#count(part.text)
        return this.#pieces.push(part)
      case 'tool-input':
        this.#count(part.text)
        return undefined
      case 'note':
        return this.#pieces.push(part)
      case 'complaint':
        this.#complaint ??= part.complaint
        return undefined
      case 'unparsable':
        this.#fault ??= 'unparsable'
        return undefined
      case 'finish':
        this.#finish = part
        return undefined
    }
  }

  #count(text: string): void {
    this.#characters += text.length
    if (this.#characters > this.#charactersMax) this.#exchange?.abort('too-large')
  }

  #end(exchange: Exchange, known?: Outcome): void {
    const fault = this.#fault ?? this.#collector.fault
    const outcome =
      known ??
      judgeCall({
        wire: exchange.record,
        ...(this.#complaint !== undefined && { complaint: this.#complaint }),
        ...(fault !== undefined && { fault }),
        ...(this.#finish !== undefined && { end: this.#withOwnFinish(this.#finish) }),
        ...(this.#key !== undefined && { key: this.#key }),
        nowMs: this.#deps.clock.now(),
      })
    // Only after the outcome is decided, so that this close does not count as an interrupt.
    exchange.abort('consumer')
    const whole = this.#endPiece(outcome)
    const isFlood = callsOf(whole.reply).length > CALLS_MAX
    const end = isFlood ? this.#endPiece({ kind: 'malformed', what: 'too-large' }) : whole
    const calls = end.outcome.kind === 'finished' ? callsOf(end.reply) : []
    for (const call of calls) void this.#pieces.push(call)
    void this.#pieces.push(calls.length > 0 ? withCalls(end) : end)
  }

  #withOwnFinish(end: FinishPart): FinishPart {
    const { finish } = this.#collector
    return end.finish === 'broken' && finish !== undefined ? { ...end, finish } : end
  }

  /** Parsing the answer failed; the caller still gets an outcome. */
  #giveUp(exchange: Exchange): void {
    exchange.abort('consumer')
    this.#stream?.cancel()
    const outcome = { kind: 'malformed', what: 'unparsable' } as const
    void this.#pieces.push({ kind: 'end', outcome, reply: null })
  }

  #endPiece(outcome: Outcome): EndPiece {
    const said = this.#collector.message({ isWhole: outcome.kind === 'finished' })
    const usage = this.#finish?.usage ?? this.#collector.usage
    const contextTokens = this.#finish?.contextTokens ?? usage?.inputTokens
    const reply = said && {
      ...said,
      model: this.#route.model,
      ...(usage !== undefined && {
        usage: { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens },
      }),
    }
    return {
      kind: 'end',
      outcome,
      reply,
      ...(usage !== undefined && { usage }),
      ...(contextTokens !== undefined && { contextTokens }),
    }
  }
}

/**
 * Some servers end an answer with calls like any other, or with their own finish reason; all mean
 * `tool-calls`.
 */
function withCalls(end: EndPiece): EndPiece {
  const { outcome } = end
  const isPlain = outcome.kind === 'finished' && ['stop', 'other'].includes(outcome.finish)
  return isPlain ? { ...end, outcome: { kind: 'finished', finish: 'tool-calls' } } : end
}

function callsOf(reply: AssistantMessage | null): readonly StreamPiece[] {
  return (reply?.parts ?? []).flatMap((part): readonly StreamPiece[] => {
    if (part.type !== 'tool-call') return []
    const input = part.inputText ?? JSON.stringify(part.input)
    return [{ kind: 'call', id: part.id, name: part.name, input }]
  })
}

/**
 * Whether the conversation holds items that another provider made for itself, such as its own
 * compactions: this one cannot read them, and continues without their content.
 */
function hasForeignItems(messages: readonly Message[], { provider }: ModelRoute): boolean {
  return messages.some(
    (message) =>
      message.role === 'assistant' &&
      message.parts.some((part) => part.type === 'opaque' && part.provider !== ITEMS[provider]),
  )
}

const ITEMS: { readonly [provider in ProviderName]: OpaquePart['provider'] | null } = {
  'openai-chat': null,
  'openai-compatible': null,
  'openai-responses': 'openai',
  codex: 'openai',
  anthropic: 'anthropic',
  google: 'google',
}

/** The value; undefined if it fails or is late. */
async function orOver<Value>(
  value: Promise<Value>,
  exchange: Exchange,
): Promise<Value | undefined> {
  return await Promise.race([value.catch(() => undefined), exchange.over.then(() => undefined)])
}

/** At most the model's own output limit: most providers refuse a larger value. */
function outputLimit(route: ModelRoute, asked: number | undefined): number | undefined {
  const { outputTokensMax } = capabilitiesOf(route)
  if (asked !== undefined) return Math.min(asked, outputTokensMax ?? asked)
  // Anthropic requires a limit. A high one counts against the window, used or not.
  return route.provider === 'anthropic' ? Math.min(outputTokensMax ?? 4_096, 20_000) : undefined
}

/**
 * What follows an answer (its title, its storage, the next request) takes time with its length, on
 * the event loop of all sessions. A token has four to five characters; servers that know no limit of
 * tokens write more than they were asked for.
 */
function charactersMax(outputTokensMax = OUTPUT_TOKENS_MAX): number {
  return Math.max(CHARACTERS_MIN, CHARACTERS_PER_TOKEN * outputTokensMax)
}

// No model writes more in one answer.
const OUTPUT_TOKENS_MAX = 128_000
const CHARACTERS_PER_TOKEN = 32
const CHARACTERS_MIN = 256 * 1024
// Besides words: images, signatures, encrypted reasoning and other items that only the provider reads.
const ITEMS_MAX = 16 * 1024 * 1024
// Each call is a result of its own in the next request. Models make a few at a time.
const CALLS_MAX = 1_000
