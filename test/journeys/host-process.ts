import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { serveHttp } from '../../packages/server/src/gateway/http/serve.ts'
import { routesSchema } from '../../packages/server/src/model/routes/routes.ts'
import { HandoffThread } from '../../packages/server/src/runtime/handoff-thread/handoff-thread.ts'
import { openRuntime } from '../../packages/server/src/runtime/open-runtime.ts'
import { keepYoungGenerationSmall } from '../../packages/server/src/runtime/young-generation.ts'
import { LoopWatch } from './loop-watch.ts'

/**
 * A server that is measured from within, as a process of its own:
 * `node host-process.ts STORE MODEL-URL WINDOW`. It tells its address when it is ready, and its
 * figures whenever it is asked; figures count from the last time.
 */
export interface HostFigures {
  readonly startMs: number
  readonly rssBytes: number
  readonly heapBytes: number
  /** Processor time of all threads since the last figures, of the main one, and how long that was. */
  readonly cpuMs: number
  readonly mainMs: number
  readonly wallMs: number
  /** How often each verb of the store was called since the last figures. */
  readonly calls: { readonly [verb: string]: number }
  /** The longest hold of the event loop by our own work, in processor time. */
  readonly heldMs: number
  /** The same by the clock on the wall, other processes' share included. */
  readonly delayMs: number
  readonly sessions: number
}

/** The cost of an idle server. */
export interface RestFigures {
  /** Processor time of all threads, and of the main one alone. */
  readonly cpuMs: number
  readonly mainMs: number
  readonly wallMs: number
  /** How often the event loop of the main thread was woken. */
  readonly wakeUps: number
  readonly sessions: number
}

const [path = '', modelUrl = '', windowText = '64000'] = process.argv.slice(2)
const startedAt = performance.now()
keepYoungGenerationSmall()
const store = await openSqliteStore({ path })
const main = {
  provider: 'openai-chat',
  baseUrl: `${modelUrl}/v1`,
  credential: { kind: 'none' },
  model: 'stand-in',
  windowTokens: Number(windowText),
}
const agent = { name: 'main', system: 'You help.', routes: routesSchema.parse({ main }) }
const handoffThread = new HandoffThread()
let calls: { [verb: string]: number } = {}
const runtime = await openRuntime({ store: counted(store), agents: [agent], handoffThread })
const limits = {
  requestsPerMinute: 6_000_000,
  // All clients of a measurement come from one address.
  ...{ connectionsMax: 4_000, connectionsPerAddressMax: 4_000 },
}
const server = await serveHttp({ runtime, limits })
const startMs = performance.now() - startedAt
const watch = new LoopWatch()
watch.start()
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()
let since = readCounters()

process.on('message', async (asked) => {
  if (asked === 'figures') process.send?.(await figures())
  if (typeof asked === 'object' && asked !== null && 'restMs' in asked) {
    process.send?.(await rest(Number(asked.restMs)))
  }
  if (asked === 'end') {
    watch.stop()
    await server.close()
    await runtime.close()
    await handoffThread.close()
    await store.close()
    process.disconnect()
  }
})
// Ends with the test, so that it cannot outlive a test that was killed.
process.on('disconnect', () => process.exit(0))
process.send?.({ url: server.url })

async function figures(): Promise<HostFigures> {
  const heldMs = watch.longestMs
  const delayMs = delay.max / 1e6
  const now = readCounters()
  const told = {
    startMs,
    rssBytes: process.memoryUsage.rss(),
    heapBytes: process.memoryUsage().heapUsed,
    cpuMs: now.cpuMs - since.cpuMs,
    mainMs: now.mainMs - since.mainMs,
    wallMs: now.at - since.at,
    calls,
    heldMs,
    delayMs,
    sessions: (await runtime.health()).runner.sessions,
  }
  delay.reset()
  watch.reset()
  calls = {}
  since = readCounters()
  return told
}

/** The same store, whose verbs are counted. */
function counted(verbs: Store): Store {
  const entries = Object.entries(verbs).map(([verb, call]) => [
    verb,
    (...args: unknown[]) => {
      calls[verb] = (calls[verb] ?? 0) + 1
      return (call as (...args: unknown[]) => unknown)(...args)
    },
  ])
  return Object.fromEntries(entries) as Store
}

/** Without the instruments: their own timers wake the process 400 times a second. */
async function rest(restMs: number): Promise<RestFigures> {
  watch.stop()
  delay.disable()
  const before = readCounters()
  await sleep(restMs)
  const after = readCounters()
  watch.start()
  delay.enable()
  return {
    cpuMs: after.cpuMs - before.cpuMs,
    mainMs: after.mainMs - before.mainMs,
    wallMs: after.at - before.at,
    wakeUps: after.turns - before.turns,
    sessions: (await runtime.health()).runner.sessions,
  }
}

function readCounters() {
  const [all, main] = [process.cpuUsage(), process.threadCpuUsage()]
  return {
    cpuMs: (all.user + all.system) / 1_000,
    mainMs: (main.user + main.system) / 1_000,
    at: performance.now(),
    turns: performance.nodeTiming.uvMetricsInfo.loopCount,
  }
}
