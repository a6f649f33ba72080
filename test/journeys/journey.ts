import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { type HttpServer, serveHttp } from '../../packages/server/src/gateway/http/serve.ts'
import { routesSchema } from '../../packages/server/src/model/routes/routes.ts'
import type { Agent } from '../../packages/server/src/runtime/agent.ts'
import {
  type LocalRuntime,
  openRuntime,
  type RuntimeOptions,
} from '../../packages/server/src/runtime/open-runtime.ts'
import {
  type StandIn,
  type StandInOptions,
  standIn,
} from '../../packages/server/src/stand-in/index.ts'
import { Follower } from './follower.ts'

/** A product as its users meet it, over HTTP: it can be ended and started again on the same store. */
export interface Terms {
  readonly store?: 'memory' | 'sqlite'
  readonly model?: StandInOptions
  /** What the table says, whatever the model takes. */
  readonly windowTokens?: number
  readonly agent?: Partial<Pick<Agent, 'tools' | 'policy' | 'stepsMax' | 'system'>>
  readonly runtime?: Pick<
    RuntimeOptions,
    'settings' | 'lease' | 'seams' | 'clock' | 'auxiliary' | 'handoffThread'
  >
}

// biome-ignore lint/suspicious/noExplicitAny: answers of many forms are looked into
type Answer = { readonly status: number; readonly json: any }

/** What writes summaries, so that a fault can be aimed at them alone. */
export const SUMMARIES = 'stand-in-summaries'

const NO_BODY = Symbol('posted without a body')

export class Journey {
  readonly store: Store
  readonly model: StandIn
  readonly #terms: Terms
  readonly #modelUrl: string
  readonly #closers: (() => void | Promise<void>)[]
  #runtime: LocalRuntime | null = null
  #server: HttpServer | null = null
  #followers: Follower[] = []

  static async open(terms: Terms = {}): Promise<Journey> {
    const closers: (() => void | Promise<void>)[] = []
    const store = await openStore(terms, closers)
    const model = standIn(terms.model)
    const running = await model.start()
    closers.push(() => running.close())
    const journey = new Journey(terms, { store, model, modelUrl: running.url, closers })
    await journey.start()
    return journey
  }

  private constructor(
    terms: Terms,
    made: {
      store: Store
      model: StandIn
      modelUrl: string
      closers: (() => void | Promise<void>)[]
    },
  ) {
    this.#terms = terms
    this.store = made.store
    this.model = made.model
    this.#modelUrl = made.modelUrl
    this.#closers = made.closers
  }

  get runtime(): LocalRuntime {
    if (this.#runtime === null) throw new Error('It is not running.')
    return this.#runtime
  }

  get url(): string {
    if (this.#server === null) throw new Error('It is not running.')
    return this.#server.url
  }

  async start(): Promise<void> {
    this.#runtime = await openRuntime({
      store: this.store,
      agents: [this.agent],
      ...this.#terms.runtime,
    })
    const limits = { requestsPerMinute: 6_000_000, graceMs: 1_000 }
    this.#server = await serveHttp({ runtime: this.#runtime, limits })
  }

  /** In order, as at the end of a day. */
  async end(): Promise<void> {
    for (const follower of this.#followers) follower.close()
    this.#followers = []
    await this.#server?.close()
    await this.#runtime?.close()
    this.#server = null
    this.#runtime = null
  }

  async close(): Promise<void> {
    await this.end()
    for (const close of this.#closers.toReversed()) await close()
  }

  get agent(): Agent {
    const { agent, windowTokens = 200_000 } = this.#terms
    const route = {
      provider: 'openai-chat',
      baseUrl: `${this.#modelUrl}/v1`,
      credential: { kind: 'none' },
    }
    return {
      name: 'main',
      system: 'You help.',
      routes: routesSchema.parse({
        main: { ...route, model: 'stand-in', windowTokens },
        // Whatever is to be summarized fits into one call.
        auxiliary: { compaction: { ...route, model: SUMMARIES, windowTokens: 1_000_000 } },
      }),
      ...agent,
    }
  }

  async make(id = `s-${randomUUID()}`): Promise<string> {
    await this.call('/v1/sessions', { agent: 'main', id })
    return id
  }

  /** Acknowledged when this resolves; with the number of the mail. */
  async say(id: string, text: string, key: string = randomUUID()): Promise<number> {
    const { status, json } = await this.call(`/v1/sessions/${id}/messages`, { text }, key)
    if (status !== 202) throw new Error(`${status} ${JSON.stringify(json)}`)
    return json.mail
  }

  async ask(id: string, text: string): Promise<Answer['json']> {
    const path = `/v1/sessions/${id}/messages?wait=reply`
    return (await this.call(path, { text }, randomUUID())).json
  }

  async stop(id: string): Promise<void> {
    const { status } = await this.call(`/v1/sessions/${id}/stop`, NO_BODY, randomUUID())
    if (status !== 202) throw new Error(`The stop was answered with ${status}.`)
  }

  /** Posts what there is to post; asks where there is nothing. */
  async call(path: string, body?: unknown, key?: string): Promise<Answer> {
    const response = await fetch(this.url + path, {
      ...(body !== undefined && { method: 'POST' }),
      ...(body !== undefined && body !== NO_BODY && { body: JSON.stringify(body) }),
      headers: {
        ...(body !== undefined && body !== NO_BODY && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
    })
    return { status: response.status, json: await response.json() }
  }

  async follow(id: string): Promise<Follower> {
    const follower = await Follower.open(`${this.url}/v1/sessions/${id}/events`)
    this.#followers.push(follower)
    return follower
  }
}

async function openStore(
  { store }: Terms,
  closers: (() => void | Promise<void>)[],
): Promise<Store> {
  if (store !== 'sqlite') {
    const memory = openMemoryStore()
    closers.push(() => memory.close())
    return memory
  }
  const folder = mkdtempSync(join(tmpdir(), 'throughline-journey-'))
  closers.push(() => rmSync(folder, { recursive: true, force: true }))
  const sqlite = await openSqliteStore({ path: join(folder, 'store.db') })
  closers.push(() => sqlite.close())
  return sqlite
}
