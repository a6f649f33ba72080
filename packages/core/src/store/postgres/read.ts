import type { ReadStore, ReadVerb } from '../contract.ts'
import { StoreClosedError, StoreRefusedError } from '../errors.ts'
import { type AnswerOf, type QueryOf, readStoreOver } from '../facade.ts'
import { Connections, loadDriver, locationOf } from './connections/connections.ts'
import { translateServerError } from './connections/failure.ts'
import type { PostgresOptions } from './open.ts'
import { postgresReads } from './reads.ts'
import { POSTGRES_SCHEMA, readPostgresSchema, STORE_SCHEMA } from './schema.ts'
import { unchainedReads } from './unchained.ts'

const DEFAULTS = { schema: STORE_SCHEMA, connections: 2, busyMs: 5_000, statementMs: 30_000 }

/**
 * Opens a PostgreSQL store read-only: the server refuses writes in every transaction, nothing is
 * created or migrated, and a standby is enough.
 */
export async function readPostgres(
  url: string,
  options: Omit<PostgresOptions, 'pollMs'> = {},
): Promise<ReadStore> {
  const place = locationOf({ schema: DEFAULTS.schema, ...options, url })
  const driver = await loadDriver(options.driver, place)
  const settings = { ...DEFAULTS, ...options, url, driver, readOnly: true }
  const connections = new Connections(settings)
  const sendTo = async <Value>(ask: () => Promise<Value>): Promise<Value> => {
    const startedAt = performance.now()
    try {
      return await ask()
    } catch (error) {
      throw translateServerError(error, place, performance.now() - startedAt)
    }
  }
  try {
    await sendTo(() => checkSchema(connections, place, settings.schema))
  } catch (error) {
    await connections.close()
    throw error
  }
  const reads = { ...postgresReads(connections), ...unchainedReads(connections) }
  let closing: Promise<void> | undefined
  return readStoreOver({
    async read<Verb extends ReadVerb>(verb: Verb, query: QueryOf<Verb>): Promise<AnswerOf<Verb>> {
      if (closing !== undefined) throw new StoreClosedError({ verb })
      const read = reads[verb] as (query: QueryOf<Verb>) => Promise<AnswerOf<Verb>>
      return await sendTo(() => read(query))
    },
    close() {
      closing ??= connections.close()
      return closing
    },
  })
}

async function checkSchema(connections: Connections, place: string, schema: string) {
  const loan = await connections.loan()
  try {
    const found = await readPostgresSchema(loan, { place, schema })
    if (found === POSTGRES_SCHEMA) return
    const problem =
      found === 0
        ? 'it holds no store: there is no such schema, or it is empty.'
        : `it has schema ${found} and this program reads ${POSTGRES_SCHEMA}. Open it once with a program that may write, or read it with the one that made it.`
    throw new StoreRefusedError({ path: place, problem })
  } finally {
    loan.end()
  }
}
