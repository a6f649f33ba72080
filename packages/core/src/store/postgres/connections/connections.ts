import type pg from 'pg'
import { StoreBusyError, StoreRefusedError } from '../../errors.ts'
import type { Columns } from '../tables.ts'
import type { PostgresDriver } from './driver.ts'
import { ServerFailure } from './failure.ts'

export interface PostgresConnectionOptions {
  readonly driver: typeof pg
  readonly url: string
  readonly schema: string
  readonly connections: number
  /** How long a call waits for a connection, a lock or a server that is restarting. */
  readonly busyMs: number
  /** How long the server may work on one statement. */
  readonly statementMs: number
  /** Makes the server refuse all writes. */
  readonly readOnly?: boolean
}

export interface Query {
  readonly text: string
  readonly values?: readonly unknown[]
}

/**
 * The server times out statements, but not a commit that waits for a standby or a silent server.
 * Such a commit is given up here after twice the time, and its outcome is unknown.
 */
const SILENCE_FACTOR = 2
const INT8 = 20

/**
 * The given driver, or the one that is installed where this package finds it. A program that brings
 * `pg` itself passes it on: installed globally or by a strict package manager, this package is not
 * where its `pg` is.
 */
export async function loadDriver(
  given: PostgresDriver | undefined,
  place: string,
): Promise<typeof pg> {
  if (given !== undefined) return given as unknown as typeof pg
  try {
    return (await import('pg')).default
  } catch (cause) {
    const problem = 'its driver, the package pg, was not found. Run `npm install pg`.'
    throw new StoreRefusedError({ path: place, problem }, { cause })
  }
}

/**
 * A pool of pipelined connections: statements that do not need each other's answers are sent
 * together and cost one round trip. Time-outs are set on the server, so that a slow statement ends
 * where it runs; a time-out in the driver costs the connection.
 */
export class Connections {
  readonly #pool: pg.Pool
  readonly #options: PostgresConnectionOptions

  constructor(options: PostgresConnectionOptions) {
    this.#options = options
    this.#pool = new options.driver.Pool({
      ...settings(options),
      max: options.connections,
      connectionTimeoutMillis: options.busyMs,
      idleTimeoutMillis: 30_000,
    })
    // A broken idle connection is replaced when the next one is requested.
    this.#pool.on('error', () => {})
    // Pool and loan take turns listening; an error in between must not end the process.
    this.#pool.on('connect', (client) => void client.on('error', () => {}))
  }

  async loan(): Promise<LoanedClient> {
    const started = performance.now()
    try {
      return new LoanedClient(await this.#pool.connect())
    } catch (error) {
      // The driver's message for an exhausted pool, which has no code.
      const exhausted = error instanceof Error && error.message.includes('timeout exceeded')
      if (!exhausted) throw new ServerFailure(error)
      const problem = `all ${this.#options.connections} connections are in use`
      throw new StoreBusyError({ waitedMs: performance.now() - started, problem })
    }
  }

  /** Runs one statement on its own. */
  async query(query: Query): Promise<readonly Columns[]> {
    const loan = await this.loan()
    try {
      const [rows = []] = await loan.send([query])
      return rows
    } finally {
      loan.end()
    }
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }
}

/** The use of one connection, which returns to the pool unless its state is in doubt. */
export class LoanedClient {
  readonly #client: pg.PoolClient
  #beginning: readonly Query[] = []
  #broken = false

  constructor(client: pg.PoolClient) {
    this.#client = client
    client.on('error', this.#onError)
  }

  readonly #onError = (): void => {
    this.#broken = true
  }

  /** Which one it is. */
  get connection(): object {
    return this.#client
  }

  /** Starts a transaction with the next `send`, at no extra round trip. */
  begin(text: string): void {
    this.#beginning = [{ text }]
  }

  /**
   * Sends all at once and waits for all. In a transaction, nothing after a failed statement takes
   * effect, and the server answers the commit with a rollback: the first failure is thrown.
   */
  async send(queries: readonly Query[]): Promise<readonly (readonly Columns[])[]> {
    const begun = this.#beginning.length
    const all = [...this.#beginning, ...queries]
    this.#beginning = []
    const answers = await Promise.allSettled(
      all.map(({ text, values }) =>
        this.#client.query<Record<string, unknown>>(
          values === undefined ? text : { name: nameOf(text), text, values: [...values] },
        ),
      ),
    )
    const failed = answers.find((answer) => answer.status === 'rejected')
    if (failed !== undefined) throw new ServerFailure(failed.reason)
    return answers
      .slice(begun)
      .map((answer) => (answer.status === 'fulfilled' ? answer.value.rows : []))
  }

  /** Leaves nothing of an unfinished transaction on the connection. */
  async rollback(): Promise<void> {
    try {
      await this.#client.query('rollback')
    } catch {
      this.#broken = true
    }
  }

  discard(): void {
    this.#broken = true
  }

  end(): void {
    this.#client.off('error', this.#onError)
    this.#client.release(this.#broken)
  }
}

/** Runs several statements in one snapshot. */
export async function inSnapshot<Value>(
  connections: Connections,
  work: (loan: LoanedClient) => Promise<Value>,
): Promise<Value> {
  const loan = await connections.loan()
  try {
    loan.begin('begin isolation level repeatable read read only')
    return await work(loan)
  } finally {
    await loan.rollback()
    loan.end()
  }
}

/** A connection outside the pool, for listening. */
export function newClient(options: PostgresConnectionOptions): pg.Client {
  const client = new options.driver.Client({
    ...settings(options),
    connectionTimeoutMillis: options.busyMs,
    pipeline: false,
  })
  client.on('error', () => {})
  return client
}

function settings({
  driver,
  url,
  schema,
  statementMs,
  busyMs,
  readOnly = false,
}: PostgresConnectionOptions): pg.ClientConfig {
  // Options in the URL override separate ones, so they are included here.
  const connection = parseUrl(url)
  const given = connection.searchParams.get('options') ?? ''
  connection.searchParams.delete('options')
  return {
    connectionString: connection.href,
    application_name: 'throughline',
    keepAlive: true,
    pipeline: true,
    statement_timeout: statementMs,
    lock_timeout: Math.min(statementMs, busyMs),
    idle_in_transaction_session_timeout: statementMs,
    query_timeout: statementMs * SILENCE_FACTOR,
    options: [
      given,
      `-c search_path=${schema}`,
      // If a server or role turned this off, a crash could undo an acknowledged commit.
      '-c synchronous_commit=on',
      // Once the server has figures of a large store, it plans most statements again for each call,
      // which took up to two thirds of a short read. One plan suits a store of any age: tests see to it.
      '-c plan_cache_mode=force_generic_plan',
      ...(readOnly ? ['-c default_transaction_read_only=on'] : []),
    ]
      .join(' ')
      .trim(),
    types: { getTypeParser: parserWith(driver) },
  }
}

function parserWith({ types }: typeof pg): typeof pg.types.getTypeParser {
  return ((oid: number, format?: 'text') =>
    oid === INT8 ? Number : types.getTypeParser(oid, format)) as typeof types.getTypeParser
}

/** A statement is prepared once per connection, under a name derived from its text. */
const names = new Map<string, string>()
function nameOf(text: string): string {
  const known = names.get(text)
  if (known !== undefined) return known
  const name = `s${names.size}`
  names.set(text, name)
  return name
}

const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/

/** The server's location without user and password, for messages. */
export function locationOf({
  url,
  schema,
}: Pick<PostgresConnectionOptions, 'url' | 'schema'>): string {
  const { host, pathname } = parseUrl(url)
  const place = `postgres://${host}${pathname} (schema ${schema})`
  if (SCHEMA_NAME.test(schema)) return place
  const problem = 'a schema is named with small letters, digits and "_", at most 63.'
  throw new StoreRefusedError({ path: place, problem })
}

function parseUrl(url: string): URL {
  if (/^postgres(ql)?:/.test(url) && URL.canParse(url)) return new URL(url)
  throw new StoreRefusedError({
    path: 'this address',
    problem: 'expected postgres://user:password@host:port/database?sslmode=…',
  })
}
