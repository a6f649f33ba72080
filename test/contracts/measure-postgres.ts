import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { create, LIMITS } from '../../packages/core/src/store/contract-suite/bench.ts'
import { openPostgres } from '../../packages/core/src/store/postgres/open.ts'
import { connectAdmin, newSchema, startPostgres } from '../support/postgres.ts'

/** How many admissions per second and how late, for clients with a session and connections each. */
const { values } = parseArgs({
  options: {
    clients: { type: 'string', default: '13' },
    seconds: { type: 'string', default: '3' },
    rate: { type: 'string', default: '0' },
  },
})
const server = await startPostgres()
if ('problem' in server) throw new Error(server.problem)
const schema = newSchema()
const limits = { ...LIMITS, laneMailMax: 10_000_000, sourceMailMax: 10_000_000 }
const clients = await Promise.all(
  Array.from({ length: Number(values.clients) }, async (_, index) => {
    const store = await openPostgres(server.url, { schema, connections: 2 })
    const id = await create(store, { id: sessionId(`s${index}`), limits })
    return { store, id, latencies: [] as number[] }
  }),
)
const body = { text: 'x'.repeat(1_000) }
const cpuBefore = process.cpuUsage()
const end = performance.now() + Number(values.seconds) * 1_000
await Promise.all(
  clients.map(async ({ store, id, latencies }) => {
    while (performance.now() < end) {
      const started = performance.now()
      const plain = { to: { sessionId: id }, source: id, lane: 'user', tokens: 1 } as const
      await store.admit({ ...plain, key: randomUUID(), body })
      latencies.push(performance.now() - started)
      const restMs =
        Number(values.rate) === 0 ? 0 : 1_000 / Number(values.rate) - (latencies.at(-1) ?? 0)
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs))
    }
  }),
)
const { user, system } = process.cpuUsage(cpuBefore)
const all = clients.flatMap(({ latencies }) => latencies).sort((a, b) => a - b)
const counts = clients.map(({ latencies }) => latencies.length)
const at = (share: number) => (all[Math.floor(share * (all.length - 1))] ?? 0).toFixed(1)
console.log(
  `${clients.length} clients: ${Math.round(all.length / Number(values.seconds))} admits/s,`,
  `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms,`,
  `${((user + system) / 1_000 / all.length).toFixed(2)} ms of this process's CPU each,`,
  `slowest client ${Math.round((100 * Math.min(...counts) * counts.length) / all.length)}% of the mean`,
)
await Promise.all(clients.map(({ store }) => store.close()))
const admin = await connectAdmin(server.url)
await admin.query(`drop schema ${schema} cascade`)
await admin.end()
await server.stop()
