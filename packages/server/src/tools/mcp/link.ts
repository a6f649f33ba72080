import type { JsonObject } from '#core/base/json'
import type { ToolAnswer } from '../tool.ts'
import { shortText } from './clean-text.ts'
import type { ConnectionParts, Described, McpConnection } from './connection.ts'
import type { McpServerConfig } from './server-config.ts'
import { explainFailure, type McpServerFailure, serverText } from './server-failure.ts'

/**
 * One server for as long as it is configured. It is `starting` until its tools are known, then
 * `ready`; when it ends, does not start, or no longer answers, it is `down` and is started again
 * after a pause that doubles from one second to a minute. After a minute of uptime the pause starts
 * short again. While the server is down its tools stay listed, and calls report that it is down.
 */
export interface LinkParts extends ConnectionParts {
  /** The tools may have changed. */
  readonly onChange: () => void
  readonly onState: (fact: { readonly state: 'ready' | 'down'; readonly reason: string }) => void
}

type State =
  | { readonly kind: 'new' | 'closed' }
  | { readonly kind: 'starting'; readonly attempt: Promise<void> }
  | { readonly kind: 'ready'; readonly connection: McpConnection; readonly since: number }
  | { readonly kind: 'down'; readonly cancel: () => void }

const PAUSE_MS = 1_000
const PAUSE_MS_MAX = 60_000
const STEADY_MS = 60_000
/** Unanswered calls in a row before the server counts as hung. */
const SILENT_CALLS_MAX = 3
const CALLS_MAX = 32
/** Beyond this the runner itself would end the call. */
const CALL_TOTAL_MS = 115_000
/** The shortest time between two reloads of a list that keeps changing. */
const LIST_PAUSE_MS = 5_000

/** With the first server only: the SDK and its schemas were a fifth of the start of every command. */
const loadConnection = async () => await import('./connection.ts')
const loadErrors = async () => await import('./sdk-errors.ts')

export class ServerLink {
  readonly name: string
  readonly terms: McpServerConfig
  readonly #parts: LinkParts
  #state: State = { kind: 'new' }
  #known: { readonly tools: readonly Described[]; readonly hasResources: boolean } = {
    tools: [],
    hasResources: false,
  }
  #failure: McpServerFailure | null = null
  #failures = 0
  #calls = 0
  #silentCalls = 0
  #isListing = false
  #listAgain = false
  readonly #closing = new AbortController()

  constructor(name: string, terms: McpServerConfig, parts: LinkParts) {
    this.name = name
    this.terms = terms
    this.#parts = parts
  }

  /** As last listed. */
  get known() {
    return this.#known
  }

  /** Why it does not run, in our own words; null: it runs, or is starting for the first time. */
  get failure(): string | null {
    return this.#failure?.reason ?? null
  }

  /** Resolves when the first attempt has succeeded or failed. */
  async start(): Promise<void> {
    if (this.#state.kind === 'new') this.#begin()
    if (this.#state.kind === 'starting') await this.#state.attempt
  }

  async call(
    method: string,
    params: JsonObject,
    { signal, read }: { signal: AbortSignal; read: (result: JsonObject) => ToolAnswer },
  ): Promise<ToolAnswer> {
    const { clock } = this.#parts
    if (this.#calls >= CALLS_MAX) {
      return failure(
        `The server ${this.name} works on ${CALLS_MAX} calls already. Wait, then retry.`,
      )
    }
    this.#calls += 1
    let progress = ''
    const startedAt = clock.monotonic()
    try {
      // Calls wait for the first start only; a server that failed before may fail again.
      if (this.#state.kind === 'starting' && this.#failure === null) {
        await orAborted(this.#state.attempt, signal)
      }
      if (signal.aborted) return INTERRUPTED
      const state = this.#state as State
      if (state.kind !== 'ready') return failure(this.#absence())
      const result = await state.connection.request(method, params, {
        signal,
        silenceMs: this.terms.callMs,
        totalMs: CALL_TOTAL_MS,
        onProgress: (words) => {
          progress = words
        },
      })
      this.#silentCalls = 0
      return read(result)
    } catch (error) {
      if (signal.aborted) return INTERRUPTED
      const { isTimeoutError, isRefusal } = await loadErrors()
      if (isTimeoutError(error)) {
        this.#noteSilence()
        const seconds = Math.round((clock.monotonic() - startedAt) / 1_000)
        const last = progress === '' ? '' : ` It last said: ${shortText(progress, 200)}.`
        return failure(
          `The server ${this.name} did not answer within ${seconds} s.${last} It may have had its effect.`,
        )
      }
      if (isRefusal(error)) {
        return failure(`The server ${this.name} refused: ${serverText(error)}`)
      }
      return failure(this.#explain(error))
    } finally {
      this.#calls -= 1
    }
  }

  /** May be called twice. */
  async close(): Promise<void> {
    const state = this.#state
    this.#state = { kind: 'closed' }
    this.#closing.abort()
    if (state.kind === 'down') state.cancel()
    if (state.kind === 'ready') await state.connection.close()
    if (state.kind === 'starting') await state.attempt
  }

  kill(): void {
    if (this.#state.kind === 'ready') this.#state.connection.kill()
  }

  #begin(): void {
    this.#state = { kind: 'starting', attempt: this.#open() }
  }

  async #open(): Promise<void> {
    let connection: McpConnection
    // It ended while it was still starting.
    let ended: McpServerFailure | null = null
    let isOpened = false
    try {
      const { openConnection } = await loadConnection()
      connection = await openConnection(this.terms, this.#parts, {
        signal: this.#closing.signal,
        onEnd: (failure) => {
          ended = failure
          if (isOpened) this.#goDown(failure)
        },
        onListChanged: () => void this.#listLater(),
      })
    } catch (error) {
      const { failureOf } = await loadErrors()
      return this.#goDown(failureOf(error))
    }
    isOpened = true
    if (this.#state.kind === 'closed') return await connection.close()
    if (ended !== null) return this.#goDown(ended)
    const { tools, hasResources } = connection
    this.#state = { kind: 'ready', connection, since: this.#parts.clock.monotonic() }
    this.#silentCalls = 0
    this.#failure = null
    this.#parts.onState({ state: 'ready', reason: `${tools.length} tools` })
    this.#learn({ tools, hasResources })
  }

  #goDown(failure: McpServerFailure): void {
    const state = this.#state
    if (state.kind === 'closed' || state.kind === 'down') return
    const { clock, onState } = this.#parts
    const isSteady = state.kind === 'ready' && clock.monotonic() - state.since >= STEADY_MS
    this.#failures = isSteady ? 1 : this.#failures + 1
    const pauseMs = Math.min(PAUSE_MS * 2 ** (this.#failures - 1), PAUSE_MS_MAX)
    const cancel = clock.after(pauseMs, () => this.#begin())
    this.#state = { kind: 'down', cancel }
    this.#failure = failure
    onState({ state: 'down', reason: failure.reason })
  }

  /** A server that no longer answers is ended and restarted. */
  #noteSilence(): void {
    this.#silentCalls += 1
    const state = this.#state
    if (this.#silentCalls < SILENT_CALLS_MAX || state.kind !== 'ready') return
    const reason = `it left ${this.#silentCalls} calls in a row without an answer`
    this.#goDown({ reason, words: '' })
    state.connection.kill()
    void state.connection.close()
  }

  async #listLater(): Promise<void> {
    if (this.#isListing) {
      this.#listAgain = true
      return
    }
    const state = this.#state
    if (state.kind !== 'ready') return
    this.#isListing = true
    this.#listAgain = false
    try {
      const tools = await state.connection.listTools()
      this.#learn({ tools, hasResources: this.#known.hasResources })
    } catch {
      // The earlier list stays valid; a lost server is noticed elsewhere.
    }
    this.#parts.clock.after(LIST_PAUSE_MS, () => {
      this.#isListing = false
      if (this.#listAgain) void this.#listLater()
    })
  }

  #learn(known: ServerLink['known']): void {
    if (this.#state.kind === 'closed') return
    const isSame = JSON.stringify(known) === JSON.stringify(this.#known)
    this.#known = known
    if (!isSame) this.#parts.onChange()
  }

  #absence(): string {
    const reason = this.#failure === null ? '' : ` (${explainFailure(this.#failure)})`
    return `The server ${this.name} is not running${reason}; nothing was done. It is started again soon.`
  }

  #explain(error: unknown): string {
    const reason = this.#failure === null ? serverText(error) : explainFailure(this.#failure)
    return `The call to the server ${this.name} failed: ${reason}. It may have had its effect.`
  }
}

const INTERRUPTED: ToolAnswer = {
  outcome: 'interrupted',
  output: 'Stopped. It may have had its effect.',
}

function failure(output: string): ToolAnswer {
  return { outcome: 'error', output }
}

async function orAborted(attempt: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  signal.addEventListener('abort', () => resolve(), { once: true })
  await Promise.race([attempt, promise])
}
