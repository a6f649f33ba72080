import { createRequire } from 'node:module'
import type { Pool as UndiciPool } from 'undici'
import type { Environment } from '../routes/credential.ts'
import { proxyFor } from './outbound-proxy.ts'

/**
 * The connections to model servers, owned by us and lent out. Each route and purpose has its own
 * line (one undici dispatcher), so that a title never waits for a summary.
 *
 * A line is *current* while new loans get it. It is checked on every hit: a closed one is replaced.
 * Evicting it (a timeout, a reset, an abort in silence, a dispatcher that died) removes it from the
 * pool at once, so no new loan gets it; it is destroyed when its last loan is returned, so no other
 * stream is cut. A loan is returned exactly once, however often it is released.
 */
export class Pool {
  readonly #open: OpenDispatcher
  readonly #environment: Environment
  readonly #current = new Map<string, Line>()
  readonly #leaving = new Set<Promise<void>>()
  readonly #retired = new Set<Line>()
  #opened = 0
  #evicted = 0
  #closed = false

  /** The environment may name a proxy; only the outermost folders read it. */
  constructor(
    options: { readonly open?: OpenDispatcher; readonly environment?: Environment } = {},
  ) {
    this.#open = options.open ?? openDispatcher
    this.#environment = options.environment ?? {}
  }

  /** The number of lines opened so far, for tests and metrics. */
  get opened(): number {
    return this.#opened
  }

  /** The number of lines dropped: broken, or the least recently used of too many. */
  get evicted(): number {
    return this.#evicted
  }

  /** The number of open lines, including those that wait for their last loan. */
  get lines(): number {
    return this.#current.size + this.#retired.size
  }

  /**
   * A closed pool lends a closed connection, whose first use fails. Throws `ProxyError` if the
   * environment names an invalid proxy.
   */
  loan({ origin, route, purpose, isFresh }: LoanRequest): ConnectionLoan {
    const key = JSON.stringify([origin, route, purpose])
    let line = this.#current.get(key)
    if (line !== undefined && (isFresh || !isAlive(line.dispatcher))) {
      this.#retire(line)
      line = undefined
    }
    line ??= this.#openLine(key, origin)
    // Moved to the end: the first line is the least recently used.
    this.#current.delete(key)
    this.#current.set(key, line)
    line.loans++
    if (this.#closed) this.#destroy(line)
    this.#trim()
    return this.#lend(line)
  }

  /** Cuts off running calls. May be called twice. */
  async close(): Promise<void> {
    this.#closed = true
    for (const line of [...this.#current.values(), ...this.#retired]) this.#destroy(line)
    await Promise.all(this.#leaving)
  }

  #openLine(key: string, origin: string): Line {
    const proxy = proxyFor(origin, this.#environment)
    const dispatcher = this.#open(origin, proxy)
    return { key, number: ++this.#opened, dispatcher, isProxied: proxy !== undefined, loans: 0 }
  }

  #lend(line: Line): ConnectionLoan {
    let isOut = true
    return {
      line: line.number,
      isProxied: line.isProxied,
      dispatcher: line.dispatcher,
      evict: () => this.#retire(line),
      release: () => {
        if (!isOut) return
        isOut = false
        line.loans--
        if (line.loans === 0 && this.#retired.has(line)) this.#destroy(line)
      },
    }
  }

  #retire(line: Line): void {
    if (this.#current.get(line.key) !== line) return
    this.#evicted++
    this.#current.delete(line.key)
    this.#retired.add(line)
    if (line.loans === 0) this.#destroy(line)
  }

  #destroy(line: Line): void {
    if (this.#current.get(line.key) === line) this.#current.delete(line.key)
    this.#retired.delete(line)
    const leaving = line.dispatcher
      .destroy()
      .catch(() => {})
      .finally(() => this.#leaving.delete(leaving))
    this.#leaving.add(leaving)
  }

  #trim(): void {
    if (this.#current.size <= LINES_MAX) return
    const unused = this.#current.values().find((line) => line.loans === 0)
    if (unused !== undefined) this.#retire(unused)
  }
}

export interface LoanRequest {
  readonly origin: string
  /** The name of the model route. */
  readonly route: string
  readonly purpose: string
  /** Requests a fresh line and retires the current one. */
  readonly isFresh?: true
}

export interface ConnectionLoan {
  /** The number of the line, never reused. */
  readonly line: number
  /** If so, a failed connection is the one to the proxy, not to the server. */
  readonly isProxied: boolean
  readonly dispatcher: ModelConnection
  /** No new loan may get this line. */
  evict(): void
  release(): void
}

/** A dispatcher with one origin, as undici's `Pool` is. */
export type ModelConnection = Pick<UndiciPool, 'dispatch' | 'destroy' | 'closed' | 'destroyed'>
export type OpenDispatcher = (origin: string, proxy?: string) => ModelConnection

interface Line {
  readonly key: string
  readonly number: number
  readonly dispatcher: ModelConnection
  readonly isProxied: boolean
  loans: number
}

// A busy host has a few dozen combinations of route and purpose; beyond this the least recently
// used one is closed.
const LINES_MAX = 512

function isAlive({ closed, destroyed }: ModelConnection): boolean {
  return !closed && !destroyed
}

const CONNECT_MS_MAX = 60_000
// Providers close idle connections after a minute or more; ours go first.
const KEEP_ALIVE_MS = 20_000

const SETTINGS = {
  // Our own clocks end calls; this one only bounds an abandoned connection.
  connect: { timeout: CONNECT_MS_MAX },
  headersTimeout: 0,
  bodyTimeout: 0,
  // With HTTP/2 an abort ends only the stream and keeps the connection, which may be the broken
  // part.
  allowH2: false,
  pipelining: 1,
  keepAliveTimeout: KEEP_ALIVE_MS,
} as const

const require = createRequire(import.meta.url)

/** Takes 80 ms the first time, so a server calls it at startup and not in the first turn. */
export function loadConnections(): typeof import('undici') {
  return require('undici')
}

/**
 * How the pool opens a line by default. Loads undici on demand, because most commands call no
 * model.
 */
export function openDispatcher(origin: string, proxy?: string): ModelConnection {
  const { Pool, ProxyAgent } = loadConnections()
  if (proxy === undefined) return new Pool(origin, SETTINGS)
  const { connect, ...settings } = SETTINGS
  const agent = new ProxyAgent({
    ...settings,
    uri: proxy,
    connectTimeout: connect.timeout,
    // Unencrypted requests to a proxy would otherwise use undici's own timeouts.
    factory: (each, options) => new Pool(each, { ...options, ...settings }),
  })
  // Every undici dispatcher has these properties; the types declare them for some only.
  return agent as typeof agent & ModelConnection
}
