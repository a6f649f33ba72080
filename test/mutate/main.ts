import { spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom } from '../support/seeded-random.ts'
import { applyMutation, lineOf, mutationsOf } from './mutations.ts'
import { TestGraph } from './nearest.ts'

/**
 * `npm run mutate -- --seed N --count M [--only packages/core/src/store] [--resume]`: draws small changes of our
 * sources at random, runs types and the nearest tests over each, and lists those that nothing
 * noticed, by folder. A survivor is a place to look: a gap in the tests, or a change that makes no
 * difference. What was judged is kept in `.throughline`, so that an ended run can go on.
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

/** Of the tests that reach a file; what lies further away tests other things. */
const TEST_FILES_MAX = 40
/** A batch is ended at its first failure; the nearest come in the first. */
const BATCHES = [6, 34]
const BATCH_MS_MAX = 300_000
/** Their time says nothing of one change, or they test the tests. */
const LEFT_OUT = /\.full\.test\.ts$|^test\/(tidy|coverage|package|docs|mutate)|^bench\//

const root = join(import.meta.dirname, '../..')
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '100' },
    only: { type: 'string', default: 'packages/' },
    side: { type: 'string', default: '2' },
    resume: { type: 'boolean', default: false },
  },
})
const record = join(root, `.throughline/mutate-${values.seed}-${values.count}.jsonl`)
const graph = new TestGraph(root)
const judged: Judged[] = values.resume && existsSync(record) ? readRecord() : []
if (judged.length === 0) rmSync(record, { force: true })
mkdirSync(dirname(record), { recursive: true })
const isKnown = (drawn: Drawn) =>
  judged.some(({ file, line, what }) => `${file}${line}${what}` === keyOf(drawn))
const drawn = draw(Number(values.seed), Number(values.count))
const waiting = drawn.filter((each) => !isKnown(each))
process.stderr.write(`${drawn.length} mutants, ${drawn.length - waiting.length} judged before\n`)
await Promise.all(Array.from({ length: Number(values.side) }, work))
report()

function keyOf({ file, line, what }: Drawn): string {
  return `${file}${line}${what}`
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

/** Each in a copy of the tree of its own. */
async function work(): Promise<void> {
  const copy = makeCopy()
  try {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const path = join(copy, next.file)
      const original = readFileSync(path)
      writeFileSync(path, next.mutated)
      const killedBy = await judge(copy, next.file)
      writeFileSync(path, original)
      const { file, line, what } = next
      const verdict = { file, line, what, killedBy }
      judged.push(verdict)
      writeFileSync(record, `${JSON.stringify(verdict)}\n`, { flag: 'a' })
      const text = killedBy === null ? 'SURVIVED' : `killed by ${killedBy}`
      process.stderr.write(`${judged.length}/${drawn.length} ${file}:${line} ${what}: ${text}\n`)
    }
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

function makeCopy(): string {
  // Beside the project, as far as tests look for conversations there.
  const copy = mkdtempSync(join(tmpdir(), 'throughline-mutate-'))
  const skipped = /(^|\/)(node_modules|\.git|\.throughline)(\/|$)/
  cpSync(root, copy, {
    recursive: true,
    filter: (path) => !skipped.test(path.slice(root.length)),
  })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

async function judge(copy: string, file: string): Promise<string | null> {
  if (!(await passes(copy, ['tsc']))) return 'types'
  const tests = graph
    .testsOf(file)
    .flat()
    .filter((test) => !LEFT_OUT.test(test))
    .slice(0, TEST_FILES_MAX)
  let from = 0
  for (const size of BATCHES) {
    const batch = tests.slice(from, from + size)
    from += size
    if (batch.length === 0) break
    if (!(await passes(copy, ['vitest', 'run', '--bail=1', ...batch]))) return batch[0] ?? ''
  }
  return null
}

function passes(copy: string, [program = '', ...args]: readonly string[]): Promise<boolean> {
  const bin = join(root, 'node_modules', '.bin')
  const child = spawn(join(bin, program), args, {
    cwd: copy,
    env: {
      ...process.env,
      PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
      THROUGHLINE_CORPUS: process.env['THROUGHLINE_CORPUS'] ?? join(root, '../shared/corpus'),
    },
    stdio: 'ignore',
    detached: true,
  })
  const { promise, resolve } = Promise.withResolvers<boolean>()
  // A change that makes a test hang is noticed as well.
  const timer = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }, BATCH_MS_MAX)
  child.on('exit', (code) => {
    clearTimeout(timer)
    resolve(code === 0)
  })
  return promise
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
