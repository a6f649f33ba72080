import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { entryNumber, type SessionId } from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { StoreFixture } from '../../packages/core/src/store/contract-suite/bench.ts'
import { openPostgres } from '../../packages/core/src/store/postgres/open.ts'
import { rewriteTables } from '../../packages/core/src/store/postgres/rewrite-tables.ts'
import { purge } from '../../packages/server/src/runtime/store-layers/purge.ts'
import { startPostgres, type TestServer } from '../support/postgres.ts'
import { runCli } from '../support/run-cli.ts'
import { sqlitePlace } from '../support/sqlite-place.ts'
import { until } from '../support/until.ts'

const { newPath, open } = sqlitePlace()
const guide = join(import.meta.dirname, '..', '..', 'docs', 'guides', 'operating.md')
const WORDS = 'quartzite-and-marmalade'
/** Stands for the bytes of a vector. */
const VECTOR = 'obsidian-and-chutney'

/** Says the words as often as it takes to fill pages of tables and of the search index. */
async function sayAndPurge(store: Store, beforePurge: () => unknown): Promise<SessionId> {
  const fixture = await StoreFixture.open(store)
  for (let turn = 0; turn < 20; turn++)
    await fixture.exchange(`${turn} ${WORDS}`, `${WORDS} ${turn}`)
  await store.search({ sessionId: fixture.id, text: 'marmalade', limit: 1, neighbours: 0 })
  const number = entryNumber(1)
  const embedded = {
    ...{ sessionId: fixture.id, model: 'any', dimension: VECTOR.length },
    ...{ after: entryNumber(0), upto: number, vectors: [{ number, bytes: Buffer.from(VECTOR) }] },
  }
  expect(await store.putVectors(embedded)).toEqual({ kind: 'done' })
  await beforePurge()
  const parts = { store, countTokens: (_: unknown, text: string) => text.length }
  const request = { entries: 'all', reason: 'test' } as const
  expect((await purge(parts, fixture.id, request)).kind).toBe('purged')
  return fixture.id
}

function filesWith(words: string, pattern: string): readonly string[] {
  return globSync(pattern).filter((path) => {
    try {
      return statSync(path).isFile() && readFileSync(path).includes(words)
    } catch {
      // Removed meanwhile.
      return false
    }
  })
}

describe('purged words are in no file', () => {
  let server: TestServer | { readonly problem: string }
  beforeAll(async () => {
    server = await startPostgres({ own: true })
  })
  afterAll(async () => {
    if ('url' in server) await server.stop()
  })

  it('of a SQLite store that was closed, without further commands', async () => {
    const path = newPath()
    const store = await open(path)
    await sayAndPurge(store, () => {
      for (const word of [WORDS, VECTOR]) expect(filesWith(word, `${path}*`)).not.toEqual([])
    })
    await store.close()
    for (const word of [WORDS, VECTOR]) expect(filesWith(word, `${path}*`)).toEqual([])
  })

  it('of a PostgreSQL server, after a purge and the commands in the guide', async (context) => {
    if ('problem' in server) return context.skip(server.problem)
    const { url } = server
    const data = join(server.own?.folder ?? '', 'data')
    await using client = await connected(url)
    const foundInTables = async () => {
      await client.query('checkpoint')
      return filesWith(WORDS, join(data, 'base', '**', '*'))
    }
    const sampled = async () => {
      const text = `select attname from pg_stats where schemaname = 'throughline' and most_common_vals::text ~ $1`
      return (await client.query(text, [WORDS])).rows.map(({ attname }) => attname)
    }
    const store = await openPostgres(url)
    // Gives the planner samples of the words, also for a table that the purge empties.
    const id = await sayAndPurge(store, async () => {
      await client.query(
        `insert into throughline.draft select n::text, n::text, $1, 1 from generate_series(1, 9) n`,
        [WORDS],
      )
      await client.query('analyze')
      expect(await sampled()).toContain('ids')
      await client.query('delete from throughline.draft')
    })
    // Erasing a row leaves its bytes behind.
    expect(await foundInTables()).not.toEqual([])

    const again = () => runCli(['purge', id, '--store', url])
    const beside = await again()
    expect(beside).toMatchObject({ exitCode: 0 })
    expect(beside.stderr).toMatch(/still in the table files .* processes serve .* add --vacuum/)
    await client.query('delete from throughline.runner')
    const alone = await again()
    expect(alone, alone.stderr).toMatchObject({ exitCode: 0 })
    expect(alone.stderr).toMatch(/has rewritten the tables .* may still be in its WAL;/)
    expect(await sampled()).toEqual([])
    expect(await foundInTables()).toEqual([])
    expect(await store.verify({})).toEqual([])
    await store.close()

    // A server keeps files of its WAL that it no longer needs, with their bytes, under later names.
    for (let round = 0; round < 2; round++) {
      await client.query('select pg_switch_wal()')
      await client.query('checkpoint')
    }
    const [commands = []] = sqlBlocks()
    expect(commands.length).toBeGreaterThan(3)
    for (const command of commands) await client.query(command)
    for (const word of [WORDS, VECTOR]) {
      expect(filesWith(word, join(data, '**', '*'))).toEqual([])
    }
  }, 120_000)

  it('of a PostgreSQL server that was killed while it copied a table, after the commands in the guide', async (context) => {
    if ('problem' in server) return context.skip(server.problem)
    const { url } = server
    const data = join(server.own?.folder ?? '', 'data')
    const store = await openPostgres(url, { schema: 'copied' })
    await store.close()
    {
      await using client = await connected(url)
      await using other = await connected(url)
      // A rewrite copies a table like this. Without a commit, the server forgets the file.
      await client.query('begin')
      await client.query(
        `create table copied.copy as select '${WORDS}' || n as words from generate_series(1, 999) n`,
      )
      await other.query('checkpoint')
      // A process of the server that ends like this makes it restart.
      const { rows } = await client.query('select pg_backend_pid() as pid')
      process.kill(rows[0].pid, 'SIGKILL')
    }
    const isBack = async () => {
      await using client = await connected(url)
      await client.query('select')
      return true
    }
    await until(() => isBack().catch(() => false))
    const { strayFiles } = await rewriteTables(url, { schema: 'copied' })
    expect(strayFiles).toBeGreaterThan(0)
    expect(filesWith(WORDS, join(data, 'base', '**', '*'))).not.toEqual([])
    const elsewhere = new URL(url)
    const database = elsewhere.pathname.slice(1)
    elsewhere.pathname = '/template1'
    await using client = await connected(elsewhere.href)
    const [ofLog = [], ofCopy = []] = sqlBlocks()
    expect(ofCopy.length).toBeGreaterThan(2)
    for (const command of [...ofCopy, ...ofLog])
      await client.query(command.replaceAll('agents', database))
    expect(filesWith(WORDS, join(data, '**', '*'))).toEqual([])
    expect(await rewriteTables(url, { schema: 'copied' })).toEqual({ samples: true, strayFiles: 0 })
  }, 120_000)

  it('of PostgreSQL is not claimed if a user may not rewrite a table, or a transaction still sees it', async (context) => {
    if ('problem' in server) return context.skip(server.problem)
    const { url } = server
    const schema = 'rewriting'
    await using client = await connected(url)
    const store = await openPostgres(url, { schema })
    context.onTestFinished(() => store.close())
    await client.query(`drop role if exists guest; create role guest login password 'guest'`)
    await client.query(`grant usage on schema ${schema} to guest`)
    const guest = new URL(url)
    Object.assign(guest, { username: 'guest', password: 'guest' })
    await expect(rewriteTables(guest.href, { schema })).rejects.toMatchObject({
      code: 'store-refused',
      message: expect.stringContaining('owner of the tables'),
    })
    await client.query('begin isolation level repeatable read; select')
    await sayAndPurge(store, () => {})
    await expect(rewriteTables(url, { schema, busyMs: 300 })).rejects.toMatchObject({
      code: 'store-busy',
      message: expect.stringMatching(/can still see \d+ removed rows/),
    })
    const tables: string[] = []
    const onTable = (table: string) => void tables.push(table)
    const rewritten = rewriteTables(url, { schema, busyMs: 60_000, onTable })
    await using watcher = await connected(url)
    // A table has another file each time it is rewritten.
    const files = new Set<string>()
    await until(async () => {
      const table = tables.at(-1)
      if (table === undefined) return false
      const file = `select pg_relation_filenode('${schema}.${table}') as file`
      files.add(`${table} ${(await watcher.query(file)).rows[0].file}`)
      return [...files].filter((name) => name.startsWith(`${table} `)).length > 2
    })
    await client.query('rollback')
    expect(await rewritten).toEqual({ samples: true, strayFiles: 0 })
    await client.query(`drop owned by guest; drop role guest`)
  }, 120_000)
})

async function connected(url: string): Promise<pg.Client & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url })
  // The server may be killed.
  client.on('error', () => {})
  await client.connect()
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end().catch(() => {}) })
}

/** The commands of the guide, block by block. */
function sqlBlocks(): readonly (readonly string[])[] {
  const blocks = readFileSync(guide, 'utf8').matchAll(/```sql\n([\s\S]*?)```/g)
  return [...blocks].map(([, block = '']) => block.split('\n').filter((line) => line !== ''))
}
