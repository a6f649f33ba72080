import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCli } from '../support/run-cli.ts'
import { lawsBroken } from './broken.ts'
import { CANNOT_OCCUR, SABOTAGES } from './sabotages.ts'

/**
 * `npm run rehearse:sabotages [-- --again] [-- NAME …]`: a short rehearsal with each planted bug, one
 * after another. What was found is kept, so that a run that was ended goes on where it was; `--again`
 * begins anew. One row per bug: the laws that it breaks and how long that took.
 */
interface Outcome {
  readonly laws: readonly string[]
  readonly first: string
  readonly seconds: number
}

const FILE = join(import.meta.dirname, '..', '..', '.throughline', 'sabotages.json')
const ARGS = ['rehearse', '--agents', '2', '--seconds', '6', '--faults', 'none', '--json']

const { values, positionals } = parseArgs({
  options: { again: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const isNamed = positionals.length > 0
const known: Record<string, Outcome> = values.again ? {} : read()
const wanted = SABOTAGES.filter(({ name }) => !isNamed || positionals.includes(name))
for (const { name } of wanted) {
  const reason = CANNOT_OCCUR[name]
  if (reason !== undefined) {
    console.log(`${name.padEnd(34)} cannot occur here: ${reason}`)
    continue
  }
  if (isNamed || (known[name]?.laws.length ?? 0) === 0) {
    known[name] = await rehearse(name)
    keep()
  }
  const { laws, first, seconds } = known[name] ?? { laws: [], first: '', seconds: 0 }
  const caught = laws.length === 0 ? 'NOT CAUGHT' : laws.join(', ')
  console.log(`${name.padEnd(34)} ${`${seconds} s`.padStart(6)}  ${caught}  ${first.slice(0, 110)}`)
}
const possible = wanted.filter(({ name }) => CANNOT_OCCUR[name] === undefined)
const caught = possible.filter(({ name }) => (known[name]?.laws.length ?? 0) > 0).length
const impossible = wanted.length - possible.length
if (impossible > 0) console.log(`${impossible} cannot occur here`)
console.log(`${possible.length} sabotages, ${caught} caught`)
process.exitCode = caught === possible.length ? 0 : 1

async function rehearse(name: string): Promise<Outcome> {
  const startedAt = performance.now()
  const { stdout, stderr } = await runCli([...ARGS, '--sabotage', name])
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  const { laws, offences } = lawsBroken(stdout)
  // A rehearsal that did not come to a verdict has caught nothing.
  if (stdout === '') return { laws: [], first: stderr.slice(-300), seconds }
  return { laws, first: offences[0] ?? '', seconds }
}

function read(): Record<string, Outcome> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Outcome>
  } catch {
    return {}
  }
}

function keep(): void {
  mkdirSync(dirname(FILE), { recursive: true })
  writeFileSync(`${FILE}.new`, `${JSON.stringify(known, null, 2)}\n`)
  renameSync(`${FILE}.new`, FILE)
}
