import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join, relative } from 'node:path'
import { TestGraph } from './nearest.ts'
import { KEPT_MODULES } from './quick.ts'

/** Their time says nothing of one change, or they test the tests. */
export const LEFT_OUT = /\.full\.test\.ts$|^test\/(tidy|coverage|package|docs|mutate)|^bench\//
/** A run is ended at its first failure, and the nearest tests are in the first. */
const FILES_PER_RUN = 6
/** A change that makes a test hang is noticed as well. */
const RUN_MS_MAX = 120_000
/** Of a test file that has not run here yet. */
const SECONDS_GUESSED = { packages: 2, test: 8 }

type End = 'passed' | 'failed' | 'late'

/** Runs tests over a changed copy of the tree, one change at a time. */
export class Judge {
  readonly #root: string
  readonly #copy: string
  readonly #secondsMax: number
  readonly #graph: TestGraph
  readonly #times: string

  /** `secondsMax`: how long the tests of one change may take, by their times when nothing is wrong. */
  constructor(root: string, copy: string, secondsMax: number) {
    this.#root = root
    this.#copy = copy
    this.#secondsMax = secondsMax
    this.#graph = new TestGraph(root)
    this.#times = join(root, '.throughline/mutate-times.json')
  }

  /** What noticed the change; null: nothing did. The copy is as it was afterwards. */
  async judge({ file, mutated }: { file: string; mutated: string }): Promise<string | null> {
    const path = join(this.#copy, file)
    const original = readFileSync(path)
    try {
      for (const run of this.#runsFor(file)) {
        writeFileSync(path, mutated)
        const end = await this.#test(run)
        if (end === 'passed') continue
        const [first = ''] = run
        if (end === 'failed' && areaOf(first) === 'packages') return first
        // On a busy machine tests are late, and those of processes fail: then it was not this change.
        writeFileSync(path, original)
        if ((await this.#test(run)) === 'passed') return first
      }
      return null
    } finally {
      writeFileSync(path, original)
    }
  }

  /** The nearest tests that fit into the time; a single long one does not push out the others. */
  #runsFor(file: string): string[][] {
    const times = this.#readTimes()
    const runs: string[][] = []
    let left = this.#secondsMax
    for (const test of this.#graph.testsOf(file)) {
      const area = areaOf(test)
      const seconds = times[test] ?? SECONDS_GUESSED[area]
      if (LEFT_OUT.test(test) || seconds > left) continue
      left -= seconds
      const last = runs.at(-1)
      const joins = last?.[0]?.startsWith(area) === true && last.length < FILES_PER_RUN
      if (joins) last.push(test)
      else runs.push([test])
    }
    return runs
  }

  async #test(files: readonly string[]): Promise<End> {
    const report = join(this.#copy, '.throughline-report.json')
    // Tests of sources leave no mark on a module: `npm test` runs them so as well.
    const modules = areaOf(files[0] ?? '') === 'packages' ? ['--no-isolate'] : []
    const reporter = ['--reporter=json', `--outputFile=${report}`]
    const args = ['run', '--bail=1', ...modules, ...reporter, ...KEPT_MODULES, ...files]
    const end = await this.#run('vitest', args)
    if (end === 'passed') this.#keepTimes(report)
    return end
  }

  #readTimes(): { [test: string]: number } {
    if (!existsSync(this.#times)) return {}
    return JSON.parse(readFileSync(this.#times, 'utf8')) as { [test: string]: number }
  }

  #keepTimes(report: string): void {
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
      readonly testResults: readonly { name: string; startTime: number; endTime: number }[]
    }
    const times = this.#readTimes()
    for (const { name, startTime, endTime } of testResults) {
      times[relative(this.#copy, name)] = Math.round((endTime - startTime) / 100) / 10
    }
    writeFileSync(this.#times, JSON.stringify(times))
  }

  #run(program: string, args: readonly string[]): Promise<End> {
    const bin = join(this.#root, 'node_modules', '.bin')
    const { PATH = '', THROUGHLINE_CORPUS = join(this.#root, '../shared/corpus') } = process.env
    const child = spawn(join(bin, program), args, {
      cwd: this.#copy,
      env: { ...process.env, PATH: `${bin}${delimiter}${PATH}`, THROUGHLINE_CORPUS },
      stdio: 'ignore',
      detached: true,
    })
    const { promise, resolve } = Promise.withResolvers<End>()
    const timer = setTimeout(() => {
      resolve('late')
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    }, RUN_MS_MAX)
    child.on('exit', (code) => {
      clearTimeout(timer)
      resolve(code === 0 ? 'passed' : 'failed')
    })
    return promise
  }
}

function areaOf(test: string): 'packages' | 'test' {
  return test.startsWith('packages/') ? 'packages' : 'test'
}
