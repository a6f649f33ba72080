import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCli } from '../support/run-cli.ts'
import { lawsBroken } from './broken.ts'
import { NOTHING } from './planted.ts'
import { CANNOT_OCCUR, SABOTAGES } from './sabotages.ts'

/**
 * `npm run rehearse:sabotages [-- --again] [-- NAME …]`: a short rehearsal with each planted bug, one
 * after another, and one without any. What was found is kept, so that a run that was ended goes on
 * where it was; `--again` begins anew. One row per bug: the laws that it breaks, how long it took,
 * and what speaks against the first of them.
 */
interface Outcome {
  readonly laws: readonly string[]
  readonly offences: readonly string[]
  readonly seconds: number
}

const FILE = join(import.meta.dirname, '..', '..', '.throughline', 'sabotages.json')
const ARGS = ['rehearse', '--agents', '2', '--seconds', '5', '--faults', 'none', '--json']
const OFFENCES_KEPT = 12
/** Broken by whatever is stuck: where these are all, nobody knows yet what was found. */
const VAGUE = ['played', 'settled', 'kept', 'answered', 'compacted', 'loop', 'store-messages']

const { values, positionals } = parseArgs({
  options: { again: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const isNamed = positionals.length > 0
const known: Record<string, Outcome> = values.again ? {} : read()
const wanted = SABOTAGES.filter(({ name }) => !isNamed || positionals.includes(name))
for (const { name } of wanted) {
  if (CANNOT_OCCUR[name] === undefined && (isNamed || !isCaught(name))) {
    known[name] = await rehearse(name)
    keep()
  }
  console.log(`${name.padEnd(34)} ${told(name)}`)
}
const bugs = wanted.filter(({ name }) => name !== NOTHING)
const possible = bugs.filter(({ name }) => CANNOT_OCCUR[name] === undefined)
const caught = possible.filter(({ name }) => isCaught(name))
const isControlled = known[NOTHING]?.laws.length === 0
if (bugs.length > possible.length) console.log(`${bugs.length - possible.length} cannot occur here`)
if (!isControlled)
  console.log('The control has found something, or was not run: nothing is proven.')
console.log(`${possible.length} sabotages, ${caught.length} caught`)
process.exitCode = caught.length === possible.length && isControlled ? 0 : 1

function isCaught(name: string): boolean {
  return (known[name]?.laws.length ?? 0) > 0
}

function told(name: string): string {
  const impossible = CANNOT_OCCUR[name]
  if (impossible !== undefined) return `cannot occur here: ${impossible}`
  const { laws = [], offences = [], seconds = 0 } = known[name] ?? {}
  const plain = offences.find((each) => !VAGUE.includes(each.slice(0, each.indexOf(':'))))
  const all = laws.length === 0 ? (name === NOTHING ? 'nothing' : 'NOT CAUGHT') : laws.join(', ')
  return `${`${seconds} s`.padStart(5)}  ${all}  (${(plain ?? offences[0] ?? '').slice(0, 120)})`
}

async function rehearse(name: string): Promise<Outcome> {
  const startedAt = performance.now()
  const { stdout, stderr } = await runCli([...ARGS, '--sabotage', name])
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  // A rehearsal that did not come to a verdict has caught nothing.
  if (stdout === '') return { laws: [], offences: [stderr.slice(-300)], seconds }
  const { laws, offences } = lawsBroken(stdout)
  const vague = (each: string) => VAGUE.includes(each.slice(0, each.indexOf(':')))
  const sorted = offences.toSorted((left, right) => Number(vague(left)) - Number(vague(right)))
  return { laws, offences: sorted.slice(0, OFFENCES_KEPT), seconds }
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
