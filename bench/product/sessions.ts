/**
 * `npm run bench:sessions [-- --active 500 --messages 4 --idle 10000]`: what sessions cost a server
 * process. Active ones: answers, memory, how long the event loop is held, and processor time once
 * all are silent but held. Idle ones: start-up and memory beside an empty store.
 */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { operationId, sessionId } from '../../packages/core/src/base/ids.ts'
import { RULES } from '../../packages/core/src/store/rules/rules.ts'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import type { HostFigures, RestFigures } from '../../test/journeys/host-process.ts'
import { longSession, manySessions, withHost } from '../../test/journeys/load.ts'
import { LIMITS } from '../store/places.ts'
import { loadLine, machineLine, quantile } from './machine.ts'

const REST_MS = 10_000
/**
 * Until the garbage of the start or of the load is collected, which happens once: after a start V8
 * collects up to three times in each thread, eight seconds and more apart. An idle server took 0.59 % of
 * a core in the 20 s after the first 12, half of it in threads of V8, and 0.26 % after 75 s.
 */
const SETTLE_MS = 75_000
const IDLE_SHARE_MAX = 0.5
const RESTING_SHARE_MAX = 1
const WINDOW_TOKENS = 200_000
const HELD_MS_MAX = 20
/** For ten thousand idle sessions against none. */
const IDLE_RSS_MB_MAX = 32

const { values } = parseArgs({
  options: {
    active: { type: 'string', default: '500' },
    messages: { type: 'string', default: '4' },
    idle: { type: 'string', default: '10000' },
    kilobytes: { type: 'string', default: '1200' },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'throughline-sessions-'))
const problems: string[] = []
console.log(machineLine())
try {
  await warmUp()
  await measureActive(Number(values.active), Number(values.messages))
  await measureLong(Number(values.kilobytes))
  await measureIdle(Number(values.idle))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
for (const problem of problems) console.log(`does not hold: ${problem}`)
process.exitCode = problems.length === 0 ? 0 : 1

/** The clients and the model are this process; compiling their code was a third of its share of the first answers. */
async function warmUp(): Promise<void> {
  const terms = { store: join(folder, 'warm-up.db'), windowTokens: WINDOW_TOKENS }
  await withHost(terms, (host) => manySessions(host, { sessions: 100, messages: 4 }))
}

async function measureActive(sessions: number, messages: number): Promise<void> {
  const terms = { store: join(folder, 'active.db'), windowTokens: WINDOW_TOKENS }
  await withHost(terms, async (host) => {
    const empty = await host.figures()
    const { figures, answerMs } = await manySessions(host, { sessions, messages })
    const perSecond = (1_000 * answerMs.length) / figures.wallMs
    console.log(
      `${sessions} sessions at once, ${messages} messages each: ${perSecond.toFixed(0)} answers/s, ` +
        `p50 ${quantile(answerMs, 0.5).toFixed(0)} ms, p99 ${quantile(answerMs, 0.99).toFixed(0)} ms, ` +
        `${(figures.cpuMs / answerMs.length).toFixed(1)} ms of processor each; ` +
        `${perAnswer(figures, answerMs.length)}; ` +
        `memory ${mb(figures)} MB (${mb(empty)} before); ${held(figures)}; ${loadLine()}`,
    )
    judgeHeld(`${sessions} sessions`, figures)
    await sleep(SETTLE_MS)
    const rest = await host.rest(REST_MS)
    console.log(`${rest.sessions} sessions held at rest: ${share(rest)}, ${mb(figures)} MB`)
    judgeRest(`${rest.sessions} sessions at rest`, rest, RESTING_SHARE_MAX)
  })
}

async function measureLong(kilobytes: number): Promise<void> {
  const terms = { store: join(folder, 'long.db'), windowTokens: WINDOW_TOKENS }
  const figures = await withHost(terms, (host) => longSession(host, kilobytes))
  console.log(
    `one session of ${kilobytes} kB, compacted: ${held(figures)}, ${mb(figures)} MB; ${loadLine()}`,
  )
  judgeHeld('a long session', figures)
}

async function measureIdle(count: number): Promise<void> {
  const path = join(folder, 'idle.db')
  const none = await restOf(join(folder, 'none.db'))
  const store = await openSqliteStore({ path })
  const plain = { agent: 'main', limits: LIMITS, policy: 'steer' } as const
  for (let from = 0; from < count; from += 500) {
    const ids = Array.from({ length: Math.min(500, count - from) }, (_, index) => from + index)
    await Promise.all(
      ids.map((n) =>
        store.createSession({
          ...{ ...plain, id: sessionId(`idle${n}`), operation: operationId(randomUUID()) },
        }),
      ),
    )
  }
  await store.close()
  const many = await restOf(path)
  const line = (name: string, { figures, rest }: Idle) =>
    `${name}: started in ${figures.startMs.toFixed(0)} ms, ${mb(figures)} MB, ${share(rest)} at rest`
  console.log(line('no sessions', none))
  console.log(line(`${count} idle sessions`, many))
  judgeRest('no sessions', none.rest, IDLE_SHARE_MAX)
  const grown = (many.figures.rssBytes - none.figures.rssBytes) / 2 ** 20
  if (grown > IDLE_RSS_MB_MAX) problems.push(`idle sessions take ${grown.toFixed(0)} MB`)
}

interface Idle {
  readonly figures: HostFigures
  readonly rest: RestFigures
}

async function restOf(store: string): Promise<Idle> {
  return await withHost({ store, windowTokens: WINDOW_TOKENS }, async (host) => {
    await sleep(SETTLE_MS)
    return { rest: await host.rest(REST_MS), figures: await host.figures() }
  })
}

/** Acquisitions, titles and the rounds of the runner included. */
function perAnswer({ calls, mainMs }: HostFigures, answers: number): string {
  const sum = (isWanted: (verb: string) => boolean) =>
    Object.entries(calls).reduce((all, [verb, count]) => all + (isWanted(verb) ? count : 0), 0)
  const isCommit = (verb: string) => verb in RULES
  const reads = (sum((verb) => !isCommit(verb)) / answers).toFixed(1)
  const commits = (sum(isCommit) / answers).toFixed(1)
  return `${(mainMs / answers).toFixed(1)} ms of it in the main thread, ${reads} reads and ${commits} commits each`
}

function share({ cpuMs, mainMs, wallMs, wakeUps }: RestFigures): string {
  const percent = (ms: number) => `${((100 * ms) / wallMs).toFixed(2)}%`
  const perSecond = ((1_000 * wakeUps) / wallMs).toFixed(0)
  return `${percent(cpuMs)} of a core (${percent(mainMs)} the main thread, woken ${perSecond} times a second)`
}

function judgeRest(what: string, { cpuMs, wallMs }: RestFigures, shareMax: number): void {
  const percent = (100 * cpuMs) / wallMs
  if (percent > shareMax) problems.push(`${what} take ${percent.toFixed(2)}% of a core`)
}

function mb({ rssBytes }: HostFigures): string {
  return (rssBytes / 2 ** 20).toFixed(0)
}

function held({ heldMs, delayMs }: HostFigures): string {
  return `event loop held ${heldMs.toFixed(0)} ms at most (${delayMs.toFixed(0)} ms by the wall)`
}

function judgeHeld(what: string, { heldMs }: HostFigures): void {
  if (heldMs > HELD_MS_MAX) problems.push(`${what} held the event loop for ${heldMs.toFixed(0)} ms`)
}
