import { randomUUID } from 'node:crypto'
import { StoreDamagedError, StoreRefusedError } from '../errors.ts'
import { sha256 } from '../integrity/canonical.ts'
import { misfit, missingTables } from '../tables/migrated-tables.ts'
import type { LoanedClient } from './connections/connections.ts'
import { ServerFailure } from './connections/failure.ts'
import { MIGRATIONS } from './migrations/migrations.ts'

export const POSTGRES_SCHEMA = MIGRATIONS.length
/** The default schema of a store. */
export const STORE_SCHEMA = 'throughline'
/** 14: version 13 has everything used here, but no longer gets fixes. */
const SERVER_VERSION_MIN = 140_000

/**
 * Migrates the schema, or throws if it must not be touched. One process at a time: the others wait
 * for the advisory lock and then find nothing to do.
 */
export async function migratePostgres(loan: LoanedClient, { place, schema }: Place): Promise<void> {
  await checkServer(loan, place)
  try {
    await loan.send([
      { text: 'begin isolation level read committed read write' },
      {
        text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
        values: [`throughline ${schema}`],
      },
    ])
    const found = await readPostgresSchema(loan, { place, schema })
    if (found === POSTGRES_SCHEMA) return await checkTables(loan, { place, schema })
    if (found === 0) await loan.send([{ text: `create schema if not exists ${schema}` }])
    await migrateFrom(loan, found, place)
    const id = randomUUID()
    await loan.send([
      {
        text: `insert into store (one, id, schema) values (1, $1, $2)
          on conflict (one) do update set schema = excluded.schema`,
        values: [id, POSTGRES_SCHEMA],
      },
      {
        text: 'insert into chain (one, commits, hash) values (1, 0, $1) on conflict (one) do nothing',
        values: [sha256(id)],
      },
      { text: 'commit' },
    ])
  } finally {
    await loan.rollback()
  }
}

/** A table, column or other object exists already, or not yet. */
const MISFITS = new Set(['42P07', '42701', '42710', '42P01', '42703', '42704'])

async function migrateFrom(loan: LoanedClient, found: number, place: string): Promise<void> {
  try {
    await loan.send(MIGRATIONS.slice(found).map((text) => ({ text })))
  } catch (error) {
    if (!(error instanceof ServerFailure && MISFITS.has(error.code))) throw error
    throw new StoreDamagedError({ path: place, problem: misfit(found, error.message) })
  }
}

async function checkTables(loan: LoanedClient, { place, schema }: Place): Promise<void> {
  const problem = missingTables(MIGRATIONS, await tablesIn(loan, schema))
  if (problem === null) return
  throw new StoreDamagedError({ path: place, problem: `${problem}. Restore a backup.` })
}

async function tablesIn(loan: LoanedClient, schema: string): Promise<ReadonlySet<unknown>> {
  const [tables = []] = await loan.send([
    {
      text: `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname = $1 and c.relkind in ('r', 'p', 'v')`,
      values: [schema],
    },
  ])
  return new Set(tables.map((row) => row['name']))
}

interface Place {
  readonly place: string
  readonly schema: string
}

/** A reader endpoint may show other histories than the writer, and a standby is read-only. */
async function checkServer(loan: LoanedClient, place: string): Promise<void> {
  const [[row] = []] = await loan.send([
    {
      text: `select pg_is_in_recovery() as standby,
        current_setting('transaction_read_only') as read_only,
        current_setting('server_version_num')::integer as version,
        current_setting('server_encoding') as encoding`,
    },
  ])
  const { standby, read_only: readOnly, version, encoding } = row ?? {}
  const refuse = (problem: string) => new StoreRefusedError({ path: place, problem })
  if (standby === true) {
    throw refuse('this server is a standby and can only be read. Name the endpoint for writing.')
  }
  if (readOnly === 'on') {
    throw refuse('connections to it are read-only. Name the endpoint for writing.')
  }
  if (Number(version) < SERVER_VERSION_MIN) {
    throw refuse(`the server has version ${version}; PostgreSQL 14 or newer is needed.`)
  }
  if (encoding !== 'UTF8') {
    throw refuse(`the database is encoded in ${encoding}. Make one with encoding UTF8.`)
  }
}

/** The schema number; 0 if there is none yet. */
export async function readPostgresSchema(
  loan: LoanedClient,
  { place, schema }: Place,
): Promise<number> {
  await checkOwner(loan, { place, schema })
  const names = await tablesIn(loan, schema)
  if (names.size === 0) return 0
  if (!names.has('store') || !names.has('indexed')) {
    throw new StoreRefusedError({
      path: place,
      problem: 'the schema holds tables of another program. Name one that is not there yet.',
    })
  }
  // With its schema: a role that may not use the schema then learns which right it lacks.
  const text = `select schema from ${schema}.store where one = 1`
  const [[row] = []] = await loan.send([{ text }])
  const found = Number(row?.['schema'])
  if (found > POSTGRES_SCHEMA) {
    throw new StoreRefusedError({
      path: place,
      problem: `it has schema ${found} and this program knows ${POSTGRES_SCHEMA}. Use the newer program that made it.`,
    })
  }
  return found
}

/**
 * Another role that may create functions in the schema, or owns it, could run its own code with the
 * rights of this one. Roles that can do so everywhere (superusers, the database's owner) are
 * trusted, as are roles of which this one is a member: a superuser counts as a member of every role,
 * so it trusts no role that was merely granted the right.
 */
async function checkOwner(loan: LoanedClient, { place, schema }: Place): Promise<void> {
  const [[found] = []] = await loan.send([
    {
      text: `select r.rolname as owner, has_schema_privilege('public', n.oid, 'create') as is_open,
          (select min(g.rolname) from aclexplode(n.nspacl) a join pg_roles g on g.oid = a.grantee
            where a.privilege_type = 'CREATE' and not (g.oid = n.nspowner or g.rolsuper
              or g.oid = d.datdba
              or pg_has_role(g.oid, 'usage') and not current_setting('is_superuser')::boolean
              or g.rolname = 'pg_database_owner')) as grantee,
          pg_has_role(n.nspowner, 'usage') or r.rolsuper or n.nspowner = d.datdba
            or r.rolname = 'pg_database_owner' as is_trusted
        from pg_namespace n join pg_roles r on r.oid = n.nspowner
          join pg_database d on d.datname = current_database()
        where n.nspname = $1`,
      values: [schema],
    },
  ])
  if (found === undefined) return
  const { owner, grantee, is_open: isOpen, is_trusted: isTrusted } = found
  const refuse = (problem: string) => new StoreRefusedError({ path: place, problem })
  if (isTrusted !== true) {
    throw refuse(
      `the schema belongs to the role ${owner}, whose functions would run with your rights. Name another schema, or have this one given to you: \`alter schema ${schema} owner to ROLE\`.`,
    )
  }
  if (isOpen === true) {
    throw refuse(
      `every role may create objects in the schema, and they would run with your rights. Have it closed: \`revoke create on schema ${schema} from public\`.`,
    )
  }
  if (grantee !== null) {
    throw refuse(
      `the role ${grantee} may create objects in the schema, and they would run with your rights. Have it closed: \`revoke create on schema ${schema} from ${grantee}\`.`,
    )
  }
}
