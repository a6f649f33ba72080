import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { parseAst } from 'vitest/node'
import { applyMutation, type Edit, type Mutation } from './mutations.ts'

/**
 * Judges many mutants in few processes: their places are put into the sources of the copy together,
 * each behind a switch, and `runner.ts` runs every test with those that it reaches. What it kills is
 * killed; a mutant that it does not reach, or that acts while a module loads, is left to the slow judge.
 */
export interface Placed {
  /** From 1. */
  readonly id: number
  readonly file: string
  readonly text: string
  readonly mutation: Mutation
}

/**
 * A mutant holds up a test that stands still for so long: one that only waits ends sooner. Three times as
 * long kept a draw of 600 waiting for minutes at each endless loop.
 */
const STANDSTILL_MS = 50_000

/** What was transformed for one process serves the next. */
export const KEPT_MODULES = [
  '--experimental.fsModuleCache',
  '--experimental.fsModuleCachePath=.modules',
]

interface Found {
  /** The last that ran. */
  active: number
  /** Test files that have begun, in order. */
  readonly begun: Set<string>
  /** A mutant held the process up, and it was ended within the last of them. */
  isHeldUp: boolean
  readonly killed: Map<number, string>
  readonly reached: Set<number>
  /** Milliseconds that tests ran with each mutant. */
  readonly spent: Map<number, number>
}

/** What the quick runs have found so far. A test file that is done is not run again. */
export class QuickRecord {
  readonly #file: string
  readonly killed = new Map<number, string>()
  readonly reached = new Set<number>()
  readonly done = new Set<string>()
  areTypesDone = false
  /** Run one by one and not noticed. */
  readonly slow = new Set<number>()

  constructor(file: string) {
    this.#file = file
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
    for (const line of lines) this.#read(JSON.parse(line) as { [key: string]: unknown })
  }

  #read(line: { [key: string]: unknown }): void {
    const { killed, by, reached, done, slow, areTypesDone } = line
    if (areTypesDone === true) this.areTypesDone = true
    if (typeof slow === 'number') this.slow.add(slow)
    if (typeof killed === 'number' && !this.killed.has(killed)) this.killed.set(killed, String(by))
    for (const id of (reached as number[] | undefined) ?? []) this.reached.add(id)
    for (const test of (done as string[] | undefined) ?? []) this.done.add(test)
  }

  add(line: { readonly [key: string]: unknown }): void {
    this.#read(line)
    writeFileSync(this.#file, `${JSON.stringify(line)}\n`, { flag: 'a' })
  }
}

/** Puts mutants into the copy; those that would overlap an earlier one are left out. Tells which are in. */
export function placeMutants(copy: string, mutants: readonly Placed[]): ReadonlySet<number> {
  const placed = new Set<number>()
  for (const [file, members] of Map.groupBy(mutants, (mutant) => mutant.file)) {
    const edits: Edit[] = []
    const [{ text }] = members as [Placed]
    for (const { id, mutation } of members) {
      const edit = mutation.guarded?.(`globalThis.__mutated?.(${id})`)
      if (edit === undefined || edits.some((other) => overlap(edit, other))) continue
      if (!parses(applyMutation(text, edit))) continue
      edits.push(edit)
      placed.add(id)
    }
    const fromTheEnd = edits.toSorted((a, b) => b.start - a.start)
    writeFileSync(join(copy, file), fromTheEnd.reduce(applyMutation, text))
  }
  return placed
}

function overlap(a: Edit, b: Edit): boolean {
  return a.start < b.end && b.start < a.end
}

function parses(text: string): boolean {
  try {
    parseAst(text, { lang: 'ts' })
    return true
  } catch {
    return false
  }
}

/** For which mutants a test file is run. */
export type Plan = ReadonlyMap<string, readonly number[]>

export interface Round {
  readonly name: string
  /** Then come fresh modules, and what was found is kept. */
  readonly filesPerProcess: number
}

/**
 * Runs the test files over the copy in which the mutants stand behind switches. A test reaches many
 * more mutants than those that its file was chosen for; trying them all took hours. A mutant gets its
 * time once for the whole round.
 */
export async function runQuickly(
  { root, copy }: { root: string; copy: string },
  plan: Plan,
  { record, name, filesPerProcess }: Round & { readonly record: QuickRecord },
): Promise<void> {
  const nameOf = (test: string) => `${test} ${name}`
  const isAlive = (id: number) => !record.killed.has(id)
  const spent = new Map<number, number>()
  const waiting = [...plan.keys()].filter((test) => !record.done.has(nameOf(test)))
  while (waiting.length > 0) {
    const batch = waiting.splice(0, filesPerProcess)
    const wanted = new Map(batch.map((test) => [test, plan.get(test)?.filter(isAlive) ?? []]))
    const left = batch.filter((test) => wanted.get(test)?.length !== 0)
    let again: readonly string[] = []
    if (left.length > 0) {
      const found = await runBatch({ root, copy }, left, {
        wanted: Object.fromEntries(wanted),
        spent: Object.fromEntries(spent),
      })
      if (found.reached.size > 0) record.add({ reached: [...found.reached] })
      for (const [id, by] of found.killed) record.add({ killed: id, by })
      for (const [id, ms] of found.spent) spent.set(id, (spent.get(id) ?? 0) + ms)
      again = unfinished(left, found)
    }
    waiting.unshift(...again)
    record.add({ done: batch.filter((test) => !again.includes(test)).map(nameOf) })
    process.stderr.write(`${waiting.length} test files left, ${record.killed.size} killed\n`)
  }
}

/** The files that a process did not come to, or not to the end of, since a mutant held it up. */
export function unfinished(
  batch: readonly string[],
  { active, begun, isHeldUp }: Pick<Found, 'active' | 'begun' | 'isHeldUp'>,
): readonly string[] {
  if (!isHeldUp) return []
  const last = [...begun].at(-1)
  // Without a mutant the file itself stands still, and would again.
  const isOver = (test: string) => begun.has(test) && (test !== last || active === 0)
  return batch.filter((test) => !isOver(test))
}

/** For the runner: the mutants of each test file, and what was spent on them before. */
export interface Orders {
  readonly wanted: { readonly [test: string]: readonly number[] }
  readonly spent: { readonly [id: string]: number }
}

async function runBatch(
  { root, copy }: { root: string; copy: string },
  tests: readonly string[],
  orders: Orders,
): Promise<Found> {
  const scratch = mkdtempSync(join(tmpdir(), 'throughline-mutants-'))
  const record = join(scratch, 'record')
  writeFileSync(record, '')
  writeFileSync(join(scratch, 'mutants'), JSON.stringify(orders))
  const bin = join(root, 'node_modules', '.bin')
  const { PATH = '', THROUGHLINE_CORPUS = join(root, '../shared/corpus') } = process.env
  const config = join(copy, 'test/mutate/vitest.config.ts')
  const child = spawn(
    join(bin, 'vitest'),
    ['run', `--config=${config}`, '--reporter=dot', ...KEPT_MODULES, ...tests],
    {
      cwd: copy,
      env: {
        ...process.env,
        PATH: `${bin}${delimiter}${PATH}`,
        THROUGHLINE_CORPUS,
        THROUGHLINE_MUTANTS: join(scratch, 'mutants'),
        THROUGHLINE_MUTANTS_RECORD: record,
        THROUGHLINE_MUTANTS_REACHED: join(scratch, 'reached'),
        NODE_OPTIONS: `--import=${join(copy, 'test/mutate/switch.ts')}`,
      },
      stdio: 'ignore',
      detached: true,
    },
  )
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  child.on('exit', () => resolve())
  let size = 0
  let changedAt = performance.now()
  let isHeldUp = false
  const watch = setInterval(() => {
    const { size: now } = statSync(record)
    if (now !== size) changedAt = performance.now()
    size = now
    isHeldUp = performance.now() - changedAt > STANDSTILL_MS
    if (isHeldUp && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }, 1_000)
  await ended
  clearInterval(watch)
  const found = readFound(record)
  if (statSync(record).size === 0) throw new Error(`no test ran: ${tests.join(' ')}`)
  rmSync(scratch, { recursive: true, force: true })
  found.isHeldUp = isHeldUp
  if (isHeldUp && found.active !== 0) found.killed.set(found.active, 'standing still')
  return found
}

function readFound(record: string): Found {
  const found: Found = {
    ...{ active: 0, begun: new Set(), isHeldUp: false, killed: new Map(), reached: new Set() },
    spent: new Map(),
  }
  for (const line of readFileSync(record, 'utf8').split('\n').filter(Boolean)) {
    const { at, active, killed, by, title, reached, spent, ms } = JSON.parse(line) as {
      readonly at?: string
      readonly active?: number
      readonly killed?: number
      readonly by?: string
      readonly title?: string
      readonly reached?: readonly number[]
      readonly spent?: number
      readonly ms?: number
    }
    if (at !== undefined) found.begun.add(at)
    if (active !== undefined) found.active = active
    if (killed !== undefined) found.killed.set(killed, `${by}: ${title}`)
    for (const id of reached ?? []) found.reached.add(id)
    if (spent !== undefined) found.spent.set(spent, (found.spent.get(spent) ?? 0) + (ms ?? 0))
  }
  return found
}
