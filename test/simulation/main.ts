import { runOnAllCores } from './cores.ts'
import { runSeed } from './run.ts'
import { missingCounters } from './tally.ts'

/**
 * `npm run sim -- --seeds N --from M`: N seeds from M on, over all cores. `--seed N --trace` runs
 * one and tells every event. The last line is `N seeds, V violations`.
 */
const args = process.argv.slice(2)
const seed = numberOf('--seed')
if (seed === undefined) await runMany(numberOf('--from') ?? 1, numberOf('--seeds') ?? 10_000)
else await runOne(seed)

function numberOf(name: string): number | undefined {
  const at = args.indexOf(name)
  if (at < 0) return undefined
  const number = Number(args[at + 1])
  if (Number.isInteger(number) && number >= 0) return number
  console.error(`${name} takes a whole number, found ${args[at + 1]}.`)
  process.exit(2)
}

async function runOne(only: number): Promise<void> {
  const { violations, trace } = await runSeed(only, undefined, args.includes('--trace'))
  if (trace.length > 0) console.log(trace.join('\n'))
  for (const { law, message } of violations) console.log(`${law}: ${message}`)
  end(1, violations.length === 0 ? 0 : 1)
}

async function runMany(from: number, count: number): Promise<void> {
  const startedAt = performance.now()
  const tally = await runOnAllCores(from, count)
  const seconds = (performance.now() - startedAt) / 1000
  for (const [name, value] of [...tally.counters].sort()) console.log(`  ${name}: ${value}`)
  const missing = missingCounters(tally)
  for (const name of missing) console.log(`never happened: ${name}`)
  for (const { seed: bad, law, message } of tally.violations) {
    console.log(`${law}: ${message}\n  replay: npm run sim -- --seed ${bad} --trace`)
  }
  const next = from + count
  const rate = (count / seconds).toFixed(0)
  console.log(`${rate} seeds/s, ${tally.events} events; go on with --from ${next}`)
  end(count, tally.violations.length, missing.length)
}

function end(seeds: number, violations: number, missing = 0): void {
  console.log(`${seeds} seeds, ${violations} violations`)
  process.exitCode = violations + missing === 0 ? 0 : 1
}
