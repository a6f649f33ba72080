import { parseArgs } from 'node:util'
import { Cores } from './cores.ts'
import { addTally, keepRecord, readRecord, type SimulationRecord } from './record.ts'
import { runSeed } from './run.ts'
import { missingCounters, runSeeds, type Tally, tallyUp } from './tally.ts'

/** Saved often enough that an interrupted run loses little. */
const SEEDS_PER_ROUND = 2_000

/**
 * `npm run sim -- --seeds N --from M`: N seeds from M on, over all cores or `--cores K`. With
 * `--resume` N is the total over all resumed runs: seeds 1 to N, going on where the last run ended.
 * `--seed N --trace` runs one and tells every event. The last line is `N seeds, V violations`.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '10000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    cores: { type: 'string' },
    trace: { type: 'boolean', default: false },
    resume: { type: 'boolean', default: false },
  },
})
const count = wholeNumber('--seeds', values.seeds)
const cores = values.cores === undefined ? undefined : wholeNumber('--cores', values.cores)

if (values.seed !== undefined) await runOne(wholeNumber('--seed', values.seed))
else if (values.resume) await resume()
else await runMany(wholeNumber('--from', values.from))

function wholeNumber(name: string, text: string): number {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 0) return number
  console.error(`${name} takes a whole number, found ${text}.`)
  process.exit(2)
}

async function runOne(only: number): Promise<void> {
  const { violations, trace } = await runSeed(only, undefined, values.trace)
  if (trace.length > 0) console.log(trace.join('\n'))
  for (const { law, message } of violations) console.log(`${law}: ${message}`)
  end(1, violations.length === 0 ? 0 : 1)
}

async function runMany(from: number): Promise<void> {
  const startedAt = performance.now()
  const workers = new Cores(cores)
  const tally = await workers.run(from, count)
  await workers.close()
  const seconds = (performance.now() - startedAt) / 1000
  for (const [name, value] of [...tally.counters].sort()) console.log(`  ${name}: ${value}`)
  const missing = missingCounters(tally)
  for (const name of missing) console.log(`never happened: ${name}`)
  tell(tally.violations)
  const rate = (count / seconds).toFixed(0)
  console.log(`${rate} seeds/s, ${tally.events} events; go on with --from ${from + count}`)
  end(count, tally.violations.length, missing.length)
}

async function resume(): Promise<void> {
  const workers = new Cores(cores)
  let record = await withoutMended(readRecord())
  while (record.seeds < count) {
    const startedAt = performance.now()
    const from = record.seeds + 1
    const tally = await workers.run(from, Math.min(SEEDS_PER_ROUND, count - record.seeds))
    record = addTally(record, from, tally)
    keepRecord(record)
    tell(tally.violations)
    const rate = ((tally.seeds * 1000) / (performance.now() - startedAt)).toFixed(0)
    console.log(`${record.seeds} seeds, ${rate}/s, ${record.soundSince} since the last violation`)
  }
  await workers.close()
  tell(record.violations)
  end(record.seeds, record.violations.length)
}

/** A violation counts until its seed has passed again. */
async function withoutMended(before: SimulationRecord): Promise<SimulationRecord> {
  const again: Tally[] = []
  for (const { seed } of before.violations) again.push(await runSeeds(seed, 1))
  return { ...before, violations: tallyUp(again).violations }
}

function tell(violations: Tally['violations']): void {
  for (const { seed, law, message } of violations) {
    console.log(`${law}: ${message}\n  replay: npm run sim -- --seed ${seed} --trace`)
  }
}

function end(seeds: number, violations: number, missing = 0): void {
  console.log(`${seeds} seeds, ${violations} violations`)
  process.exitCode = violations + missing === 0 ? 0 : 1
}
