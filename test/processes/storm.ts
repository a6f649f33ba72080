import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../packages/core/src/store/contract.ts'
import { CALM_LEASE, leaseFor, PACES } from './agent-options.ts'
import { judge, type Verdict } from './checker.ts'
import { Host, type Life, until } from './host.ts'
import type { Place } from './place.ts'
import { readAcks } from './sending-client.ts'

/**
 * One storm: several agents on one store, each killed again and again, at random or at a failpoint,
 * and restarted under its name. Then the kills stop, everything must become idle, and the checker
 * runs. All agents share the sessions, so every kill leads to a take-over.
 */
export interface Storm {
  readonly processes: number
  readonly kills: number
  /** Tried in this order, one per life, until each has ended a process. */
  readonly failpoints: readonly string[]
  readonly random: () => number
  readonly where?: 'memory' | 'disk' | Place
  readonly mutant?: string
}

export interface StormEnd {
  readonly verdict: Verdict
  readonly kills: number
  /** Failpoints that never ended a process. */
  readonly missed: readonly string[]
  /** The folder of the run; the caller removes it. */
  readonly folder: string
  remove(): Promise<void>
}

const LIFE_MS_MIN = 3_000
/** If processes start slowly, they also reach their failpoint slowly. */
const STARTS_PER_LIFE = 6
const TRIES_MAX = 6
/** A storm in which nothing is ever sent must end too; its test reports that. */
const KILLS_FACTOR_MAX = 5
const REST_MS_MAX = 90_000
/** The processes that finish the work of the killed ones; more would only start more slowly. */
const SURVIVORS_MAX = 3

export async function runStorm(storm: Storm): Promise<StormEnd> {
  const { processes, random } = storm
  const sessions = Array.from({ length: Math.max(2, processes) }, (_, index) => `main-${index}`)
  const host = await Host.make(sessions, storm.where)
  const seats = Array.from({ length: processes }, (_, index) => `p${index}`)
  const waiting = storm.failpoints.map((name) => ({ name, tries: 0 }))
  const missed: string[] = []
  let kills = 0

  const start = (name: string, failpoint?: string, lease = leaseFor(processes)) =>
    host.start(
      {
        name,
        agents: ['main'],
        lease,
        paces: PACES,
        sends: { sessions, paceMs: processes * 12 },
      },
      {
        ...(failpoint !== undefined && { failpoint }),
        ...(storm.mutant !== undefined && { mutant: storm.mutant }),
      },
    )

  const endOf = async (life: Life) => {
    const { signal } = await life.ended
    if (signal === 'SIGKILL') kills++
  }

  const liveAtRandom = async (seat: string) => {
    const life = start(seat)
    // Some are killed while they open the store, most while they work.
    if (random() < 0.85) await life.ready
    await sleep(random() ** 2 * (400 + 120 * processes))
    life.kill()
    await endOf(life)
  }

  const liveUntil = async (seat: string, failpoint: { name: string; tries: number }) => {
    const isFarewell = /^(retireRunner|release)/.test(failpoint.name)
    const count = isFarewell || failpoint.tries > 0 ? 1 : 1 + Math.floor(random() * 3)
    const startedAt = performance.now()
    // A process that loses its lease before its first step never reaches a failpoint.
    const lease = failpoint.tries === 0 ? leaseFor(processes) : CALM_LEASE
    const life = start(seat, `${failpoint.name}:${count}:kill`, lease)
    await life.ready
    const patienceMs = Math.max(LIFE_MS_MIN, STARTS_PER_LIFE * (performance.now() - startedAt))
    if (isFarewell) {
      await endsWithin(life, 900)
      life.kill('SIGTERM')
    }
    const isEnded = await endsWithin(life, patienceMs)
    if (!isEnded) life.kill()
    const { code } = await life.ended
    if (!isEnded || code !== null) {
      failpoint.tries++
      if (failpoint.tries < TRIES_MAX) waiting.push(failpoint)
      else missed.push(failpoint.name)
    }
    await endOf(life)
  }

  /** Processes killed before they send have nothing to lose, so such a storm continues. */
  const isEmpty = () => seats.flatMap((seat) => readAcks(host.folder, seat)).length <= storm.kills
  const mayGoOn = () => kills < KILLS_FACTOR_MAX * storm.kills

  let lives = 0
  const occupy = async (seat: string) => {
    while (kills + lives < storm.kills || waiting.length > 0 || (isEmpty() && mayGoOn())) {
      const isPlain = kills + lives < storm.kills && random() < 0.4
      const failpoint = isPlain ? undefined : waiting.shift()
      lives++
      if (failpoint !== undefined) await liveUntil(seat, failpoint)
      else await liveAtRandom(seat)
      lives--
    }
  }
  await Promise.all(seats.map(occupy))

  const isCompacted = () => host.using(hasCompacted)
  if (await isCompacted()) host.askForQuiet()
  for (const seat of seats.slice(0, SURVIVORS_MAX)) start(seat, undefined, CALM_LEASE)
  // If all were killed before a threshold was crossed, the survivors send until one is.
  await until('something was compacted', isCompacted, { withinMs: REST_MS_MAX, everyMs: 250 })
  host.askForQuiet()
  const verdict = await judge(host, REST_MS_MAX)
  return { verdict, kills, missed, folder: host.folder, remove: () => host.remove() }
}

async function hasCompacted(store: Store): Promise<boolean> {
  const sessions = await store.listSessions({ limit: 1_000 })
  return sessions.some(({ effective }) => effective > 0)
}

async function endsWithin(life: Life, ms: number): Promise<boolean> {
  const timer = new AbortController()
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false)
  const isEnded = await Promise.race([late, life.ended.then(() => true)])
  timer.abort()
  return isEnded
}

/** A small generator with a printed seed; the order of processes is the machine's own. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
