import { spawn } from 'node:child_process'
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { bundleCommand } from './bundle.ts'
import type { Report } from './reporter.ts'

/**
 * `npm test [-- WORD…]`: types, lint, then the test files of the tree, three parts at a time: half of
 * them start processes and mostly wait for them. A part is a package, a folder of `test/`, the small
 * folders together, or the files directly in `test/`; new ones are found, not listed. Words select
 * the test files whose path holds one of them.
 *
 * `npm run test:full` runs the files named `*.full.test.ts` as well: storms, drills and rehearsals
 * that take minutes and prove at length what a shorter test proves in small.
 *
 * With `CI=true`, files in which a test failed run once more, each alone, after everything else. A
 * test that passes then is named as flaky; one that fails again has failed (decision 71).
 *
 * The last line is always `N passed, N failed`, with `, N skipped` behind it if any were.
 */
interface Part {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  /** The test files; none if the part is a command. */
  readonly files: readonly string[]
}

interface Outcome extends Report {
  readonly part: Part
  readonly durationMs: number
  /** Processor time of the part and of the processes it started; null where the system does not tell. */
  readonly processorMs: number | null
}

// The slowest part takes four minutes on two quiet cores; one that hangs must not block the run
// forever.
const PART_MS_MAX = 1_200_000

/** More failed files than this are a fault, not an unlucky moment, and running them alone would take long. */
const RERUN_FILES_MAX = 10

const SLOWEST_SHOWN = 40

/** How the name of a file ends that only `npm run test:full` runs. */
const FULL = '.full.test.ts'

/** The parts that take longest, longest first: what begins last decides how long one core works alone at the end. */
const LONG_PARTS = [
  ...[
    'test/contracts',
    'test/product',
    'test/browser',
    'test/gateways',
    'core',
    'test/model',
    'test',
  ],
  ...['server', 'test/terminal', 'test/processes', 'test/guides', 'test/journeys', 'test/doctor'],
]

/** Folders of few quick tests: each run of its own would cost three seconds more. */
const SMALL_PARTS = [
  ...['bench', 'test/library', 'test/mutants', 'test/mutate', 'test/rehearsal', 'test/samples'],
  ...['test/clients', 'test/tables', 'test/wire'],
]

/** Keeps all cores busy by itself, and has a time to keep. */
const LONE_PART = 'test/simulation'

/** Their tests start processes and wait for them: two files at a time keep two cores no busier. */
const WAITING_PARTS = [
  'test/contracts',
  'test/gateways',
  'test/journeys',
  'test/model',
  'test/product',
  'test/terminal',
]

/** Parts of many files that load the same sources, and use one browser. */
const SHARED_MODULES = [
  ...['core', 'server', 'test/browser', 'test/doctor', 'test/gateways', 'test/model'],
  'test/product',
]

const root = join(import.meta.dirname, '..')
const reports = mkdtempSync(join(tmpdir(), 'throughline-test-'))
// Tests start the command in it as other users, too.
chmodSync(reports, 0o755)

// The parts are not in the terminal's group: an interrupt reaches us only, and we end them.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const isFull = process.argv.includes('--full')
const words = process.argv.slice(2).filter((word) => word !== '--full')
const parts = listParts()
const startedAt = performance.now()
const bundled = await bundleCommand(join(reports, 'command'))
const outcomes: Outcome[] = []
let processorTicks = 0
const lone = parts.findIndex(({ name }) => name === LONE_PART)
for (const part of lone === -1 ? [] : parts.splice(lone, 1)) outcomes.push(await runPart(part))
parts.sort((a, b) => rankOf(a) - rankOf(b))
await Promise.all([workThrough(), workThrough(), workThrough()])
const flaky = process.env['CI'] === 'true' ? await runFailedAlone() : []
rmSync(reports, { recursive: true })
printSummary()
process.exitCode = outcomes.length > 0 && outcomes.every((outcome) => !hasFailed(outcome)) ? 0 : 1

/** Takes the next part as long as there is one; who is quicker does more. */
async function workThrough(): Promise<void> {
  for (let part = parts.shift(); part !== undefined; part = parts.shift())
    outcomes.push(await runPart(part))
}

function rankOf({ name }: Part): number {
  const rank = LONG_PARTS.indexOf(name)
  return rank === -1 ? LONG_PARTS.length : rank
}

function listParts(): Part[] {
  const files = listFiles('.test.ts').filter((file) => isFull || !file.endsWith(FULL))
  const areas = Map.groupBy(files, (file) => {
    const part = partOf(file)
    return SMALL_PARTS.includes(part) ? 'small folders' : part
  })
  const commands: readonly Part[] = [
    // Several threads check the same types, each for itself: a third more work. `npm run check` keeps
    // what it found; only what changed since is checked again, a quarter of the work.
    {
      name: 'types',
      command: [
        ...(['tsc', '--singleThreaded', '--incremental'] as const),
        ...['--tsBuildInfoFile', 'node_modules/.cache/tsc.tsbuildinfo'],
      ],
      files: [],
    },
    { name: 'types/page', command: ['tsc', '-p', 'packages/dashboard'], files: [] },
    { name: 'lint', command: ['biome', 'check', '.'], files: [] },
  ]
  return [
    ...commands.filter(({ name }) => isWanted(name)),
    ...[...areas].map(([name, members]): Part => {
      const workers = WAITING_PARTS.includes(name) ? ['--maxWorkers=2'] : []
      // No test changes a module's state, and loading the sources again for each file is a third of the time.
      const modules = SHARED_MODULES.includes(name) ? ['--no-isolate'] : []
      return {
        name,
        command: ['vitest', 'run', ...workers, ...modules, ...members],
        files: members,
      }
    }),
  ]
}

function listFiles(ending: string): readonly string[] {
  return globSync(`{packages/*/src,test,bench}/**/*${ending}`, { cwd: root })
    .filter(isWanted)
    .sort()
}

function isWanted(name: string): boolean {
  return words.length === 0 || words.some((word) => name.includes(word))
}

function partOf(file: string): string {
  const [top = '', next = '', ...rest] = file.split(/[\\/]/)
  if (top === 'packages') return next
  return top === 'test' && rest.length > 0 ? `${top}/${next}` : top
}

async function runPart(part: Part): Promise<Outcome> {
  const startedAt = performance.now()
  const report = join(reports, `${part.name.replaceAll('/', '-')}.json`)
  const { exitCode, output } = await run(part, report)
  const result =
    part.files.length > 0 ? readReport(report, exitCode) : commandReport(part, exitCode)
  const processorMs = takeProcessorTime()
  const outcome = { part, durationMs: performance.now() - startedAt, processorMs, ...result }
  const counts = describeCounts([outcome])
  console.log(`${part.name.padEnd(20)} ${counts}  ${seconds(outcome.durationMs)}`)
  if (hasFailed(outcome)) console.log(output.trimEnd())
  for (const { title, reason } of outcome.files.flatMap(({ skipped }) => skipped))
    console.log(`  not run: ${title} (${reason.replace(/^not run: /, '')})`)
  return outcome
}

/**
 * Runs each file that failed once more, alone, puts the second report in the place of the first, and
 * returns what failed beside other tests and passed alone. Commands would give the same verdict again.
 */
async function runFailedAlone(): Promise<string[]> {
  const count = outcomes.flatMap(failedFiles).length
  if (count > RERUN_FILES_MAX) console.log(`\n${count} test files failed: too many to run alone`)
  if (count === 0 || count > RERUN_FILES_MAX) return []
  console.log('\nRunning the failed test files again, each alone')
  const recovered: string[] = []
  for (const [index, outcome] of outcomes.entries()) {
    const files = failedFiles(outcome)
    const again: Outcome[] = []
    for (const file of files)
      again.push(await runPart({ name: file, command: ['vitest', 'run', file], files: [file] }))
    recovered.push(...again.flatMap((report) => findRecovered(outcome, report)))
    if (outcome.errors > 0 && again.every(({ errors }) => errors === 0))
      recovered.push(`${outcome.part.name}, an error outside its tests`)
    if (files.length > 0) outcomes[index] = replaceReports(outcome, files, again)
  }
  return recovered
}

/** An error that belongs to no file may come from any of them. */
function failedFiles({ part, files, errors }: Outcome): readonly string[] {
  if (errors > 0) return part.files
  return files
    .filter(({ file, failed }) => failed > 0 && part.files.includes(file))
    .map(({ file }) => file)
}

/** The tests that failed first and not again; the file where it failed as a whole. */
function findRecovered(first: Outcome, again: Outcome): string[] {
  const [file = ''] = again.part.files
  const before = first.files.find((report) => report.file === file)?.failures ?? []
  const after = again.files.flatMap(({ failures }) => failures)
  const titles = before.filter((title) => !after.includes(title))
  if (titles.length > 0) return titles.map((title) => `${file} > ${title}`)
  return hasFailed(again) || first.errors > 0 ? [] : [file]
}

function replaceReports(
  first: Outcome,
  rerun: readonly string[],
  again: readonly Outcome[],
): Outcome {
  return {
    ...first,
    files: [
      ...first.files.filter(({ file }) => !rerun.includes(file)),
      ...again.flatMap(({ files }) => files),
    ],
    errors: again.reduce((count, { errors }) => count + errors, 0),
  }
}

function run(part: Part, report: string): Promise<{ exitCode: number; output: string }> {
  const [program, ...args] = part.command
  const options =
    part.files.length > 0 ? ['--reporter=default', '--reporter=./test/reporter.ts'] : []
  const bin = join(root, 'node_modules', '.bin')
  const child = spawn(join(bin, program), [...args, ...options], {
    cwd: root,
    // Our Node first, so that the tools' `#!/usr/bin/env node` finds it on a machine with an older one.
    env: {
      ...process.env,
      PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
      THROUGHLINE_TEST_REPORT: report,
      THROUGHLINE_TEST_PROGRAM: bundled,
      ...(!isFull && { THROUGHLINE_TEST_SHORT: '1' }),
      // Hundreds of processes load the same sources.
      NODE_COMPILE_CACHE: join(reports, 'compiled'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
    // A group of its own: ending only the test runner would leave a worker that spins behind.
    detached: process.platform !== 'win32',
  })
  const endGroup = () => {
    if (child.pid === undefined || child.exitCode !== null) return
    if (process.platform === 'win32') child.kill()
    else process.kill(-child.pid, 'SIGKILL')
  }
  const timer = setTimeout(endGroup, PART_MS_MAX)
  process.once('exit', endGroup)
  let output = ''
  for (const pipe of [child.stdout, child.stderr]) {
    pipe.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  const { promise, resolve } = Promise.withResolvers<{ exitCode: number; output: string }>()
  child.on('error', (error) => resolve({ exitCode: 1, output: `${output}${error.message}` }))
  child.on('close', (code, signal) => {
    if (signal !== null) output += `\nended by ${signal} (a part may take ${seconds(PART_MS_MAX)})`
    resolve({ exitCode: code ?? 1, output })
  })
  return promise.finally(() => {
    clearTimeout(timer)
    process.off('exit', endGroup)
  })
}

function commandReport({ name }: Part, exitCode: number): Report {
  const [passed, failed] = exitCode === 0 ? [1, 0] : [0, 1]
  return { files: [{ file: name, passed, failed, failures: [], skipped: [], slow: [] }], errors: 0 }
}

function readReport(file: string, exitCode: number): Report {
  try {
    const report: Report = JSON.parse(readFileSync(file, 'utf8'))
    // Vitest can fail without a failed test (it could not start a worker): never report that as passed.
    return exitCode !== 0 && !hasFailed(report) ? { ...report, errors: 1 } : report
  } catch {
    return { files: [], errors: 1 }
  }
}

function printSummary(): void {
  const left = listFiles(FULL).map((file) =>
    file.replace(/^(?:packages|test)\//, '').replace(FULL, ''),
  )
  console.log('\nTime per part')
  for (const { part, durationMs, processorMs } of outcomes.toSorted(
    (a, b) => b.durationMs - a.durationMs,
  ))
    printTime(part.name, durationMs, processorMs)
  const processorMs = outcomes.reduce((sum, outcome) => sum + (outcome.processorMs ?? 0), 0)
  printTime('all, three at a time', performance.now() - startedAt, processorMs)
  console.log()
  printSlowest()
  for (const outcome of outcomes.filter(hasFailed)) {
    console.log(`${outcome.part.name}: ${countFailed(outcome)} failed`)
    for (const title of outcome.files.flatMap(({ failures }) => failures)) console.log(`  ${title}`)
  }
  for (const title of flaky) console.log(`flaky: failed beside other tests, passed alone: ${title}`)
  if (flaky.length > 0) console.log(`${flaky.length} flaky`)
  if (!isFull && left.length > 0) console.log(`npm run test:full also runs ${left.join(', ')}`)
  console.log(describeCounts(outcomes))
}

/** Where to begin when the run takes too long. */
function printSlowest(): void {
  const slow = outcomes
    .flatMap(({ files }) => files)
    .flatMap((file) => file.slow.map((test) => ({ ...test, file: file.file })))
    .toSorted((a, b) => b.durationMs - a.durationMs)
    .slice(0, SLOWEST_SHOWN)
  if (slow.length === 0) return
  console.log('Slowest tests')
  for (const { file, title, durationMs } of slow)
    console.log(`  ${seconds(durationMs).padStart(8)}  ${file} > ${title}`)
  console.log()
}

function printTime(name: string, durationMs: number, processorMs: number | null): void {
  const processor =
    processorMs === null || processorMs === 0 ? '' : `  ${seconds(processorMs)} of processor`
  console.log(`  ${name.padEnd(20)} ${seconds(durationMs).padStart(8)}${processor}`)
}

/** The processor time of ended children since the last call: a part that still runs is not in it. */
function takeProcessorTime(): number | null {
  if (process.platform !== 'linux') return null
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
  const ticks = Number(fields[13]) + Number(fields[14])
  const taken = ticks - processorTicks
  processorTicks = ticks
  return taken * 10
}

function countFailed({ files, errors }: Report): number {
  return files.reduce((count, { failed }) => count + failed, errors)
}

function hasFailed(report: Report): boolean {
  return countFailed(report) > 0
}

function describeCounts(reports: readonly Report[]): string {
  const files = reports.flatMap((report) => report.files)
  const passed = files.reduce((count, file) => count + file.passed, 0)
  const failed = reports.reduce((count, report) => count + countFailed(report), 0)
  const skipped = files.reduce((count, file) => count + file.skipped.length, 0)
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
