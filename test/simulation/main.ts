import { runSeed } from './run.ts'

const args = process.argv.slice(2)
const numberOf = (name: string) => {
  const at = args.indexOf(name)
  return at < 0 ? undefined : Number(args[at + 1])
}
const seed = numberOf('--seed')
const from = seed ?? numberOf('--from') ?? 1
const count = seed === undefined ? (numberOf('--seeds') ?? 1_000) : 1
const counters = new Map<string, number>()
const start = performance.now()
let bad = 0
let events = 0
for (let n = from; n < from + count; n++) {
  const result = await runSeed(n, undefined, args.includes('--trace'))
  events += result.events
  if (args.includes('--trace')) console.log(result.trace.join('\n'))
  for (const [name, value] of result.counters) counters.set(name, (counters.get(name) ?? 0) + value)
  const [violation] = result.violations
  if (violation !== undefined) {
    bad++
    if (bad < 15) console.log(`seed ${n}: ${violation.law}: ${violation.message.slice(0, 700)}`)
  }
}
const seconds = (performance.now() - start) / 1000
for (const [name, value] of [...counters].sort()) console.log(`  ${name}: ${value}`)
console.log(
  `${(count / seconds).toFixed(0)} seeds/s, ${(events / count).toFixed(0)} events per seed`,
)
console.log(`${count} seeds, ${bad} violations`)
