import type pg from 'pg'
import type { Store } from '../../../packages/core/src/store/contract.ts'
import type { StoreBench } from '../../../packages/core/src/store/contract-suite/case.ts'
import {
  openPostgres,
  type PostgresOptions,
} from '../../../packages/core/src/store/postgres/open.ts'
import { connectAdmin, newSchema } from '../../support/postgres.ts'

export interface PostgresBench extends StoreBench, AsyncDisposable {
  readonly schema: string
  /** Runs behind the store's back, in its schema. */
  sql(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>
}

/** Making some thirty tables takes longer than most cases: they are emptied and used again. */
const emptied: string[] = []
const TABLES = [
  ...['runner', 'session', 'mail', 'intake', 'sender', 'operation', 'reply', 'route', 'blob'],
  ...[
    'attempt',
    'usage',
    'audit',
    'word_page',
    'word_total',
    'unindexed',
    'passage_block',
    'indexed',
    'schedule',
    'note',
    'token',
    'draft',
    'embedded',
    'entry_vector',
  ],
]
const EMPTY = `${TABLES.map((table) => `delete from ${table}`).join(';')}; truncate entry;
  update word_runs set runs = '[]';
  update chain set commits = 0,
    hash = (select encode(sha256(convert_to(id, 'UTF8')), 'hex') from store)`

let admin: Promise<pg.Client> | undefined
function adminOf(url: string): Promise<pg.Client> {
  admin ??= connectAdmin(url).then((client) => {
    // Ended, perhaps with its server: the next one asks for a new one.
    client.once('end', () => {
      admin = undefined
    })
    return client
  })
  return admin
}

/** At the end of a file of tests. */
export async function dropSchemas(url: string): Promise<void> {
  const client = await adminOf(url)
  for (const each of emptied.splice(0)) await client.query(`drop schema ${each} cascade`)
  await client.end()
}

/** Empty at the beginning, empty again at the end; `dropSchemas` takes away what was used. */
export async function postgresBench(
  url: string,
  options: PostgresOptions = {},
): Promise<PostgresBench> {
  const schemas: string[] = []
  const opened: Store[] = []
  const open = async (schema: string) => {
    if (!schemas.includes(schema)) schemas.push(schema)
    const store = await openPostgres(url, { connections: 3, ...options, schema })
    opened.push(store)
    return store
  }
  const schema = emptied.pop() ?? newSchema()
  const store = await open(schema)
  const sql = async (text: string, values: readonly unknown[] = []) => {
    const client = await adminOf(url)
    await client.query(`set search_path to ${schema}`)
    return (await client.query<Record<string, unknown>>(text, [...values])).rows
  }
  /** With the guards taken off. */
  const harm = async (text: string, ...values: (string | number)[]) => {
    await sql('alter table entry disable trigger entry_guard')
    await sql(text, values)
    await sql('alter table entry enable trigger entry_guard')
  }
  return {
    schema,
    sql,
    store,
    sibling: () => open(schema),
    fresh: () => open(emptied.pop() ?? newSchema()),
    dismiss: async (runner) => {
      const beat = (await store.listRunners()).find(({ id }) => id === runner)?.beat ?? 0
      await store.dismissRunner({ runner, beat })
    },
    harm: {
      changeBody: (id, number) =>
        harm(`update entry set body = '"harm"' where session = $1 and number = $2`, id, number),
      changeHead: (id, number) =>
        harm('update entry set at = 7 where session = $1 and number = $2', id, number),
      remove: (id, number) =>
        harm('delete from entry where session = $1 and number = $2', id, number),
      swap: async (id, one, other) => {
        const move = 'update entry set number = $3 where session = $1 and number = $2'
        await harm(move, id, one, 2_000_000)
        await harm(move, id, other, one)
        await harm(move, id, 2_000_000, other)
      },
      changeSessionRow: (id) => harm('update session set covers = seen - 1 where id = $1', id),
      empty: (id, number) =>
        harm(
          'update entry set body = null, salt = null where session = $1 and number = $2',
          id,
          number,
        ),
      changeState: (id, state) => harm('update session set state = $2 where id = $1', id, state),
      changeAudit: async (cursor) => {
        await store.readStore() // Links what is to be changed.
        await harm(
          `update audit set line = regexp_replace(line, '^[0-9]+', '7') where cursor = $1`,
          cursor,
        )
      },
      changeMail: (id, number) =>
        harm(`update mail set body = '"harm"' where session = $1 and number = $2`, id, number),
      removeMail: (id, number) =>
        harm('delete from mail where session = $1 and number = $2', id, number),
      changeBlob: (id, hash) =>
        harm(
          "update blob set bytes = 'x' where session = $1 and hash = decode($2, 'hex')",
          id,
          hash,
        ),
      removeBlob: (id, hash) =>
        harm("delete from blob where session = $1 and hash = decode($2, 'hex')", id, hash),
      removeSession: (id) => harm('delete from session where id = $1', id),
      cutAudit: async () => {
        await store.readStore() // Links what is to be cut.
        await harm('delete from audit where cursor = (select commits from chain)')
        await harm(`update chain set commits = commits - 1,
          hash = (select encode(hash, 'hex') from audit where cursor = chain.commits - 1)`)
      },
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(opened.map((each) => each.close()))
      const client = await adminOf(url)
      for (const each of schemas) await client.query(`set search_path to ${each}; ${EMPTY}`)
      emptied.push(...schemas)
    },
  }
}
