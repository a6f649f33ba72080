import { randomUUID } from 'node:crypto'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { openMemoryStore } from '../../packages/core/src/store/memory/open.ts'
import { mintToken, type Tokens } from '../../packages/server/src/gateway/http/access/access.ts'
import { type HttpOptions, serveHttp } from '../../packages/server/src/gateway/http/serve.ts'
import { routesSchema } from '../../packages/server/src/model/routes/routes.ts'
import { type LocalRuntime, openRuntime } from '../../packages/server/src/runtime/open-runtime.ts'
import {
  type StandIn,
  type StandInOptions,
  standIn,
} from '../../packages/server/src/stand-in/index.ts'

/** A whole product in one process: a store, the stand-in model, a runtime, and HTTP before it. */
export interface Place {
  readonly url: string
  readonly store: Store
  readonly runtime: LocalRuntime
  readonly model: StandIn
  readonly call: (path: string, init?: Init) => Promise<Answered>
  /** A session of the agent `main`. */
  readonly make: () => Promise<string>
  readonly close: () => Promise<void>
}

export interface Init {
  readonly method?: string
  /** A string is sent as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of many forms
  readonly json: any
}

export interface PlaceOptions extends Partial<Omit<HttpOptions, 'runtime'>> {
  readonly model?: StandInOptions
  readonly windowTokens?: number
  readonly mailMax?: { readonly lane: number; readonly source: number }
  readonly runs?: boolean
  readonly store?: Store
  readonly auxiliary?: Parameters<typeof openRuntime>[0]['auxiliary']
}

export async function openPlace(options: PlaceOptions = {}): Promise<Place> {
  const { model: modelOptions, windowTokens = 200_000, mailMax, runs = true, ...rest } = options
  const { auxiliary, ...http } = rest
  const store = options.store ?? openMemoryStore()
  const model = standIn(modelOptions)
  const running = await model.start()
  const main = {
    provider: 'openai-chat',
    baseUrl: `${running.url}/v1`,
    credential: { kind: 'none' },
    model: 'stand-in',
    windowTokens,
  }
  const agent = {
    name: 'main',
    system: 'You help.',
    routes: routesSchema.parse({ main }),
    ...(mailMax !== undefined && { mailMax }),
  }
  const runtime = await openRuntime({
    ...{ store, agents: [agent], runs },
    ...(auxiliary !== undefined && { auxiliary }),
  })
  const server = await serveHttp({ runtime, ...http })
  const { url } = server
  return {
    url,
    store,
    runtime,
    model,
    call: (path, init = {}) => call(url, path, init),
    async make() {
      const id = `s-${randomUUID()}`
      await runtime.createSession({ agent: 'main', id })
      return id
    },
    async close() {
      await server.close()
      await runtime.close()
      await store.close()
      await running.close()
    },
  }
}

async function call(url: string, path: string, init: Init): Promise<Answered> {
  const { body, headers, ...rest } = init
  const response = await fetch(url + path, {
    ...rest,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
  })
  const text = await response.text()
  const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '')
  const json = isJson ? JSON.parse(text) : undefined
  return { status: response.status, headers: response.headers, text, json }
}

/** Tokens as a store keeps them. */
export function tokensOf(...minted: readonly ReturnType<typeof mintToken>[]): Tokens {
  const records = minted.map(({ record }) => record)
  return {
    listTokens: async () => records,
    findToken: async ({ hash }) => records.find((record) => record.hash === hash),
  }
}

export function tokenFor(...scopes: readonly string[]): ReturnType<typeof mintToken> {
  const id = `t${randomUUID().slice(0, 8)}`
  return mintToken({ id, scopes, label: 'test', now: Date.now() })
}

export const bearer = ({ text }: { readonly text: string }) => ({ authorization: `Bearer ${text}` })
