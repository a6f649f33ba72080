import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCli } from '../support/run-cli.ts'
import { isCaught, isClean, type Outcome, readOutcome } from './outcome.ts'
import { NOTHING } from './planted.ts'
import { SABOTAGES } from './sabotages.ts'

/**
 * `npm run rehearse:sabotages [-- --again] [-- NAME …]`: a short rehearsal with each planted bug, one
 * after another, and one without any. What was found is kept, so that a run that was ended goes on
 * where it was; `--again` begins anew. One row per bug: the laws that it breaks, how long it took,
 * what speaks against the first of them, and at which commit where that is another one.
 */
interface Kept extends Outcome {
  readonly seconds: number
  /** Absent where nobody knows. */
  readonly commit?: string
}

const ROOT = join(import.meta.dirname, '..', '..')
const FILE = join(ROOT, '.throughline', 'sabotages.json')
const ARGS = ['rehearse', '--agents', '2', '--seconds', '5', '--faults', 'none', '--json']
const OFFENCES_KEPT = 12
/** Broken by whatever is stuck: told where nothing says more. */
const STUCK = ['played', 'settled', 'kept', 'answered', 'compacted', 'loop', 'store-messages']

const { values, positionals } = parseArgs({
  options: { again: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const isNamed = positionals.length > 0
const commit = findCommit()
const known: Record<string, Kept> = values.again ? {} : read()
const wanted = SABOTAGES.filter(({ name }) => !isNamed || positionals.includes(name))
for (const { name } of wanted) {
  if (isNamed || !isFound(name)) {
    known[name] = await rehearse(name)
    keep()
  }
  console.log(`${name.padEnd(34)} ${told(name)}`)
}
const bugs = wanted.filter(({ name }) => name !== NOTHING)
const caught = bugs.filter(({ name }) => isFound(name))
const control = known[NOTHING]
const isControlled = control !== undefined && isClean(control)
const names = new Set([...wanted.map(({ name }) => name), NOTHING])
const elsewhere = [...names].filter((name) => isElsewhere(known[name]))
if (!isControlled)
  console.log('The control has found something, or came to no verdict: nothing is proven.')
if (elsewhere.length > 0)
  console.log(`Of another commit, or of an unknown one: ${elsewhere.length}; --again renews them.`)
console.log(`${bugs.length} sabotages, ${caught.length} caught${commit ? `, at ${commit}` : ''}`)
process.exitCode = caught.length === bugs.length && isControlled ? 0 : 1

function isFound(name: string): boolean {
  const outcome = known[name]
  return outcome !== undefined && isCaught(outcome)
}

function isElsewhere(kept: Kept | undefined): boolean {
  return kept !== undefined && kept.commit !== commit
}

function told(name: string): string {
  const kept = known[name]
  if (kept === undefined) return 'not run'
  const { laws, offences, seconds } = kept
  const broken = laws === null ? 'no report' : laws.join(', ') || 'nothing'
  const missed = name === NOTHING || isCaught(kept) ? '' : 'NOT CAUGHT: '
  const at = isElsewhere(kept) ? `  [${kept.commit ?? 'unknown commit'}]` : ''
  const plain = offences[0]?.replaceAll('\n', ' ') ?? ''
  return `${`${seconds} s`.padStart(5)}  ${missed}${broken}  (${plain.slice(0, 120)})${at}`
}

async function rehearse(name: string): Promise<Kept> {
  const startedAt = performance.now()
  const { stdout, stderr } = await runCli([...ARGS, '--sabotage', name])
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  const { laws, offences } = readOutcome(stdout)
  const isStuck = (each: string) => STUCK.includes(each.slice(0, each.indexOf(':')))
  const sorted = offences.toSorted((left, right) => Number(isStuck(left)) - Number(isStuck(right)))
  return {
    laws,
    offences: laws === null ? [stderr.slice(-300)] : sorted.slice(0, OFFENCES_KEPT),
    seconds,
    ...(commit !== undefined && { commit }),
  }
}

/** What the tree is a clone of, and whether it was changed since; undefined without git. */
function findCommit(): string | undefined {
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }).trim()
  try {
    const head = git('rev-parse', '--short', 'HEAD')
    return git('--no-optional-locks', 'status', '--porcelain') === ''
      ? head
      : `${head} with changes`
  } catch {
    return undefined
  }
}

function read(): Record<string, Kept> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, Kept>
  } catch {
    return {}
  }
}

function keep(): void {
  mkdirSync(dirname(FILE), { recursive: true })
  writeFileSync(`${FILE}.new`, `${JSON.stringify(known, null, 2)}\n`)
  renameSync(`${FILE}.new`, FILE)
}
