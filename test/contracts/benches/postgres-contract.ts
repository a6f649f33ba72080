import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { STORE_CONTRACT } from '../../../packages/core/src/store/contract-suite/store-contract.ts'
import { startPostgres, type TestServer } from '../../support/postgres.ts'
import { dropSchemas, postgresBench } from './postgres.ts'
import { growthIn, recordStatements } from './postgres-plans.ts'

let server: TestServer | { readonly problem: string }

const statements = new Set<string>()
let stopRecording = () => {}

/**
 * Describes the tests: every nth case of each theme, those with a word in their names, and the plans of all
 * statements that these need.
 */
export function provePostgres(every: number, word?: string): void {
  beforeAll(async () => {
    stopRecording = recordStatements(statements)
    // Rules are tested here, not the disk: without syncs the whole contract runs in seconds. Plans are
    // judged as for tables of unknown size, which they are until somebody analyses them.
    const settings = ['fsync=off', 'shared_buffers=32MB', 'autovacuum=off']
    server = await startPostgres({ flags: settings.flatMap((setting) => ['-c', setting]) })
  })

  afterAll(async () => {
    if ('problem' in server) return
    await dropSchemas(server.url)
    await server.stop()
  })

  describe.each(Object.entries(STORE_CONTRACT))(
    'store contract on postgres, %s',
    (_theme, cases) => {
      const chosen = cases.filter(
        ({ name }, index) => index % every === 0 || (word !== undefined && name.includes(word)),
      )
      it.for(chosen.map((each) => [each.name, each] as const))('%s', async ([, each], context) => {
        if ('problem' in server) return context.skip(server.problem)
        await using bench = await postgresBench(server.url)
        await each.run(bench)
      })
    },
  )

  it('finds what it needs by an index, in a store of any age', provePlans)
}

/** Statements that read a whole table, each with the reason. */
const ALLOWED: Readonly<Record<string, string>> = {
  'from session left join indexed': 'stops at the first few; asked when a store is opened',
  'where id in (select session from unindexed)': 'sessions with entries that are not indexed yet',
  "select id from session where state = 'open' and agent = coalesce($1, agent)":
    'all sessions, if their meanings are compared',
  'from session left join embedded': 'what is not embedded yet, at most once a second',
  'from entry_vector join embedded using (session)':
    'one row of embedded for each session asked for',
  'where id = coalesce($1, id) order by n': 'a check of the whole store',
  'from audit where cursor is null order by id': 'reads the few rows that are not linked yet',
  'select id, agent, scope, birth, state, created_at': 'a check of the whole store',
  "string_agg(what, ', ' order by what)": 'a check of the whole store',
  'from intake join session on id = session': 'a check of the whole store',
  'seal from route order by': 'a check of the whole store',
  'seal from note order by': 'a check of the whole store',
  'seal from schedule order by': 'a check of the whole store',
  'seal from token order by': 'a check of the whole store',
  'seal from reply order by': 'a check of the whole store',
  'seal from intake order by': 'a check of the whole store',
}

async function provePlans(context: TestContext): Promise<void> {
  if ('problem' in server) return context.skip(server.problem)
  stopRecording()
  await using bench = await postgresBench(server.url)
  const growing: string[] = []
  for (const statement of statements) {
    const text = statement.replaceAll(/\s+/g, ' ')
    if (Object.keys(ALLOWED).some((part) => text.includes(part))) continue
    const growth = await growthIn((sql) => bench.sql(sql), statement)
    if (growth.length > 0) growing.push(`${text}: ${growth.join(', ')}`)
  }
  expect(growing).toEqual([])
}
