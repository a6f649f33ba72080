import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { type RunnerTask, type RunnerTestCase, type RunnerTestFile, TestRunner } from 'vitest'
import type { Orders } from './quick.ts'
import type { Switch } from './switch.ts'

/**
 * Runs each test as it is, then once more with each living mutant whose place it reached, in the same
 * process: no start and no loading between two mutants. A mutant counts as killed if the test fails
 * with it and passes again without it.
 */

/** A test that a mutant makes wait for ever ends after this and 20 times its usual time, at most this much more. */
const LATE_MS = 4_000
const LATE_MS_MORE = 20_000
/** What all tests of a process may spend on one mutant, with what was spent before. */
const MUTANT_MS_MAX = 20_000
/** Of processor time for one test file: a few with hundreds of slow tests would hold up the rest. */
const FILE_CPU_MS_MAX = 15_000
/** Of time in all without a mutant, since a test that waits for other processes uses none of its own. */
const FILE_MS_MAX = 45_000

const {
  THROUGHLINE_MUTANTS: mutantsFile = '',
  THROUGHLINE_MUTANTS_REACHED: reachedFile = '',
  THROUGHLINE_MUTANTS_RECORD: record = '',
} = process.env
const mutants = (globalThis as unknown as { __mutants: Switch }).__mutants
const { wanted, spent } = JSON.parse(readFileSync(mutantsFile, 'utf8')) as Orders
const killed = new Set<number>()
const spentMs = new Map(Object.entries(spent).map(([id, ms]) => [Number(id), ms]))
const cpuMsAtStart = new Map<string, number>()
/** Of each test file, without mutants. */
const baselineMs = new Map<string, number>()

interface Trial {
  waiting: number[]
  active: number
  /** Failed with this one; it is about to run without. */
  suspect: number
  baselineMs: number
  startedAt: number
}

export default class MutantRunner extends TestRunner {
  readonly #trials = new WeakMap<object, Trial>()

  onCollected(files: readonly RunnerTestFile[]): void {
    for (const file of files) inOrder(file)
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    await super.onBeforeRunTask(test)
    const startedAt = cpuMsAtStart.get(fileOf(test)) ?? cpuMs()
    cpuMsAtStart.set(fileOf(test), startedAt)
    const isOver =
      cpuMs() - startedAt > FILE_CPU_MS_MAX ||
      (baselineMs.get(fileOf(test)) ?? 0) > FILE_MS_MAX ||
      !wanted[fileOf(test)]?.some(isWanted)
    if (isOver) test.mode = 'skip'
    // Another attempt is how the runner calls the hooks around a test again.
    test.retry = 1_000_000
    this.#trials.set(test, { waiting: [], active: 0, suspect: 0, baselineMs: -1, startedAt: 0 })
  }

  override onBeforeTryTask(
    test: RunnerTestCase,
    options: { retry: number; repeats: number },
  ): void {
    super.onBeforeTryTask(test, options)
    const trial = this.#trialOf(test)
    if (test.result !== undefined) {
      test.result.errors = []
      test.result.attempts = []
    }
    if (trial.baselineMs < 0) {
      mutants.reached.clear()
      writeFileSync(reachedFile, '')
    }
    mutants.calls = 0
    mutants.active = trial.active
    process.env['THROUGHLINE_MUTANT'] = String(trial.active)
    note({ at: fileOf(test), active: trial.active })
    trial.startedAt = performance.now()
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    const { baselineMs } = this.#trialOf(test)
    const run = TestRunner.getTestFn(test)()
    if (baselineMs < 0) return await run
    const late = Promise.withResolvers<never>()
    const ms = LATE_MS + baselineMs + Math.min(20 * baselineMs, LATE_MS_MORE)
    const timer = setTimeout(() => late.reject(new Error('late')), ms)
    await Promise.race([run, late.promise]).finally(() => clearTimeout(timer))
  }

  override async onAfterRetryTask(
    test: RunnerTestCase,
    options: { retry: number; repeats: number },
  ): Promise<void> {
    await super.onAfterRetryTask(test, options)
    const trial = this.#trialOf(test)
    const ms = performance.now() - trial.startedAt
    const { result } = test
    mutants.active = 0
    process.env['THROUGHLINE_MUTANT'] = '0'
    if (result === undefined || result.state === 'skip') return
    // It says nothing of mutants. Only a passing test is not tried again, and one that is marked as
    // failing turns its result round afterwards.
    if (test.fails === true || (trial.baselineMs < 0 && result.state !== 'pass')) {
      note({ unfit: `${fileOf(test)}: ${test.name}` })
      result.state = test.fails === true ? 'fail' : 'pass'
      result.errors = []
      return
    }
    if (!this.#learn(test, trial, result.state === 'pass', ms)) trial.waiting = []
    const next = trial.suspect === 0 ? takeNext(trial) : 0
    if (next === 0 && trial.suspect === 0) {
      result.state = 'pass'
      result.errors = []
      return
    }
    trial.active = next
    result.state = 'fail'
    result.errors = [{ message: 'the next mutant' }]
  }

  /** False: the test cannot be run again, so it says nothing. */
  #learn(test: RunnerTestCase, trial: Trial, passed: boolean, ms: number): boolean {
    if (trial.baselineMs < 0) {
      trial.baselineMs = ms
      const file = fileOf(test)
      baselineMs.set(file, (baselineMs.get(file) ?? 0) + ms)
      const reached = readFileSync(reachedFile, 'utf8').split('\n').filter(Boolean).map(Number)
      trial.waiting = [...new Set(reached)].filter((id) => wanted[file]?.includes(id))
      return true
    }
    if (trial.suspect !== 0) {
      const id = trial.suspect
      trial.suspect = 0
      if (!passed) return false
      killed.add(id)
      note({ killed: id, by: fileOf(test), title: test.name })
      return true
    }
    const id = trial.active
    spentMs.set(id, (spentMs.get(id) ?? 0) + ms)
    note({ spent: id, ms })
    // Only a run to the end says that the test does not mind it.
    if (passed) note({ reached: [id] })
    else trial.suspect = id
    return true
  }

  #trialOf(test: object): Trial {
    const trial = this.#trials.get(test)
    if (trial === undefined) throw new Error('a test runs that was not announced')
    return trial
  }
}

/** One mutant at a time is active in the process. */
function inOrder(task: RunnerTask): void {
  task.concurrent = false
  if (task.type === 'suite') for (const each of task.tasks) inOrder(each)
}

function fileOf(test: RunnerTestCase): string {
  return relative(process.cwd(), test.file.filepath).replaceAll('\\', '/')
}

function takeNext(trial: Trial): number {
  for (let id = trial.waiting.shift(); id !== undefined; id = trial.waiting.shift()) {
    if (isWanted(id)) return id
  }
  return 0
}

function isWanted(id: number): boolean {
  return !killed.has(id) && (spentMs.get(id) ?? 0) < MUTANT_MS_MAX
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

function note(what: object): void {
  appendFileSync(record, `${JSON.stringify(what)}\n`)
}
