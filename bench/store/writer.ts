import { randomUUID } from 'node:crypto'
import { sessionId } from '../../packages/core/src/base/ids.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'

/**
 * One writer among several: admits messages of a kilobyte to its own session for a while, then
 * prints how long each took. Arguments: database, session, seconds, messages per second (0: as many
 * as it can).
 */
const [path = '', id = '', seconds = '3', rate = '0'] = process.argv.slice(2)
const store = await openSqliteStore({ path })
const plain = { to: { sessionId: sessionId(id) }, source: id, lane: 'user', tokens: 250 } as const
const body = { text: 'x'.repeat(1_000) }
const gapMs = Number(rate) === 0 ? 0 : 1_000 / Number(rate)
console.log('ready')
await new Promise((resolve) => process.stdin.once('data', resolve))
const start = performance.now() + Math.random() * gapMs
const end = start + Number(seconds) * 1_000
const latencies: number[] = []
for (let due = start; due < end; due = gapMs === 0 ? performance.now() : due + gapMs) {
  const waitMs = due - performance.now()
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
  const sentAt = performance.now()
  await store.admit({ ...plain, key: randomUUID(), body })
  latencies.push(performance.now() - sentAt)
}
console.log(latencies.map((latency) => latency.toFixed(2)).join(' '))
process.stdin.destroy()
await store.close()
