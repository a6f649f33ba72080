import { Worker } from 'node:worker_threads'
import { runSeed } from './run.ts'
import { missingCounters, type Tally, tallyUp } from './tally.ts'

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
  return at < 0 ? undefined : Number(args[at + 1])
}

async function runOne(only: number): Promise<void> {
  const { violations, trace } = await runSeed(only, undefined, args.includes('--trace'))
  if (trace.length > 0) console.log(trace.join('\n'))
  for (const { law, message } of violations) console.log(`${law}: ${message}`)
  end(1, violations.length === 0 ? 0 : 1)
}

async function runMany(from: number, count: number): Promise<void> {
  const startedAt = performance.now()
  const { tally, seconds } = await runOnAllCores(from, count, startedAt)
  for (const [name, value] of [...tally.counters].sort()) console.log(`  ${name}: ${value}`)
  const missing = missingCounters(tally)
  for (const name of missing) console.log(`never happened: ${name}`)
  for (const { seed: bad, law, message } of tally.violations) {
    console.log(`${law}: ${message}\n  replay: npm run sim -- --seed ${bad} --trace`)
  }
  console.log(`${(count / seconds).toFixed(0)} seeds/s, ${tally.events} events, from ${from}`)
  end(count, tally.violations.length, missing.length)
}

async function runOnAllCores(from: number, count: number, startedAt: number) {
  const { availableParallelism } = await import('node:os')
  const workers = Math.max(1, availableParallelism())
  const share = Math.ceil(count / workers)
  const tallies = await Promise.all(
    Array.from({ length: workers }, (_, index) => {
      const first = from + index * share
      return runWorker(first, Math.min(share, from + count - first))
    }),
  )
  return { tally: tallyUp(tallies), seconds: (performance.now() - startedAt) / 1000 }
}

function runWorker(from: number, count: number): Promise<Tally> {
  return new Promise((resolve, reject) => {
    const file = new URL('./seed-worker.ts', import.meta.url)
    const worker = new Worker(file, { workerData: { from, count } })
    worker.on('message', resolve)
    worker.on('error', reject)
  })
}

function end(seeds: number, violations: number, missing = 0): void {
  console.log(`${seeds} seeds, ${violations} violations`)
  process.exitCode = violations + missing === 0 ? 0 : 1
}
