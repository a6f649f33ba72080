import { setTimeout as sleep } from 'node:timers/promises'
import { leaseFor, PACES } from './agent-options.ts'
import { check, type Verdict } from './checker.ts'
import { Host, isAtRest, type Life, until } from './host.ts'

/**
 * One storm: so many agents on one file, each killed again and again, at random or at a failpoint,
 * and started again under its name. Then no more kills, everything must come to rest, and the
 * checker looks. Sessions belong to all of them, so every death is somebody else's take-over.
 */
export interface Storm {
  readonly processes: number
  readonly kills: number
  /** Tried in this order, one per life, until each has ended a process. */
  readonly failpoints: readonly string[]
  readonly random: () => number
  readonly disk?: 'memory' | 'real'
  readonly mutant?: string
}

export interface StormEnd {
  readonly verdict: Verdict
  readonly kills: number
  /** Failpoints that never ended a process. */
  readonly missed: readonly string[]
  /** Where it happened; whoever ran the storm removes it. */
  readonly folder: string
  remove(): void
}

const LIFE_MS_MAX = 3_000
const TRIES_MAX = 6
const REST_MS_MAX = 45_000

export async function runStorm(storm: Storm): Promise<StormEnd> {
  const { processes, random } = storm
  const sessions = Array.from({ length: Math.max(2, processes) }, (_, index) => `main-${index}`)
  const host = await Host.make(sessions, storm.disk)
  const seats = Array.from({ length: processes }, (_, index) => `p${index}`)
  const waiting = storm.failpoints.map((name) => ({ name, tries: 0 }))
  const missed: string[] = []
  const faults: string[] = []
  let kills = 0

  const start = (name: string, failpoint?: string) =>
    host.start(
      {
        name,
        agents: ['main'],
        lease: leaseFor(processes),
        paces: PACES,
        sends: { sessions, paceMs: processes * 8 },
      },
      {
        ...(failpoint !== undefined && { failpoint }),
        ...(storm.mutant !== undefined && { mutant: storm.mutant }),
      },
    )

  const endOf = async (life: Life) => {
    const { code, signal } = await life.ended
    if (signal === 'SIGKILL') kills++
    else faults.push(`a process ended with ${code ?? signal}: ${life.stderr.slice(0, 400)}`)
  }

  const liveAtRandom = async (seat: string) => {
    const life = start(seat)
    // Some die while they open the store, most of them at work.
    if (random() < 0.85) await life.ready
    await sleep(random() ** 2 * (400 + 120 * processes))
    life.kill()
    await endOf(life)
  }

  const liveUntil = async (seat: string, failpoint: { name: string; tries: number }) => {
    const isFarewell = /^(retireRunner|release)/.test(failpoint.name)
    const count = isFarewell || failpoint.tries > 0 ? 1 : 1 + Math.floor(random() * 3)
    const life = start(seat, `${failpoint.name}:${count}:kill`)
    await life.ready
    if (isFarewell) {
      await endsWithin(life, 900)
      life.kill('SIGTERM')
    }
    const isEnded = await endsWithin(life, LIFE_MS_MAX)
    if (!isEnded) life.kill()
    const { code } = await life.ended
    if (!isEnded || code !== null) {
      failpoint.tries++
      if (failpoint.tries < TRIES_MAX) waiting.push(failpoint)
      else missed.push(failpoint.name)
    }
    // Told to go, it may be gone in good order before it came to its failpoint.
    if (!isFarewell || code !== 0) await endOf(life)
  }

  let begun = 0
  const occupy = async (seat: string) => {
    while (begun < storm.kills || waiting.length > 0) {
      begun++
      const failpoint = begun > storm.kills || random() < 0.7 ? waiting.shift() : undefined
      if (failpoint !== undefined) await liveUntil(seat, failpoint)
      else await liveAtRandom(seat)
    }
  }
  await Promise.all(seats.map(occupy))

  host.askForQuiet()
  const last = seats.map((seat) => start(seat))
  const verdict = await host.using(async (store) => {
    let rest = 'not at rest'
    await until('everything is at rest', () => isAtRest(store), {
      withinMs: REST_MS_MAX,
      everyMs: 100,
    }).then(
      () => {
        rest = ''
      },
      () => {},
    )
    for (const life of last) life.kill('SIGTERM')
    for (const life of last) {
      const { code } = await life.ended
      if (code !== 0) faults.push(`a last process ended with ${code}: ${life.stderr.slice(0, 400)}`)
    }
    const found = await check(host, store)
    found.broken.push(...faults)
    if (rest !== '') found.broken.push(`${rest} after ${REST_MS_MAX} ms`)
    return found
  })
  return { verdict, kills, missed, folder: host.folder, remove: () => host.remove() }
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
