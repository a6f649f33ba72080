/**
 * `npm run bench:gateway`: what HTTP costs beside the store alone. Both are measured in turns in one
 * run, because machines differ and share their cores; the ratio is the promise. The client is a
 * process of its own, as clients are.
 */
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { operationId, sessionId } from '../../packages/core/src/base/ids.ts'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { serveHttp } from '../../packages/server/src/gateway/http/serve.ts'
import { openRuntime } from '../../packages/server/src/runtime/open-runtime.ts'
import { createSessions, withStore } from '../store/places.ts'

const CALLERS = 32
// Short turns, many of them: what else the machine does then falls on both alike.
const SECONDS = 1.5
const ROUNDS = 8
const RATIO_MIN = 0.5
const STREAMS = 100
const IDLE_MS = 5_000

interface Measured {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

const sort = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)
const at = (sorted: readonly number[], share: number) =>
  sorted[Math.floor(share * (sorted.length - 1))] ?? 0
const median = (numbers: readonly number[]) => at(sort(numbers), 0.5)

function measured(latencies: readonly number[]): Measured {
  const sorted = sort(latencies)
  return { perSecond: latencies.length / SECONDS, p50: at(sorted, 0.5), p99: at(sorted, 0.99) }
}

/** The message as the edge hands it on, without the edge. */
async function measureStore(store: Store, ids: readonly string[]): Promise<Measured> {
  const end = performance.now() + SECONDS * 1_000
  const latencies: number[] = []
  const message = { role: 'user', parts: [{ type: 'text', text: 'x'.repeat(1_000) }] }
  const plain = { source: 'bench', lane: 'user', tokens: 250, body: { message } } as const
  await Promise.all(
    ids.map(async (id) => {
      while (performance.now() < end) {
        const sentAt = performance.now()
        await store.admit({ to: { sessionId: sessionId(id) }, key: randomUUID(), ...plain })
        latencies.push(performance.now() - sentAt)
      }
    }),
  )
  return measured(latencies)
}

async function measureHttp(port: string): Promise<Measured> {
  const script = join(import.meta.dirname, 'client.ts')
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, [script, port, `${SECONDS}`, `${CALLERS}`], {
    maxBuffer: 64 * 1024 * 1024,
  })
  return measured(stdout.trim().split(' ').map(Number))
}

function calibrate(): void {
  const text = JSON.stringify(
    Array.from({ length: 20_000 }, (_, index) => ({ index, text: 'word '.repeat(20) })),
  )
  const started = performance.now()
  for (let round = 0; round < 10; round++) JSON.parse(text)
  const speed = (text.length * 10) / 1e3 / (performance.now() - started)
  console.log(`calibration: JSON.parse ${speed.toFixed(0)} MB/s, ${CALLERS} callers\n`)
}

function line(what: string, { perSecond, p50, p99 }: Measured): void {
  const figures = `${perSecond.toFixed(0).padStart(6)} acknowledgments/s`
  console.log(`${what.padEnd(28)} ${figures}, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
}

async function openStreams(url: string): Promise<() => void> {
  const stop = new AbortController()
  await Promise.all(
    Array.from({ length: STREAMS }, async (_, index) => {
      const response = await fetch(`${url}/v1/sessions/idle${index}/events`, {
        signal: stop.signal,
      })
      const reader = response.body?.getReader()
      await reader?.read()
    }),
  )
  return () => stop.abort()
}

/** Of this process alone: the share of one core, and its memory after a collection. */
async function measureIdle(): Promise<{ readonly share: number; readonly bytes: number }> {
  globalThis.gc?.()
  const before = process.cpuUsage()
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS))
  const { user, system } = process.cpuUsage(before)
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return { share: (user + system) / 1_000 / IDLE_MS, bytes: heapUsed + external }
}

calibrate()
await withStore(async (store) => {
  const ids = await createSessions(store, CALLERS)
  const runtime = await openRuntime({ store, agents: [], runs: false })
  const open = () =>
    serveHttp({ runtime, limits: { requestsPerMinute: 60_000_000, heartbeatMs: 1_000 } })
  const rounds: { store: Measured; http: Measured }[] = []
  // The first round warms both up and is not counted.
  for (let round = 0; round <= ROUNDS; round++) {
    const alone = await measureStore(store, ids)
    const server = await open()
    const http = await measureHttp(new URL(server.url).port)
    await server.close()
    if (round === 0) continue
    line('the store alone', alone)
    line('over HTTP', http)
    rounds.push({ store: alone, http })
  }
  const ratio = median(rounds.map((round) => round.http.perSecond / round.store.perSecond))
  const isMet = ratio >= RATIO_MIN
  console.log(
    `\n${isMet ? 'met ' : 'MISS'}  HTTP against the store alone: ${ratio.toFixed(2)} (limit ${RATIO_MIN})`,
  )

  const plain = { agent: 'main', limits: (await store.findSession(sessionId('s0')))?.limits }
  await Promise.all(
    Array.from({ length: STREAMS }, (_, index) =>
      store.createSession({
        ...{ id: sessionId(`idle${index}`), agent: plain.agent, policy: 'steer' },
        limits: plain.limits as NonNullable<typeof plain.limits>,
        operation: operationId(randomUUID()),
      }),
    ),
  )
  const server = await open()
  const before = await measureIdle()
  const closeStreams = await openStreams(server.url)
  const during = await measureIdle()
  const busy = await measureHttp(new URL(server.url).port)
  closeStreams()
  const perStream = (during.bytes - before.bytes) / STREAMS / 1_024
  console.log(
    `${STREAMS} idle event streams (both ends here, a heartbeat each second): ` +
      `${(during.share * 100).toFixed(1)} % of a core (${(before.share * 100).toFixed(1)} % without), ` +
      `${perStream.toFixed(0)} kB of heap each`,
  )
  line('over HTTP, beside them', busy)
  await server.close()
  await runtime.close()
  process.exitCode = isMet ? 0 : 1
})
