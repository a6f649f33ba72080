import pg from 'pg'
import { StoreBusyError, StoreRefusedError } from '../../errors.ts'
import type { Columns } from '../tables.ts'
import { ServerFailure } from './failure.ts'

export interface PostgresConnectionOptions {
  readonly url: string
  readonly schema: string
  readonly connections: number
  /** How long a call waits for a connection, a lock or a server that is restarting. */
  readonly busyMs: number
  /** How long the server works on one statement. */
  readonly statementMs: number
  /** Whatever is sent, the server lets nothing be written. */
  readonly readOnly?: boolean
}

export interface Query {
  readonly text: string
  readonly values?: readonly unknown[]
}

/**
 * The server ends a statement in time, but not a commit: one that waits for a standby, or for a
 * server that has become silent, is given up here after twice the time, and its outcome is unknown.
 */
const SILENCE_FACTOR = 2
const INT8 = 20

/**
 * A pool of pipelined connections: statements that do not need each other's answers are sent
 * together and cost one round trip. Time-outs are the server's, so that a slow statement is ended
 * where it runs; one that ends in the driver takes its connection with it.
 */
export class Connections {
  readonly #pool: pg.Pool
  readonly #options: PostgresConnectionOptions

  constructor(options: PostgresConnectionOptions) {
    this.#options = options
    this.#pool = new pg.Pool({
      ...settings(options),
      max: options.connections,
      connectionTimeoutMillis: options.busyMs,
      idleTimeoutMillis: 30_000,
    })
    // An idle connection that breaks is replaced by the next one asked for.
    this.#pool.on('error', () => {})
    // The pool and the loan listen in turn; an error between the two must not end the process.
    this.#pool.on('connect', (client) => void client.on('error', () => {}))
  }

  async loan(): Promise<LoanedClient> {
    const started = performance.now()
    try {
      return new LoanedClient(await this.#pool.connect())
    } catch (error) {
      // The driver's words for a pool that has no connection to give; it has no code for it.
      const exhausted = error instanceof Error && error.message.includes('timeout exceeded')
      if (!exhausted) throw new ServerFailure(error)
      const problem = `all ${this.#options.connections} connections are in use`
      throw new StoreBusyError({ waitedMs: performance.now() - started, problem })
    }
  }

  /** One statement by itself. */
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

/** The use of one connection; it goes back unless something about it is in doubt. */
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

  /** Begins a transaction with whatever is sent next; that costs no round trip of its own. */
  begin(text: string): void {
    this.#beginning = [{ text }]
  }

  /**
   * Sends all at once and waits for all. Inside a transaction nothing behind a failed statement takes
   * effect, and a commit behind it is answered with a rollback: the first failure is thrown.
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

  /** Nothing of a transaction that did not end is left on the connection. */
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

/** Several statements that see one moment. */
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

/** A connection beside the pool, for listening. */
export function newClient(options: PostgresConnectionOptions): pg.Client {
  const client = new pg.Client({
    ...settings(options),
    connectionTimeoutMillis: options.busyMs,
    pipeline: false,
  })
  client.on('error', () => {})
  return client
}

function settings({
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
      // A server or a role that turns it off would acknowledge what a crash then takes back.
      '-c synchronous_commit=on',
      ...(readOnly ? ['-c default_transaction_read_only=on'] : []),
    ]
      .join(' ')
      .trim(),
    types: { getTypeParser: parserFor },
  }
}

const parserFor = ((oid: number, format?: 'text') =>
  oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser

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

/** The place without user and password, for people. */
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
