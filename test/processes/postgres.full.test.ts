import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newSchema, startPostgres, type TestServer } from '../support/postgres.ts'
import { findingsOf } from './checker.ts'
import { runStorm, seeded } from './storm.ts'

/** The same storms on a server; failpoints of the ways through a commit. */
const FAILPOINTS = ['admit', 'deliver', 'commitReply', 'commitCompaction', 'settleReply'].flatMap(
  (verb) => [`${verb}.inside`, `${verb}.after`],
)

let server: TestServer | { readonly problem: string }

beforeAll(async () => {
  server = await startPostgres()
}, 60_000)

afterAll(async () => {
  if ('url' in server) await server.stop()
})

/** Each with more processes than the one before; what they contend for is the server's locks. */
const STORMS = [
  { processes: 4, kills: 16, failpoints: FAILPOINTS },
  { processes: 9, kills: 12, failpoints: FAILPOINTS.slice(0, 4) },
  { processes: 13, kills: 15, failpoints: FAILPOINTS.slice(4) },
]

describe('kill -9 of agents on PostgreSQL', () => {
  it.for(STORMS)(
    '$processes processes, $kills kills: nothing lost, doubled, reordered or renamed [I1-I10, I19, I20, faults 1-3, 18]',
    { timeout: 300_000 },
    async (storm, context) => {
      if ('problem' in server) return context.skip(server.problem)
      const seed = Number(process.env['THROUGHLINE_SEED'] ?? Math.floor(Math.random() * 1e6))
      context.onTestFailed(() => console.log(`THROUGHLINE_SEED=${seed}`))
      const end = await runStorm({
        ...storm,
        random: seeded(seed),
        where: { kind: 'postgres', url: server.url, schema: newSchema() },
      })
      context.onTestFinished(() => end.remove())
      expect(findingsOf(end.verdict)).toEqual([])
      expect(end.missed).toEqual([])
      expect(end.kills).toBeGreaterThanOrEqual(storm.kills)
      expect(end.verdict.counts.acknowledged).toBeGreaterThan(storm.kills)
    },
  )
})
