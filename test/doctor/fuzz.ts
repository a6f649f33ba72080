import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { judgeSeed } from './judges/judge.ts'

/**
 * `npm run doctor:fuzz [-- COUNT [FIRST]]`: examines generated homes of schemas 4 to 30, brings them
 * over, repairs them and takes them back, 2,000 unless told, and prints what was missed, invented or lost. Where it is stopped, the next run goes on.
 */
const [count = 2_000, first = 1] = process.argv.slice(2).map(Number)
const place = join(tmpdir(), `throughline-doctor-fuzz-${first}-${count}.next`)
const folder = mkdtempSync(join(tmpdir(), 'throughline-doctor-fuzz-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

const begunAt = performance.now()
const from = readPlace() ?? first
let wrong = 0
for (let seed = from; seed < first + count; seed++) {
  const problems = await judgeSeed(seed, join(folder, 'home'))
  for (const problem of problems) console.log(problem)
  wrong += problems.length === 0 ? 0 : 1
  if (seed % 100 === 0) writeFileSync(place, String(seed + 1))
}
rmSync(place, { force: true })
const seconds = ((performance.now() - begunAt) / 1_000).toFixed(1)
console.log(
  `${first + count - from} homes, seeds ${from} to ${first + count - 1}: ${wrong} told wrongly, ${seconds} s`,
)
process.exitCode = wrong === 0 ? 0 : 1

function readPlace(): number | null {
  try {
    return Number(readFileSync(place, 'utf8')) || null
  } catch {
    return null
  }
}
