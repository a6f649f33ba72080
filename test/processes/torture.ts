import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { findingsOf } from './checker.ts'
import { FAILPOINTS } from './failpoints.ts'
import { runStorm, type Storm, type StormEnd, seeded } from './storm.ts'

/**
 * `npm run torture -- --kills N [--resume]`: storms of 1, 4, 9 and 13 processes, two beside each
 * other (one comes to rest while the other one kills), until so many processes were killed, counted
 * over all runs that were resumed. One line per hundred kills; the last line is the verdict. A storm
 * that finds something leaves its folder behind.
 */
interface Progress {
  readonly kills: number
  readonly storms: number
  readonly lost: number
  readonly duplicated: number
  readonly reordered: number
  readonly idsChanged: number
  readonly broken: number
  readonly acknowledged: number
  readonly compactions: number
  readonly takeovers: number
  readonly givenUp: number
}

const NOTHING: Progress = {
  kills: 0,
  storms: 0,
  lost: 0,
  duplicated: 0,
  reordered: 0,
  idsChanged: 0,
  broken: 0,
  acknowledged: 0,
  compactions: 0,
  takeovers: 0,
  givenUp: 0,
}

const PROCESSES = [4, 13, 1, 9]
// Becoming idle costs the same after 50 kills as after 150.
const KILLS_PER_STORM = 150
const FAILPOINTS_PER_STORM = 45
const STORMS_AT_ONCE = 2
const FILE = join(import.meta.dirname, '..', '..', '.throughline', 'torture.json')

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '1000' },
    resume: { type: 'boolean', default: false },
    where: { type: 'string', default: 'disk' },
  },
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

let progress = values.resume ? read() : NOTHING
let begun = progress.storms
await Promise.all(Array.from({ length: STORMS_AT_ONCE }, rage))
console.log(sentence(progress))
process.exitCode = harm(progress) === 0 ? 0 : 1

async function rage(): Promise<void> {
  while (progress.kills < Number(values.kills)) {
    const storm = begun++
    const end = await weather(storm)
    const before = progress
    progress = sum(before, end)
    keep(progress)
    if (Math.floor(progress.kills / 100) > Math.floor(before.kills / 100)) {
      console.log(line(progress))
    }
  }
}

async function weather(storms: number): Promise<StormEnd> {
  const first = storms * FAILPOINTS_PER_STORM
  const failpoints = Array.from(
    { length: FAILPOINTS_PER_STORM },
    (_, index) => FAILPOINTS[(first + index) % FAILPOINTS.length] ?? '',
  )
  const end = await runStorm({
    processes: PROCESSES[storms % PROCESSES.length] ?? 1,
    kills: KILLS_PER_STORM,
    failpoints,
    random: seeded(storms + 1),
    where: place(values.where),
  })
  const findings = findingsOf(end.verdict)
  if (findings.length === 0) await end.remove()
  else {
    const told = [`storm ${storms + 1}, kept in ${end.folder}:`, ...findings.slice(0, 20)]
    console.log(told.join('\n  '))
  }
  return end
}

function sum(before: Progress, { verdict, kills }: StormEnd): Progress {
  const { lost, duplicated, reordered, idsChanged, broken, counts } = verdict
  return {
    kills: before.kills + kills,
    storms: before.storms + 1,
    lost: before.lost + lost.length,
    duplicated: before.duplicated + duplicated.length,
    reordered: before.reordered + reordered.length,
    idsChanged: before.idsChanged + idsChanged.length,
    broken: before.broken + broken.length,
    acknowledged: before.acknowledged + counts.acknowledged,
    compactions: before.compactions + counts.compactions,
    takeovers: before.takeovers + counts.takeovers,
    givenUp: before.givenUp + counts.givenUp,
  }
}

/** `memory`, `disk`, or the URL of a PostgreSQL server, where each storm gets a schema of its own. */
function place(where: string): NonNullable<Storm['where']> {
  if (where === 'memory' || where === 'disk') return where
  return { kind: 'postgres', url: where, schema: `torture_${Date.now().toString(36)}_${begun}` }
}

function harm({ lost, duplicated, reordered, idsChanged, broken }: Progress): number {
  return lost + duplicated + reordered + idsChanged + broken
}

function line(now: Progress): string {
  const { acknowledged, compactions, takeovers, givenUp } = now
  return `${sentence(now)} (${acknowledged} messages acknowledged, ${givenUp} given up, ${compactions} compactions, ${takeovers} take-overs)`
}

function sentence({ kills, lost, duplicated, reordered, idsChanged, broken }: Progress): string {
  const rest = broken === 0 ? '' : `, ${broken} otherwise broken`
  return `${kills} kills: ${lost} lost, ${duplicated} duplicated, ${reordered} reordered, ${idsChanged} ids changed${rest}`
}

function read(): Progress {
  try {
    return { ...NOTHING, ...(JSON.parse(readFileSync(FILE, 'utf8')) as Progress) }
  } catch {
    return NOTHING
  }
}

function keep(now: Progress): void {
  mkdirSync(dirname(FILE), { recursive: true })
  writeFileSync(`${FILE}.new`, `${JSON.stringify(now, null, 2)}\n`)
  renameSync(`${FILE}.new`, FILE)
}
