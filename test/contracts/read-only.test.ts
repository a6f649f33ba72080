import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import type { Reads } from '../../packages/core/src/store/contract.ts'
import { StoreFixture } from '../../packages/core/src/store/contract-suite/bench.ts'
import { openPostgres } from '../../packages/core/src/store/postgres/open.ts'
import { readPostgres } from '../../packages/core/src/store/postgres/read.ts'
import { startPostgres, type TestServer } from '../support/postgres.ts'
import { dropSchemas, postgresBench } from './benches/postgres.ts'

let server: TestServer | { readonly problem: string }

beforeAll(async () => {
  server = await startPostgres({ flags: ['-c', 'fsync=off', '-c', 'shared_buffers=32MB'] })
})

afterAll(async () => {
  if ('problem' in server) return
  await dropSchemas(server.url)
  await server.stop()
})

function urlOf(context: TestContext): string {
  if ('problem' in server) context.skip(server.problem)
  return (server as TestServer).url
}

async function wholeAudit(store: Pick<Reads, 'readAudit'>, limit: number) {
  const rows = []
  for (;;) {
    const page = await store.readAudit({ after: rows.at(-1)?.cursor ?? 0, limit })
    if (page.length === 0) return rows
    rows.push(...page)
  }
}

describe('an anchor beside a store on PostgreSQL', () => {
  it('an older backup that was put back answers reads and refuses commits [I26, fault 24]', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const folder = mkdtempSync(join(tmpdir(), 'throughline-anchor-'))
    context.onTestFinished(() => rmSync(folder, { recursive: true }))
    const anchorPath = join(folder, 'anchor')
    const open = () => openPostgres(url, { schema: bench.schema, anchorPath })
    const first = await open()
    const fixture = await StoreFixture.open(first)
    await fixture.admit('kept')
    const { commits } = await first.readStore()
    await fixture.admit('lost')
    await first.close()
    const again = await open()
    await fixture.store.close()
    expect((await again.setTitle({ sessionId: fixture.id, title: 'x' })).kind).toBe('done')
    await again.close()

    await bench.sql('delete from audit where cursor > $1', [commits])
    await bench.sql(
      `update chain set commits = $1, hash = (select encode(hash, 'hex') from audit where cursor = $1)`,
      [commits],
    )
    const restored = await open()
    expect((await restored.findSession(fixture.id))?.id).toBe(fixture.id)
    await expect(restored.setTitle({ sessionId: fixture.id, title: 'y' })).rejects.toMatchObject({
      code: 'store-damaged',
      message: expect.stringContaining('anchor'),
    })
    await restored.close()
  })
})

describe('a store on PostgreSQL opened for looking', () => {
  it('returns the same as the store, linked or not, and writes nothing', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const { store, schema, sql } = bench
    const fixture = await StoreFixture.open(store)
    await fixture.exchange('hello', 'hi')
    await store.readStore()
    // It would link the rows by itself after a while.
    await store.close()
    // Rows that are not linked yet, as a killed process leaves them.
    await sql(`update chain set commits = commits - 2, hash = (
      select encode(hash, 'hex') from audit where cursor = chain.commits - 2)`)
    await sql(`update audit set cursor = null, hash = null
      where cursor > (select commits from chain)`)
    const only = await readPostgres(url, { schema })
    const seen = {
      store: await only.readStore(),
      audit: await wholeAudit(only, 2),
      session: await only.findSession(fixture.id),
      findings: await only.verify({}),
    }
    const unlinked = async () => (await sql('select from audit where cursor is null')).length
    expect(await unlinked()).toBe(2)
    expect(seen.findings).toEqual([])
    const again = await bench.sibling()
    expect(seen).toEqual({
      store: await again.readStore(),
      audit: await wholeAudit(again, 100),
      session: await again.findSession(fixture.id),
      findings: [],
    })
    expect('admit' in only).toBe(false)
    await only.close()
  })

  it('pages of the audit belong to one moment, even if rows are linked meanwhile', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    const fixture = await StoreFixture.open(bench.store)
    const only = await readPostgres(url, { schema: bench.schema })
    const first = await only.readAudit({ after: 0, limit: 1 })
    await fixture.admit('meanwhile')
    await bench.store.readStore()
    const rest = await only.readAudit({ after: first.at(-1)?.cursor ?? 0, limit: 100 })
    expect(rest.some(({ kind }) => kind === 'message admitted')).toBe(false)
    const again = await wholeAudit(only, 100)
    expect(again.at(-1)?.kind).toBe('message admitted')
    await only.close()
  })

  it('makes no schema and migrates none', async (context) => {
    const url = urlOf(context)
    await using bench = await postgresBench(url)
    await expect(readPostgres(url, { schema: 'not_there' })).rejects.toThrow('holds no store')
    const [there] = await bench.sql(`select to_regnamespace('not_there') as schema`)
    expect(there).toEqual({ schema: null })
    await bench.sql('update store set schema = 1')
    await expect(readPostgres(url, { schema: bench.schema })).rejects.toThrow('schema 1')
    await bench.sql('update store set schema = 3')
  })
})
