/**
 * `npm run soak [-- --hours 3 --per-second 2 --sample-seconds 60 --resume]`: `throughline serve` under
 * a light, steady load for hours, and how much memory, handles, timers and files grow per thousand
 * messages. `--resume` continues the store and the record in `.throughline/soak`: hours add up.
 * Ctrl-C or SIGTERM prints the verdict so far. Exit code 1: a figure grows beyond its limit, or a
 * message got no answer.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { standIn } from '../../packages/server/src/stand-in/index.ts'
import { BotApiServer } from '../../test/gateways/bot-api-server.ts'
import { seededRandom } from '../../test/support/seeded-random.ts'
import { loadLine, machineLine } from '../product/machine.ts'
import { growthOf, type Sample, WARM_UP_MINUTES } from './growth.ts'
import { Load } from './load.ts'
import { SoakServer } from './server.ts'

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '3' },
    'per-second': { type: 'string', default: '2' },
    'sample-seconds': { type: 'string', default: '60' },
    resume: { type: 'boolean', default: false },
  },
})
const numberOf = (name: 'hours' | 'per-second' | 'sample-seconds') => {
  const number = Number(values[name])
  if (!(number > 0)) throw new Error(`--${name} has to be a number above 0.`)
  return number
}
const [hours, perSecond] = [numberOf('hours'), numberOf('per-second')]
const sampleMs = 1_000 * numberOf('sample-seconds')

/**
 * Per thousand messages. At a thousand a day for a year: 180 MB of memory, of which 36 MB are objects,
 * and 180 descriptors or timers. Memory is what no file backs: of the program's own code a kernel that
 * was short of nothing else kept 68 MB at first, 38 MB half an hour later.
 */
const GROWTH_MAX: Readonly<Record<string, number>> = {
  'anonymous memory (MB)': 0.5,
  'heap (MB)': 0.1,
  'outside the heap (MB)': 0.1,
  descriptors: 0.5,
  handles: 0.5,
  timers: 0.5,
  listeners: 0.5,
  emitters: 2,
  'abort signals': 2,
  promises: 5,
}
/** A WAL that is never checkpointed grows with the messages; 64 MB is where the store cuts it. */
const WAL_MB_MAX = 64
/** More than the chats of one life use. */
const CHAT_IDS = 1_000_000
const PEOPLE = [41, 42, 43, 44, 45, 46]
const MB = 2 ** 20

const folder = join(import.meta.dirname, '..', '..', '.throughline', 'soak')
const record = join(folder, 'samples.jsonl')
const served = join(folder, 'served')
if (!values.resume) rmSync(folder, { recursive: true, force: true })
mkdirSync(served, { recursive: true })
const samples: Sample[] = existsSync(record)
  ? readFileSync(record, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  : []
const life = (samples.at(-1)?.life ?? 0) + 1
const minutesBefore = minutesOf(samples)
const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort())

console.log(
  `${machineLine()}; ${(minutesBefore / 60).toFixed(1)} of ${hours} hours were done before`,
)
const model = await standIn({ journalEntriesMax: 4 }).start()
const chat = await new BotApiServer(life * CHAT_IDS).start()
const server = await SoakServer.start(served, {
  ...{ modelUrl: model.url, chatUrl: chat.url, people: PEOPLE },
})
const load = new Load({
  ...{ url: server.url, chat, people: PEOPLE, perSecond },
  ...{ random: seededRandom(life), signal: stopping.signal },
})
const startedAt = performance.now()
const running = load.run()
try {
  while (!stopping.signal.aborted && !server.hasEnded) {
    const minutes = (performance.now() - startedAt) / 60_000
    if (minutesBefore + minutes >= 60 * hours) break
    await sample(minutes)
    await sleep(sampleMs, undefined, { signal: stopping.signal }).catch(() => {})
  }
} finally {
  if (server.hasEnded) load.fail('the server ended')
  stopping.abort()
  await running.catch((error: unknown) => load.fail(String(error)))
  await server.end()
  await Promise.all([model.close(), chat.close()])
}
process.exitCode = judge() ? 0 : 1

async function sample(minutes: number): Promise<void> {
  const probed = await server.probe()
  const taken: Sample = {
    ...{ life, minutes, messages: load.messages },
    figures: {
      'memory (MB)': probed.rssBytes / MB,
      'anonymous memory (MB)': probed.anonymousBytes / MB,
      'heap (MB)': probed.heapBytes / MB,
      'outside the heap (MB)': probed.externalBytes / MB,
      'heaps of other threads (MB)': probed.threadHeapBytes / MB,
      'V8 heaps, empty pages included (MB)': probed.reservedHeapBytes / MB,
      'C allocator (MB)': probed.allocatorBytes / MB,
      descriptors: probed.descriptors,
      handles: probed.handles,
      timers: probed.timers,
      listeners: probed.listeners,
      emitters: probed.emitters,
      'abort signals': probed.abortSignals,
      promises: probed.promises,
      'processor (s)': probed.cpuMs / 1_000,
      ...Object.fromEntries(
        Object.entries(server.fileBytes()).map(([name, bytes]) => [`${name} (MB)`, bytes / MB]),
      ),
    },
  }
  samples.push(taken)
  appendFileSync(record, `${JSON.stringify(taken)}\n`)
  const { figures } = taken
  const shown = [
    'anonymous memory (MB)',
    'heap (MB)',
    'descriptors',
    'timers',
    'abort signals',
    'promises',
  ]
  const begun = samples.find((each) => each.life === life)?.figures['processor (s)'] ?? 0
  const usedMs = 1_000 * ((figures['processor (s)'] ?? 0) - begun)
  console.log(
    `${minutes.toFixed(0).padStart(4)} min  ${taken.messages} messages, ${load.forks} forks, ` +
      `${shown.map((name) => `${name} ${(figures[name] ?? 0).toFixed(0)}`).join(', ')}, ` +
      `${(usedMs / (taken.messages || 1)).toFixed(1)} ms of processor a message, ` +
      `${load.failures} failures; ${loadLine()}`,
  )
}

/** True: nothing grows beyond its limit, and every message was answered. */
function judge(): boolean {
  const names = new Set(samples.flatMap(({ figures }) => Object.keys(figures)))
  let isMet = load.failures === 0
  console.log(
    `${(minutesOf(samples) / 60).toFixed(2)} hours in ${life} lives; growth per thousand messages ` +
      `after ${WARM_UP_MINUTES} minutes of warm-up, of memory in the second half of each life:`,
  )
  for (const name of names) {
    const { first, last, perThousand } = growthOf(samples, name)
    const max = GROWTH_MAX[name]
    const isOver = max !== undefined && perThousand !== null && perThousand > max
    if (isOver) isMet = false
    const verdict =
      max === undefined ? '    ' : perThousand === null ? ' ?  ' : isOver ? 'MISS' : 'met '
    const grown = perThousand === null ? 'not known' : perThousand.toFixed(3)
    const limit = max === undefined ? '' : `; limit ${max}`
    console.log(
      `${verdict}  ${name.padEnd(36)} ${grown} (${first.toFixed(1)} to ${last.toFixed(1)}${limit})`,
    )
  }
  const wal = Math.max(...samples.map(({ figures }) => figures['store.db-wal (MB)'] ?? 0))
  const isWalMet = wal <= WAL_MB_MAX
  console.log(
    `${isWalMet ? 'met ' : 'MISS'}  largest WAL: ${wal.toFixed(1)} MB; limit ${WAL_MB_MAX}`,
  )
  return isMet && isWalMet
}

function minutesOf(all: readonly Sample[]): number {
  const lives = Map.groupBy(all, ({ life: each }) => each)
  return [...lives.values()].reduce((sum, each) => sum + (each.at(-1)?.minutes ?? 0), 0)
}
