import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { StoreBusyError, StoreRefusedError } from '../errors.ts'
import { loadDriver, locationOf, newClient } from './connections/connections.ts'
import type { PostgresDriver } from './connections/driver.ts'
import { ServerFailure, translateServerError } from './connections/failure.ts'
import { STORE_SCHEMA } from './schema.ts'

type Notice = {
  readonly code?: string | undefined
  readonly message?: string | undefined
  readonly detail?: string | undefined
}

export interface RewriteOptions {
  readonly driver?: PostgresDriver
  readonly schema?: string
  /** How long to wait for the lock on each table, and for transactions that see removed rows. */
  readonly busyMs?: number
  readonly onTable?: (table: string) => void
}

export interface Rewritten {
  /**
   * False if this user may not rewrite the planner's samples, which may still contain removed
   * words.
   */
  readonly samples: boolean
  /**
   * Files of the database that belong to no table, such as a copy that a crash of the server left
   * behind; null if this user may not look.
   */
  readonly strayFiles: number | null
}

interface Outcome {
  readonly warning: string | undefined
  /** Removed rows that a transaction can still see. */
  readonly kept: number
}

/** A table of many gigabytes takes hours. */
const STATEMENT_MS = 24 * 60 * 60 * 1_000
const BUSY_MS = 10_000
const RETRY_MS = 100
/** Samples of column values of all tables; the database's owner may rewrite it. */
const SAMPLES = 'pg_catalog.pg_statistic'

/**
 * Rewrites every table of a store without the bytes of removed rows, and has the planner's samples
 * taken again. Locks each table while it does so, and needs space for a copy. Rejects if the user
 * may not do it, or if a transaction still sees removed rows.
 */
export async function rewriteTables(
  url: string,
  { driver: given, schema = STORE_SCHEMA, busyMs = BUSY_MS, onTable }: RewriteOptions = {},
): Promise<Rewritten> {
  const place = locationOf({ url, schema })
  const driver = await loadDriver(given, place)
  const options = { driver, url, schema, connections: 1, busyMs, statementMs: STATEMENT_MS }
  const startedAt = performance.now()
  const client = newClient(options)
  try {
    await client.connect()
    for (const table of await tablesOf(client, schema)) {
      onTable?.(table)
      const name = `${quoted(schema)}.${quoted(table)}`
      const { warning, kept } = await rewriteWithin(client, name, busyMs)
      if (warning !== undefined) {
        const problem = `table ${table} was not rewritten (${warning}). Run this as the owner of the tables, or as a superuser.`
        throw new StoreRefusedError({ path: place, problem })
      }
      if (kept > 0) {
        const problem = `a transaction can still see ${kept} removed rows of table ${table}. End it (pg_stat_activity and pg_prepared_xacts list it), and repeat this`
        throw new StoreBusyError({ waitedMs: performance.now() - startedAt, problem })
      }
      await dropSamplesIfEmpty(client, schema, table)
    }
    onTable?.(SAMPLES)
    const samples = await rewrite(client, SAMPLES).catch(() => null)
    return {
      samples: samples !== null && samples.warning === undefined && samples.kept === 0,
      strayFiles: await countStrayFiles(client).catch(() => null),
    }
  } catch (error) {
    const isKnown = error instanceof StoreRefusedError || error instanceof StoreBusyError
    throw isKnown
      ? error
      : translateServerError(new ServerFailure(error), place, performance.now() - startedAt)
  } finally {
    await client.end().catch(() => {})
  }
}

async function tablesOf(client: pg.Client, schema: string): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_catalog.pg_class
      where relnamespace = (select oid from pg_catalog.pg_namespace where nspname = $1)
        and relkind = 'r' order by relname`,
    [schema],
  )
  return rows.map(({ name }) => name)
}

/** Rewrites again while a transaction, mostly one about to end, can see rows that were removed. */
async function rewriteWithin(client: pg.Client, table: string, busyMs: number): Promise<Outcome> {
  const until = performance.now() + busyMs
  while (true) {
    const outcome = await rewrite(client, table)
    const isFinal = outcome.kept === 0 || outcome.warning !== undefined
    if (isFinal || performance.now() > until) return outcome
    await sleep(RETRY_MS)
  }
}

/** A table that may not be rewritten is skipped with a warning, in any language. */
async function rewrite(client: pg.Client, table: string): Promise<Outcome> {
  let warning: string | undefined
  let kept = 0
  const onNotice = ({ code, message, detail }: Notice) => {
    if (code !== '00000') warning ??= message
    // "12 dead row versions cannot be removed yet."
    kept += Number(/^(\d+)/.exec(detail ?? '')?.[1] ?? 0)
  }
  client.on('notice', onNotice)
  try {
    await client.query(`vacuum (full, verbose, analyze) ${table}`)
  } finally {
    client.off('notice', onNotice)
  }
  return { warning, kept }
}

/**
 * `analyze` takes new samples of a table that has rows, and keeps the old ones of an empty table for
 * ever. Setting the type that a column has drops its samples, on every version of the server.
 */
async function dropSamplesIfEmpty(client: pg.Client, schema: string, table: string): Promise<void> {
  const name = `${quoted(schema)}.${quoted(table)}`
  const { rows } = await client.query<{ name: string; type: string; sorted: string | null }>(
    `select a.attname as name, pg_catalog.format_type(a.atttypid, a.atttypmod) as type,
        (select pg_catalog.format('%I.%I', n.nspname, c.collname)
          from pg_catalog.pg_collation c
          join pg_catalog.pg_namespace n on n.oid = c.collnamespace
          where c.oid = a.attcollation) as sorted
      from pg_catalog.pg_attribute a
      join pg_catalog.pg_stats s
        on s.schemaname = $1 and s.tablename = $2 and s.attname = a.attname
      where a.attrelid = $3::pg_catalog.regclass
        and (a.attcollation <> 0 or a.atttypid = 'bytea'::pg_catalog.regtype)
        and not exists (select from ${name})`,
    [schema, table, name],
  )
  if (rows.length === 0) return
  const changes = rows.map(({ name: column, type, sorted }) => {
    const collation = sorted === null ? '' : ` collate ${sorted}`
    return `alter column ${quoted(column)} type ${type}${collation}`
  })
  await client.query(`alter table ${name} ${changes.join(', ')}`)
}

/**
 * A server that is killed while it rewrites a table leaves the copy behind as a file that belongs to
 * nothing. No statement removes it, and by default only a superuser may list files. Files of length
 * 0 are those of dropped tables, until the next checkpoint.
 */
async function countStrayFiles(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: string }>(
    `with place as materialized (
        select pg_catalog.regexp_replace(
          pg_catalog.pg_relation_filepath('pg_catalog.pg_class'), '/[^/]*$', '') as folder
      ), file as materialized (
        select folder || '/' || name as path, pg_catalog.substring(name, '^[0-9]+')::oid as node
          from place, pg_catalog.pg_ls_dir(folder) as name where name ~ '^[0-9]+'
      )
      select pg_catalog.count(*) as count from file
        where (pg_catalog.pg_stat_file(path, true)).size > 0
          and not exists (select from pg_catalog.pg_class
            where pg_catalog.pg_relation_filenode(oid) = node)`,
  )
  return Number(rows[0]?.count)
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
