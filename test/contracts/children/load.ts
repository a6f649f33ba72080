import { randomUUID } from 'node:crypto'
import { sessionId } from '../../../packages/core/src/base/ids.ts'
import { openSqliteStore } from '../../../packages/core/src/store/sqlite/open.ts'

/** Admits for a while and prints latencies. Arguments: database, session, senders, seconds, per second. */
const [path = '', id = '', senders = '1', seconds = '3', rate = '0'] = process.argv.slice(2)
const store = await openSqliteStore({ path })
const plain = { to: { sessionId: sessionId(id) }, source: id, lane: 'user', tokens: 1 } as const
const body = { text: 'x'.repeat(1_000) }
console.log('ready')
await new Promise((resolve) => process.stdin.once('data', resolve))
const end = performance.now() + Number(seconds) * 1_000
const latencies: number[] = []
const send = async () => {
  while (performance.now() < end) {
    const started = performance.now()
    await store.admit({ ...plain, key: randomUUID(), body })
    latencies.push(performance.now() - started)
    const restMs = Number(rate) === 0 ? 0 : 1_000 / Number(rate) - (performance.now() - started)
    if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs))
  }
}
await Promise.all(Array.from({ length: Number(senders) }, send))
console.log(latencies.map((latency) => latency.toFixed(1)).join(' '))
process.stdin.destroy()
await store.close()
