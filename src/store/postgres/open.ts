import type { RunnerId, SessionId } from '../../base/ids.ts'
import type { CommitVerb, OutcomeOf, ReadVerb, RequestOf, Store } from '../contract.ts'
import { StoreClosedError, StoreRefusedError } from '../errors.ts'
import { type AnswerOf, type Engine, type QueryOf, storeOver } from '../facade.ts'
import type { Change } from '../rules/ruling.ts'
import { type Committed, commitVerb } from './commit.ts'
import { type ConnectionOptions, Connections, newClient, placeOf } from './connections.ts'
import { ServerFailure, translate } from './failure.ts'
import { postgresReads } from './reads.ts'
import { migrate } from './schema.ts'
import { indexSome, unindexedSessions } from './search.ts'
import { Watch } from './watch.ts'

export interface PostgresOptions {
  /** Everything of a store lives in one schema, which is made when it is not there. */
  readonly schema?: string
  /** At most so many connections of this process, and one more while the store is watched. */
  readonly connections?: number
  /** How long a call waits for a connection, a lock or a server that is restarting. */
  readonly busyMs?: number
  /** How long the server works on one statement before it gives up. */
  readonly statementMs?: number
  /** How often other processes' commits are looked for; notifications usually come sooner. */
  readonly pollMs?: number
}

// 13 processes with 6 + 1 connections stay below the 100 that a server allows by default.
const DEFAULTS = {
  schema: 'throughline',
  connections: 6,
  busyMs: 5_000,
  statementMs: 10_000,
  pollMs: 1_000,
}
/** Indexing waits until appends have paused for so long. */
const INDEX_DELAY_MS = 100

/**
 * Opens a store in a PostgreSQL database, or makes it: `postgres://user:password@host/database`, with
 * `sslmode` and the like as the driver knows them. Rejects when the server, the endpoint or the
 * schema is one that must not be written to. Needs connections of its own: behind a pooler that
 * hands them round between transactions, settings and notifications would go astray.
 */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Store> {
  const settings = { ...DEFAULTS, ...options, url }
  const place = placeOf(settings)
  const client = newClient(settings)
  try {
    await client.connect()
    await migrate(client, { place, schema: settings.schema })
  } catch (error) {
    throw error instanceof StoreRefusedError
      ? error
      : translate(new ServerFailure(error), place, settings.busyMs)
  } finally {
    await client.end().catch(() => {})
  }
  return storeOver(new PostgresEngine(settings, place))
}

class PostgresEngine implements Engine {
  readonly #settings: ConnectionOptions & { readonly pollMs: number }
  readonly #place: string
  readonly #connections: Connections
  readonly #reads
  readonly #watch: Watch
  readonly #listeners = new Set<() => void>()
  readonly #running = new Set<Promise<unknown>>()
  readonly #unindexed = new Set<SessionId>()
  #indexing: NodeJS.Timeout | undefined
  #closing: Promise<void> | undefined

  constructor(settings: ConnectionOptions & { readonly pollMs: number }, place: string) {
    this.#settings = settings
    this.#place = place
    this.#connections = new Connections(settings)
    this.#reads = postgresReads(this.#connections)
    this.#watch = new Watch(this.#connections, settings, () => this.#tell())
    void this.#follow(this.#findUnindexed())
  }

  async commit<Verb extends CommitVerb>(
    verb: Verb,
    request: RequestOf<Verb>,
  ): Promise<OutcomeOf<Verb>> {
    this.#checkOpen(verb)
    const { busyMs } = this.#settings
    const done = commitVerb(this.#connections, { verb, request }, { place: this.#place, busyMs })
    const committed = await this.#follow(done)
    if (committed.change !== undefined) this.#spread(verb, request, committed)
    return committed.outcome
  }

  async read<Verb extends ReadVerb>(verb: Verb, query: QueryOf<Verb>): Promise<AnswerOf<Verb>> {
    this.#checkOpen(verb)
    const started = performance.now()
    // The table is typed by verb; the compiler cannot follow the pair through the index.
    const read = this.#reads[verb] as (query: QueryOf<Verb>) => Promise<AnswerOf<Verb>>
    try {
      return await this.#follow(read(query))
    } catch (error) {
      throw translate(error, this.#place, performance.now() - started)
    }
  }

  async backup(to: string): Promise<void> {
    const problem = `a store on PostgreSQL is copied with the server's own tools: pg_dump --schema=${this.#settings.schema}, or a base backup.`
    throw new StoreRefusedError({ path: to, problem })
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.#watch.start()
    return () => this.#listeners.delete(listener)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    clearTimeout(this.#indexing)
    await this.#watch.close()
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
    await this.#connections.close()
  }

  /** What was accepted is finished before the store is closed. */
  #follow<Value>(work: Promise<Value>): Promise<Value> {
    const followed = work.finally(() => this.#running.delete(followed))
    this.#running.add(followed)
    return followed
  }

  /** What is to be done about a commit that is already safe. */
  #spread<Verb extends CommitVerb>(
    verb: Verb,
    request: RequestOf<Verb>,
    { outcome, change = {} }: Committed<Verb>,
  ): void {
    if (verb === 'registerRunner' && outcome.kind === 'done') {
      this.#watch.add((request as RequestOf<'registerRunner'>).id)
    }
    if (verb !== 'renew') this.#watch.notify(holdersOf(change))
    for (const { sessionId } of change.entries ?? []) this.#unindexed.add(sessionId)
    this.#indexSoon()
    this.#tell()
  }

  #indexSoon(): void {
    if (this.#unindexed.size === 0 || this.#closing !== undefined) return
    this.#indexing ??= setTimeout(() => {
      this.#indexing = undefined
      void this.#follow(this.#index())
    }, INDEX_DELAY_MS)
    this.#indexing.unref()
  }

  async #findUnindexed(): Promise<void> {
    try {
      for (const id of await unindexedSessions(this.#connections)) this.#unindexed.add(id)
    } catch {
      // Found again when the store is next opened, and read directly until then.
    }
    this.#indexSoon()
  }

  /** Behind the append path, a batch of each session in turn; what fails is left for later. */
  async #index(): Promise<void> {
    for (const id of [...this.#unindexed]) {
      if (this.#closing !== undefined) return
      this.#unindexed.delete(id)
      try {
        if (await indexSome(this.#connections, id)) this.#unindexed.add(id)
      } catch {
        // The server is away or gave up. Searches read directly what is not indexed.
      }
    }
    this.#indexSoon()
  }

  #tell(): void {
    for (const listener of this.#listeners) queueMicrotask(listener)
  }

  #checkOpen(verb: string): void {
    if (this.#closing !== undefined) throw new StoreClosedError({ verb })
  }
}

function holdersOf(change: Change): ReadonlySet<RunnerId | ''> {
  const holders = (change.sessions ?? []).map(({ after }) => after.runner ?? '')
  const freed = (change.runners ?? []).some(({ after }) => after === null)
  return new Set(freed ? [...holders, ''] : holders)
}
