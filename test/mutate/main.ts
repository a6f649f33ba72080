import {
  cpSync,
  existsSync,
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
import { Judge } from './judge.ts'
import { applyMutation, lineOf, mutationsOf } from './mutations.ts'

/**
 * `npm run mutate -- --seed N --count M [--only packages/core/src/store] [--seconds 30] [--afresh]`:
 * draws small changes of our sources at random, runs the nearest tests over each, then the types over
 * what is left, and lists by folder what no test noticed. A survivor is a place to look: a gap in the
 * tests, or a change that makes no difference. Each verdict is kept in `.throughline` at once, and the
 * same command goes on from there.
 */
interface Drawn {
  readonly file: string
  readonly line: number
  readonly what: string
  readonly mutated: string
}

interface Judged {
  readonly file: string
  readonly line: number
  readonly what: string
  /** Null: nothing noticed it. */
  readonly killedBy: string | null
}

const root = join(import.meta.dirname, '../..')
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '100' },
    only: { type: 'string', default: 'packages/' },
    side: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '30' },
    afresh: { type: 'boolean', default: false },
  },
})
const record = join(root, `.throughline/mutate-${values.seed}-${values.count}.jsonl`)
if (values.afresh) rmSync(record, { force: true })
mkdirSync(dirname(record), { recursive: true })
const judged: Judged[] = existsSync(record) ? readRecord() : []
const known = new Set(judged.map(keyOf))
const drawn = draw(Number(values.seed), Number(values.count))
const waiting = drawn.filter((each) => !known.has(keyOf(each)))
process.stderr.write(`${drawn.length} mutants, ${drawn.length - waiting.length} judged before\n`)
const startedAt = performance.now()
let judgedNow = 0
await Promise.all(Array.from({ length: Number(values.side) }, work))
report()

function keyOf({ file, line, what }: Omit<Drawn, 'mutated'>): string {
  return `${file}:${line} ${what}`
}

function readRecord(): Judged[] {
  const lines = readFileSync(record, 'utf8').split('\n').filter(Boolean)
  return lines.map((line) => JSON.parse(line) as Judged)
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
  return [...taken].flatMap((at) => {
    const found = all[at]
    if (found === undefined) return []
    const { file, text, mutation } = found
    const mutated = applyMutation(text, mutation)
    return [{ file, line: lineOf(text, mutation), what: mutation.what, mutated }]
  })
}

/** Each in a copy of the tree of its own: our sources are never changed. */
async function work(): Promise<void> {
  const copy = makeCopy()
  const judge = new Judge(root, copy, Number(values.seconds))
  try {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const killedBy = await judge.judge(next)
      const { file, line, what } = next
      const verdict = { file, line, what, killedBy }
      judged.push(verdict)
      writeFileSync(record, `${JSON.stringify(verdict)}\n`, { flag: 'a' })
      judgedNow += 1
      const text = killedBy === null ? 'SURVIVED' : `killed by ${killedBy}`
      process.stderr.write(`${progress()} ${keyOf(next)}: ${text}\n`)
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function progress(): string {
  const survivors = judged.filter(({ killedBy }) => killedBy === null).length
  const seconds = (performance.now() - startedAt) / 1_000 / judgedNow
  const left = Math.ceil((seconds * waiting.length) / 60)
  return `${drawn.length - waiting.length}/${drawn.length} (${survivors} survive, ${seconds.toFixed(0)} s each, ${left} min left)`
}

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

function report(): void {
  const survivors = judged.filter(({ killedBy }) => killedBy === null)
  const folders = Map.groupBy(judged, ({ file }) => file.split('/').slice(0, 2).join('/'))
  for (const [folder, members] of [...folders].sort()) {
    const left = members.filter(({ killedBy }) => killedBy === null)
    process.stdout.write(`${folder}: ${left.length} of ${members.length} survived\n`)
    for (const { file, line, what } of left) process.stdout.write(`  ${file}:${line} ${what}\n`)
  }
  const share = ((100 * survivors.length) / Math.max(1, judged.length)).toFixed(1)
  process.stdout.write(`${survivors.length} of ${judged.length} survived (${share} %)\n`)
}
