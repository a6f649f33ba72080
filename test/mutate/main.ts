import { createHash } from 'node:crypto'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom } from '../support/seeded-random.ts'
import { refuseByTypes } from './compile.ts'
import { Judge, LEFT_OUT } from './judge.ts'
import { applyMutation, lineOf, mutationsOf } from './mutations.ts'
import { TestGraph } from './nearest.ts'
import { type Placed, type Plan, placeMutants, QuickRecord, runQuickly } from './quick.ts'

/** Tests that start many processes. */
const HEAVY = /^test\/(?:browser|clients|processes|rehearsal|simulation)/
/**
 * Of the nearest test files of each mutant, those from one place up to another: the very nearest kill
 * most, and each later round runs only the mutants that are left. Tests of `test/` start processes.
 */
const NEAREST = [
  { area: 'packages/', from: 0, to: 2, filesPerProcess: 12 },
  { area: 'packages/', from: 2, to: 8, filesPerProcess: 12 },
  { area: 'test/', from: 0, to: 3, filesPerProcess: 3 },
  { area: 'packages/', from: 8, to: 30, filesPerProcess: 12 },
  { area: 'test/', from: 3, to: 10, filesPerProcess: 3 },
] as const

/**
 * `npm run mutate -- --seed N --count M [--only packages/core/src/store] [--seconds 20] [--afresh]`:
 * draws small changes of our sources at random and lists by folder those that no test notices.
 *
 * 1. Quickly: all of them stand behind switches in one copy of the tree, and each of the nearest tests
 *    runs once more with each mutant that it is near to and reaches.
 * 2. Types of those that are left, many at a time; then more tests, quickly as well.
 * 3. Slowly: what acts while a module loads, or cannot stand behind a switch, gets a run of the nearest
 *    tests for itself, up to `--seconds`.
 *
 * A survivor is a place to look: a gap in the tests, or a change that makes no difference. What was
 * found is kept in `.throughline` at once, and the same command goes on from there, on the same sources.
 */
interface Drawn extends Placed {
  readonly line: number
}

const root = join(import.meta.dirname, '../..')
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '100' },
    only: { type: 'string', default: 'packages/' },
    seconds: { type: 'string', default: '20' },
    afresh: { type: 'boolean', default: false },
  },
})
const drawn = draw(Number(values.seed), Number(values.count))
const record = openRecord()
const graph = new TestGraph(root)
const copy = makeCopy()
try {
  const judged = await judgeAll()
  report(judged)
} finally {
  rmSync(copy, { recursive: true, force: true })
}

/** Files by chance, larger ones more often; then one of the mutations of the file. */
function draw(seed: number, count: number): Drawn[] {
  const random = seededRandom(seed)
  const files = globSync('packages/{core,server}/src/**/*.ts', { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.startsWith(values.only) && !/\.test\.ts$|\/index\.ts$/.test(file))
    .filter((file) => !file.includes('/contract-suite/'))
    .sort()
  const all = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return mutationsOf(text).map((mutation) => ({ file, text, mutation }))
  })
  const taken = new Set<number>()
  while (taken.size < Math.min(count, all.length)) taken.add(Math.floor(random() * all.length))
  return [...taken].flatMap((at, index) => {
    const found = all[at]
    return found === undefined
      ? []
      : [{ ...found, id: index + 1, line: lineOf(found.text, found.mutation) }]
  })
}

function nameOf({ file, line, mutation }: Drawn): string {
  return `${file}:${line} ${mutation.what}`
}

/** Of these mutants: after a change of the sources others are drawn, and the record starts again. */
function openRecord(): QuickRecord {
  const hash = createHash('sha256').update(drawn.map(nameOf).join('\n')).digest('hex')
  const name = `mutate-${values.seed}-${values.count}-${hash.slice(0, 8)}.jsonl`
  const file = join(root, '.throughline', name)
  if (values.afresh) rmSync(file, { force: true })
  mkdirSync(dirname(file), { recursive: true })
  return new QuickRecord(file)
}

async function judgeAll(): Promise<Map<Drawn, string | null>> {
  const [nearest, ...further] = NEAREST
  await judgeQuickly(nearest)
  await judgeTypes()
  for (const tests of further) await judgeQuickly(tests)
  await judgeSlowly()
  return new Map(drawn.map((each) => [each, record.killed.get(each.id) ?? null]))
}

function alive(): Drawn[] {
  return drawn.filter(({ id }) => !record.killed.has(id))
}

async function judgeQuickly(tests: (typeof NEAREST)[number]): Promise<void> {
  const placed = placeMutants(copy, drawn)
  const mutants = alive().filter(({ id }) => placed.has(id))
  const { area, from, filesPerProcess } = tests
  const round = { record, name: `${area} from ${from}`, filesPerProcess }
  await runQuickly({ root, copy }, planFor(mutants, tests), round)
  for (const { file, text } of drawn) writeFileSync(join(copy, file), text)
}

/** The nearest test files of each mutant. */
function planFor(mutants: readonly Drawn[], tests: (typeof NEAREST)[number]): Plan {
  const plan = new Map<string, number[]>()
  for (const { id, file } of mutants) {
    const near = graph.testsOf(file)
    const chosen = near.filter((test) => test.startsWith(tests.area) && !LEFT_OUT.test(test))
    for (const test of chosen.slice(tests.from, tests.to)) {
      const known = plan.get(test)
      if (known === undefined) plan.set(test, [id])
      else known.push(id)
    }
  }
  // Those that start many processes come last.
  const isHeavy = (test: string) => Number(HEAVY.test(test))
  return new Map([...plan].sort(([a], [b]) => isHeavy(a) - isHeavy(b) || a.localeCompare(b)))
}

/**
 * What no test reached while it ran: the nearest tests may still see it while they load. A worker
 * thread loads modules with the mutant on, where its test runs with another copy of them.
 */
async function judgeSlowly(): Promise<void> {
  const judge = new Judge(root, copy, Number(values.seconds))
  const isJudged = ({ id, mutation }: Drawn) => record.reached.has(id) && !mutation.atLoad
  const waiting = drawn.filter(
    (each) => !record.killed.has(each.id) && !record.slow.has(each.id) && !isJudged(each),
  )
  for (const [at, each] of waiting.entries()) {
    const { id, file, text, mutation } = each
    const by = await judge.judge({ file, mutated: applyMutation(text, mutation) })
    record.add(by === null ? { slow: id } : { killed: id, by })
    const end = by === null ? 'not noticed' : `killed by ${by}`
    process.stderr.write(`${at + 1} of ${waiting.length} one by one: ${nameOf(each)}: ${end}\n`)
  }
}

async function judgeTypes(): Promise<void> {
  if (record.areTypesDone) return
  const mutants = alive()
  process.stderr.write(`types of ${mutants.length} mutants\n`)
  await refuseByTypes({ root, copy }, mutants, ({ id }) => {
    record.add({ killed: id, by: 'types' })
  })
  record.add({ areTypesDone: true })
}

/** Our sources are never changed. */
function makeCopy(): string {
  // Beside the project, as far as tests look for conversations there.
  const copy = mkdtempSync(join(tmpdir(), 'throughline-mutate-'))
  const skipped = /(^|\/)(node_modules|\.git|\.throughline)(\/|$)/
  cpSync(root, copy, {
    recursive: true,
    filter: (path) => !skipped.test(path.slice(root.length)),
  })
  linkPackages(join(copy, 'node_modules'))
  return copy
}

/** Foreign packages are shared; our own are those of the copy, or its tests would run our sources. */
function linkPackages(folder: string): void {
  mkdirSync(join(folder, '@throughline'), { recursive: true })
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name === '@throughline' || name === 'throughline') continue
    symlinkSync(join(root, 'node_modules', name), join(folder, name))
  }
  symlinkSync('../packages/server', join(folder, 'throughline'))
  for (const name of ['core', 'dashboard']) {
    symlinkSync(`../../packages/${name}`, join(folder, '@throughline', name))
  }
}

function report(judged: ReadonlyMap<Drawn, string | null>): void {
  const folders = Map.groupBy(judged, ([{ file }]) => file.split('/').slice(0, 4).join('/'))
  for (const [folder, members] of [...folders].sort()) {
    const left = members.filter(([, killedBy]) => killedBy === null)
    process.stdout.write(`${folder}: ${left.length} of ${members.length} survived\n`)
    for (const [each] of left) process.stdout.write(`  ${nameOf(each)}\n`)
  }
  const count = [...judged.values()].filter((killedBy) => killedBy === null).length
  const share = ((100 * count) / Math.max(1, judged.size)).toFixed(1)
  process.stdout.write(`${count} of ${judged.size} survived (${share} %)\n`)
}
