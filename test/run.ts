import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Report } from './reporter.ts'

/**
 * `npm test [-- WORD…]`: types, lint, then the test files of the tree, two parts at a time: half of
 * them start processes and mostly wait for them. A part is a folder of a package's
 * sources, of `test/` or of `bench/`, or a test file directly in `test/`; new ones are found, not listed. Words select the parts whose
 * name holds one of them.
 *
 * `npm run test:full` runs the files named `*.full.test.ts` as well: storms, drills and rehearsals
 * that take minutes and prove at length what a shorter test proves in small.
 *
 * The last line is always `N passed, N failed`, with `, N skipped` behind it if any were.
 */
interface Part {
  readonly name: string
  readonly command: readonly [string, ...string[]]
  readonly kind: 'vitest' | 'command'
}

interface Outcome extends Report {
  readonly name: string
  readonly durationMs: number
}

// The slowest part takes about two minutes; one that hangs must not hold the run for ever.
const PART_MS_MAX = 480_000

/** Keeps all cores busy by itself, and has a time to keep. */
const LONE_PART = 'test/simulation'

/** Their tests start processes and wait for them: two files at a time keep two cores no busier. */
const WAITING_PARTS = ['test/gateways', 'test/journeys', 'test/product']

/** Parts of many files that load the same sources and start few processes. */
const SHARED_MODULES = /^(?:core|server|bench)\/|^test\/(?:doctor|model)$/

const root = join(import.meta.dirname, '..')
const reports = mkdtempSync(join(tmpdir(), 'throughline-test-'))

// The parts are not in the terminal's group: an interrupt reaches us only, and we end them.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))

const isFull = process.argv.includes('--full')
const words = process.argv.slice(2).filter((word) => word !== '--full')
const parts = listParts().filter(
  (part) => words.length === 0 || words.some((word) => part.name.includes(word)),
)
const startedAt = performance.now()
const outcomes: Outcome[] = []
const lone = parts.findIndex(({ name }) => name === LONE_PART)
for (const part of lone === -1 ? [] : parts.splice(lone, 1)) outcomes.push(await runPart(part))
// One from each end: sources keep the processor busy, whole processes wait.
await Promise.all([workThrough(() => parts.shift()), workThrough(() => parts.pop())])
rmSync(reports, { recursive: true })
printSummary(outcomes)
process.exitCode = outcomes.length > 0 && outcomes.every((outcome) => outcome.failed === 0) ? 0 : 1

/** Takes the next part as long as there is one; who is quicker does more. */
async function workThrough(next: () => Part | undefined): Promise<void> {
  for (let part = next(); part !== undefined; part = next()) outcomes.push(await runPart(part))
}

function listParts(): Part[] {
  const files = globSync('{packages/*/src,test,bench}/**/*.test.ts', { cwd: root })
    .filter((file) => isFull || !file.endsWith('.full.test.ts'))
    .sort()
  const areas = Map.groupBy(files, (file) => {
    const [top, next = ''] = file.replace(/^packages[\\/](\w+)[\\/]src/, '$1').split(/[\\/]/)
    return `${top}/${next.replace('.test.ts', '')}`
  })
  return [
    { name: 'types', command: ['tsc'], kind: 'command' },
    { name: 'types/page', command: ['tsc', '-p', 'packages/dashboard'], kind: 'command' },
    { name: 'lint', command: ['biome', 'check', '.'], kind: 'command' },
    ...[...areas].map(([name, members]): Part => {
      const workers = WAITING_PARTS.includes(name) ? ['--maxWorkers=2'] : []
      // No test changes a module's state, and loading the sources again for each file is a third of the time.
      const modules = SHARED_MODULES.test(name) ? ['--no-isolate'] : []
      return {
        name,
        command: ['vitest', 'run', ...workers, ...modules, ...members],
        kind: 'vitest',
      }
    }),
  ]
}

async function runPart(part: Part): Promise<Outcome> {
  const startedAt = performance.now()
  const report = join(reports, `${part.name.replaceAll('/', '-')}.json`)
  const { exitCode, output } = await run(part, report)
  const result = part.kind === 'vitest' ? readReport(report, exitCode) : commandReport(exitCode)
  const outcome = { name: part.name, durationMs: performance.now() - startedAt, ...result }
  const { name, durationMs } = outcome
  console.log(`${name.padEnd(20)} ${describeCounts(outcome)}  ${seconds(durationMs)}`)
  if (outcome.failed > 0) console.log(output.trimEnd())
  for (const { title, reason } of outcome.skipped)
    console.log(`  not run: ${title} (${reason.replace(/^not run: /, '')})`)
  return outcome
}

function run(part: Part, report: string): Promise<{ exitCode: number; output: string }> {
  const [program, ...args] = part.command
  const options =
    part.kind === 'vitest' ? ['--reporter=default', '--reporter=./test/reporter.ts'] : []
  const bin = join(root, 'node_modules', '.bin')
  const child = spawn(join(bin, program), [...args, ...options], {
    cwd: root,
    // Our Node first, so that the tools' `#!/usr/bin/env node` finds it on a machine with an older one.
    env: {
      ...process.env,
      PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
      THROUGHLINE_TEST_REPORT: report,
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

function commandReport(exitCode: number): Report {
  return exitCode === 0
    ? { passed: 1, failed: 0, failures: [], skipped: [] }
    : { passed: 0, failed: 1, failures: [], skipped: [] }
}

function readReport(file: string, exitCode: number): Report {
  try {
    const report: Report = JSON.parse(readFileSync(file, 'utf8'))
    // Vitest can fail without a failed test (it could not start a worker): never report that as passed.
    return exitCode !== 0 && report.failed === 0 ? { ...report, failed: 1 } : report
  } catch {
    return { passed: 0, failed: 1, failures: [], skipped: [] }
  }
}

function printSummary(outcomes: readonly Outcome[]): void {
  console.log('\nTime per part')
  for (const outcome of outcomes.toSorted((a, b) => b.durationMs - a.durationMs)) {
    console.log(`  ${outcome.name.padEnd(20)} ${seconds(outcome.durationMs).padStart(8)}`)
  }
  const total = performance.now() - startedAt
  console.log(`  ${'all, two at a time'.padEnd(20)} ${seconds(total).padStart(8)}\n`)
  for (const { name, failed, failures } of outcomes.filter(({ failed }) => failed > 0)) {
    console.log(`${name}: ${failed} failed`)
    for (const title of failures) console.log(`  ${title}`)
  }
  const sum: Omit<Report, 'failures'> = {
    passed: outcomes.reduce((count, outcome) => count + outcome.passed, 0),
    failed: outcomes.reduce((count, outcome) => count + outcome.failed, 0),
    skipped: outcomes.flatMap((outcome) => outcome.skipped),
  }
  console.log(describeCounts(sum))
}

function describeCounts({ passed, failed, skipped }: Omit<Report, 'failures'>): string {
  const rest = skipped.length > 0 ? `, ${skipped.length} skipped` : ''
  return `${passed} passed, ${failed} failed${rest}`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
