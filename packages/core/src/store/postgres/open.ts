import type { RunnerId } from '../../base/ids.ts'
import type { CommitVerb, OutcomeOf, ReadVerb, RequestOf, Store } from '../contract.ts'
import { StoreClosedError, StoreRefusedError } from '../errors.ts'
import { type AnswerOf, type Engine, type QueryOf, storeOver } from '../facade.ts'
import { withAnchor } from '../integrity/anchor.ts'
import { hasWork } from '../rules/create-session.ts'
import type { StoreChange } from '../rules/ruling.ts'
import type { RunnerRow } from '../tables/rows.ts'
import { PostgresAnchor } from './anchor.ts'
import { type CommitResult, type CommitTerms, commitVerb } from './commit.ts'
import { queueOf, Turns } from './commit-queue.ts'
import {
  Connections,
  type LoanedClient,
  loadDriver,
  locationOf,
  type PostgresConnectionOptions,
} from './connections/connections.ts'
import type { PostgresDriver } from './connections/driver.ts'
import { translateServerError } from './connections/failure.ts'
import { Maintenance } from './maintenance.ts'
import { postgresReads } from './reads.ts'
import { migratePostgres, STORE_SCHEMA } from './schema.ts'
import { ChangeWatch } from './watch.ts'

export interface PostgresOptions {
  /** The package `pg` (its default export). Without it, the one installed beside this package. */
  readonly driver?: PostgresDriver
  /** The schema that contains the whole store; created if missing. */
  readonly schema?: string
  /** The maximum of connections of this process; watching the store takes one more. */
  readonly connections?: number
  /** How long a call waits for a connection, a lock or a server that is restarting. */
  readonly busyMs?: number
  /** How long the server may work on one statement. */
  readonly statementMs?: number
  /** How often to look for other processes' commits; notifications usually come sooner. */
  readonly pollMs?: number
  /**
   * A file on this host that records how far the store had come, to notice a restored older backup.
   */
  readonly anchorPath?: string
}

// 13 processes with 6 + 1 connections stay below the 100 that a server allows by default.
const DEFAULTS = {
  schema: STORE_SCHEMA,
  connections: 6,
  busyMs: 5_000,
  statementMs: 10_000,
  pollMs: 1_000,
}

/**
 * Opens or creates a store in a PostgreSQL database: `postgres://user:password@host/database`, with
 * `sslmode` and the driver's other options. Rejects if the server, the endpoint or the schema must
 * not be written to. Needs dedicated connections: with a transaction-mode pooler, settings and
 * notifications are lost.
 */
export async function openPostgres(url: string, options: PostgresOptions = {}): Promise<Store> {
  const place = locationOf({ schema: DEFAULTS.schema, ...options, url })
  const driver = await loadDriver(options.driver, place)
  const settings = { ...DEFAULTS, ...options, url, driver }
  const connections = new Connections(settings)
  const startedAt = performance.now()
  const { anchorPath } = settings
  let anchor: PostgresAnchor | undefined
  try {
    const loan = await connections.loan()
    try {
      await migratePostgres(loan, { place, schema: settings.schema })
    } finally {
      loan.end()
    }
    if (anchorPath !== undefined) anchor = await PostgresAnchor.open(connections, anchorPath, place)
  } catch (error) {
    await connections.close()
    throw translateServerError(error, place, performance.now() - startedAt)
  }
  const store = storeOver(new PostgresEngine(connections, settings, place, anchor))
  return anchorPath === undefined ? store : withAnchor(store, anchorPath)
}

class PostgresEngine implements Engine {
  readonly #settings: PostgresConnectionOptions & { readonly pollMs: number }
  readonly #place: string
  readonly #anchor: PostgresAnchor | undefined
  readonly #terms: CommitTerms
  readonly #connections: Connections
  readonly #reads
  readonly #watch: ChangeWatch
  readonly #house: Maintenance
  readonly #turns = new Turns()
  readonly #listeners = new Set<() => void>()
  readonly #running = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor(
    connections: Connections,
    settings: PostgresConnectionOptions & { readonly pollMs: number },
    place: string,
    anchor: PostgresAnchor | undefined,
  ) {
    this.#anchor = anchor
    this.#settings = settings
    this.#place = place
    const prove = async (loan: LoanedClient) => anchor?.prove(loan)
    this.#terms = { location: place, busyMs: settings.busyMs, prove }
    this.#connections = connections
    this.#reads = postgresReads(connections)
    this.#watch = new ChangeWatch(connections, settings, () => this.#tell())
    this.#house = new Maintenance(connections, () => anchor?.keep())
  }

  async commit<Verb extends CommitVerb>(
    verb: Verb,
    request: RequestOf<Verb>,
  ): Promise<OutcomeOf<Verb>> {
    this.#checkOpen(verb)
    const committed = await this.#follow(
      this.#turns.take(queueOf(request), () =>
        commitVerb(this.#connections, { verb, request }, this.#terms),
      ),
    )
    this.#anchor?.acknowledge(committed.change)
    if (verb === 'retireRunner') {
      void this.#watch.presence.remove((request as RequestOf<'retireRunner'>).runner)
    }
    if (committed.change !== undefined) this.#spread(verb, request, committed)
    return committed.outcome
  }

  async read<Verb extends ReadVerb>(verb: Verb, query: QueryOf<Verb>): Promise<AnswerOf<Verb>> {
    this.#checkOpen(verb)
    const started = performance.now()
    // The table is typed by verb, but the compiler cannot relate the verb to its query here.
    const read = this.#reads[verb] as (query: QueryOf<Verb>) => Promise<AnswerOf<Verb>>
    try {
      const answer = await this.#follow(read(query))
      if (verb !== 'listRunners') return answer
      const marked = this.#watch.presence.mark(answer as readonly RunnerRow[])
      return (await this.#follow(marked)) as AnswerOf<Verb>
    } catch (error) {
      throw translateServerError(error, this.#place, performance.now() - started)
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
    // Wakes those that wait for a change: their next read fails, because the store is closed.
    this.#tell()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#watch.close()
    await this.#house.close()
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
    await this.#anchor?.close()
    await this.#connections.close()
  }

  /** Accepted requests finish before the store closes. */
  #follow<Value>(work: Promise<Value>): Promise<Value> {
    const followed = work.finally(() => this.#running.delete(followed))
    this.#running.add(followed)
    return followed
  }

  /** Follow-up work for a commit that is already durable. */
  #spread<Verb extends CommitVerb>(
    verb: Verb,
    request: RequestOf<Verb>,
    { outcome, change = {} }: CommitResult<Verb>,
  ): void {
    if (verb === 'registerRunner' && outcome.kind === 'done') {
      void this.#watch.presence.add((request as RequestOf<'registerRunner'>).id)
    }
    this.#house.add(change)
    if (verb === 'renew') return
    this.#watch.notify(holdersOf(change))
    this.#tell()
  }

  #tell(): void {
    for (const listener of this.#listeners) queueMicrotask(listener)
  }

  #checkOpen(verb: string): void {
    if (this.#closing !== undefined) throw new StoreClosedError({ verb })
  }
}

function holdersOf(change: StoreChange): ReadonlySet<RunnerId | ''> {
  const holders = (change.sessions ?? []).flatMap(
    ({ after }) => after.runner ?? (hasWork(after) ? '' : []),
  )
  const freed = (change.runners ?? []).some(({ after }) => after === null)
  return new Set(freed ? [...holders, ''] : holders)
}
