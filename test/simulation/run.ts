import { memoryReads } from '../../packages/core/src/store/memory/reads.ts'
import type { ReplyRow } from '../../packages/core/src/store/tables/rows.ts'
import { COMPOSITION, type Composition } from './composition.ts'
import { ForkWorkload } from './fork-workload.ts'
import { Laws } from './laws.ts'
import { SimProcess } from './sim-process.ts'
import { WideWorkload } from './wide-workload.ts'
import { Workload } from './workload.ts'
import { type Violation, World } from './world.ts'

export interface SeedResult {
  readonly seed: number
  readonly violations: readonly Violation[]
  readonly counters: ReadonlyMap<string, number>
  readonly events: number
  readonly trace: readonly string[]
}

/** How long the run may take to become idle once faults stop (I23). */
const REST_MS_MAX = 240_000
/** A protocol that loops makes events without end. */
const EVENTS_MAX = 60_000

/** One run: first all the faults of the seed, then none, and everything must finish. */
export async function runSeed(
  seed: number,
  composition: Composition = COMPOSITION,
  isTraced = false,
): Promise<SeedResult> {
  const world = new World(seed, asOperated(seed, composition), isTraced)
  const { chance, timeline, violations } = world
  const laws = new Laws(world)
  const client = new SimProcess(world, laws, 'client', true)
  const processes = Array.from(
    { length: chance.between(1, 3) },
    (_, index) => new SimProcess(world, laws, `p${index}`, false),
  )
  const roughMs = chance.between(3_000, 11_000)
  new Workload(world, laws, client, processes).plan(roughMs)
  if (world.isWide) new WideWorkload(world, laws, client, processes).plan(roughMs)
  const forks = world.hasForks ? new ForkWorkload(world, laws, client, processes) : null
  forks?.plan(roughMs)
  for (const process of processes) process.start()

  const isOver = () => violations.length > 0 || timeline.events > EVENTS_MAX
  await timeline.run(roughMs, isOver)
  world.hasFaults = false
  world.say('no more faults')
  for (const process of processes) process.life.pausedUntil = 0
  let events = 0
  const isAtRest = () => isOver() || (events++ % 16 === 0 && isQuiet(world))
  const ended = await timeline.run(timeline.now + REST_MS_MAX, isAtRest)
  if (violations.length === 0 && (!ended || timeline.events > EVENTS_MAX)) {
    world.violate('I23', `not at rest: ${describe(world)}`)
  }
  if (violations.length === 0) await checkAtRest(world, laws)
  if (violations.length === 0 && forks !== null) await forks.checkAtRest()
  const { counters, trace } = world
  return { seed, violations, counters, events: timeline.events, trace: trace ?? [] }
}

/**
 * Every fourth operator wants to wait for the model where nothing fits any more. Every third leaves
 * contexts larger and keeps less of them word for word, so that clearings suffice more often.
 */
function asOperated(seed: number, composition: Composition): Composition {
  const settings = {
    ...composition.settings,
    ...(seed % 4 === 3 && { atHardLimit: 'wait' as const }),
    ...(seed % 3 === 1 && { targetShare: 0.65, sections: { keepTokens: 100 } }),
  }
  return { ...composition, settings }
}

function isQuiet({ tables }: World): boolean {
  for (const row of tables.sessions.values()) {
    if (row.state !== 'open') continue
    const { control, user, notification } = row.pending
    if (control + user + notification > 0 || row.turnState === 'running') return false
    if (row.owed.length > 0) return false
    if (row.operation !== null || (row.by === 'digest' && row.rewrites < 3)) return false
  }
  for (const reply of tables.replies.values()) if (isDue(reply)) return false
  return true
}

/** An erased reply has nothing left to send. */
function isDue({ state, body }: ReplyRow): boolean {
  return state === 'waiting' && body !== null
}

function describe({ tables, timeline }: World): string {
  const rows = [...tables.sessions.values()].map(
    ({ id, pending, turnState, operation, by, rewrites, openCalls, runner }) => ({
      ...{ id, pending, turnState, operation, by, rewrites, openCalls },
      held: runner !== null && tables.runners.has(runner),
    }),
  )
  const replies = [...tables.replies.values()].filter(isDue)
  return JSON.stringify({ events: timeline.events, rows, replies: replies.length })
}

/** Checks that need a finished run. */
async function checkAtRest(world: World, laws: Laws): Promise<void> {
  const { tables, seed } = world
  for (const [id, { sessionId, mail: number }] of laws.acks) {
    const shadow = laws.shadows.get(sessionId)
    if (shadow?.isDeleted === true) continue
    const mail = shadow?.mail[number - 1]
    if (mail === undefined) world.violate('I1', `acknowledged ${id} is gone`)
    else if (mail.lane !== 'control' && mail.state === 'admitted' && mail.entry === null) {
      world.violate('I3', `acknowledged ${id} was never delivered`)
    }
  }
  for (const shadow of laws.shadows.values()) {
    laws.forgotten(shadow)
    if (shadow.running !== null) world.violate('I20', `${shadow.running.id} never ended`)
    if (!tables.sessions.has(shadow.id as never)) world.violate('I5', `${shadow.id} is gone`)
  }
  if (tables.sessions.size !== laws.shadows.size) world.violate('I5', 'other sessions than born')
  for (const reply of tables.replies.values()) {
    if (reply.body !== null && !laws.wasSent(reply))
      world.violate('I31', `reply ${reply.number} was never sent`)
  }
  // The slower checks run on every eighth seed, which is enough because each has other transcripts.
  if (seed % 8 !== 0) return
  for (const finding of memoryReads(tables).verify({})) world.violate('I19', finding.problem)
  await laws.replayContexts()
}
