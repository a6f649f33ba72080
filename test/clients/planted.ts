import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { PLANTED, type Planted, SOURCES } from './planted-bugs.ts'

/**
 * `npm run drill:planted [-- LAW …]`: plants a bug for each law of the proxy, in a copy of the sources,
 * and expects the tests that name this law to fail.
 */

const FOLDERS = [
  ...['proxy', 'runtime/client-sessions', 'gateway/proxy', 'migration/leave'],
  'stand-in',
]
const root = resolve(import.meta.dirname, '../..')
const copy = mkdtempSync(join(tmpdir(), 'throughline-planted-'))

function copySources(): void {
  for (const name of ['packages', 'test/fixtures/sessions', 'test/support', 'test/wire']) {
    cpSync(join(root, name), join(copy, name), {
      recursive: true,
      filter: (path) => !/node_modules|\/dist$|server\/page$/.test(path),
    })
  }
  const files = ['package.json', 'vitest.config.ts', 'tsconfig.json', 'test/scratch.ts']
  for (const name of [...files, 'test/clients/recorded-client.ts']) {
    cpSync(join(root, name), join(copy, name))
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
}

interface Ran {
  /** Of tests that passed. */
  readonly count: number
  readonly failed: readonly string[]
  readonly isPassed: boolean
}

/** The tests that name this law. */
function runTests(law: string): Ran {
  const named = `\\[proxy laws? [^\\]]*\\b${law}\\b`
  const files = FOLDERS.flatMap((folder) => {
    const tests = globSync('**/*.test.ts', { cwd: join(copy, SOURCES, folder) })
    return tests.map((file) => join(SOURCES, folder, file))
  }).filter((file) => new RegExp(named).test(readFileSync(join(copy, file), 'utf8')))
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const only = ['--testNamePattern', named]
  const report = join(copy, 'report.json')
  const args = [
    ...[vitest, 'run', '--bail', '1', '--testTimeout', '60000', ...only],
    ...['--reporter', 'json', '--outputFile', report, ...files],
  ]
  const ran = spawnSync(process.execPath, args, { cwd: copy, timeout: 600_000, encoding: 'utf8' })
  if (!existsSync(report)) throw new Error(`vitest wrote no report: ${ran.stderr.slice(-500)}`)
  const { numPassedTests, testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
    numPassedTests: number
    testResults: {
      name: string
      status: string
      assertionResults: { status: string; title: string }[]
    }[]
  }
  rmSync(report)
  const failed = testResults.flatMap(({ name, status, assertionResults }) => {
    const tests = assertionResults.filter((test) => test.status === 'failed')
    // A file that does not load has no tests.
    return status === 'failed' && tests.length === 0 ? [name] : tests.map(({ title }) => title)
  })
  return { count: numPassedTests, isPassed: ran.status === 0, failed }
}

function isCaught({ law, what, file, from, to }: Planted): boolean {
  const path = join(copy, SOURCES, file)
  const text = readFileSync(path, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} has changed: ${what}`)
  const planted = text.replace(from, () => to)
  writeFileSync(path, planted)
  try {
    return !runTests(String(law)).isPassed
  } finally {
    writeFileSync(path, text)
  }
}

try {
  copySources()
  const asked = process.argv.slice(2).map(Number)
  const chosen = PLANTED.filter(({ law }) => asked.length === 0 || asked.includes(law))
  // Without a bug the copy must pass, or no other run would mean anything.
  const { count, failed, isPassed } = runTests('\\d+')
  console.log(`${count} tests of the laws pass without a planted bug`)
  for (const title of failed) console.log(`fails without one: ${title}`)
  let missed = isPassed ? 0 : 1
  for (const planted of isPassed ? chosen : []) {
    const caught = isCaught(planted)
    if (!caught) missed += 1
    console.log(`${caught ? 'caught' : 'MISSED'} law ${planted.law}: ${planted.what}`)
  }
  process.exitCode = missed === 0 ? 0 : 1
} finally {
  rmSync(copy, { recursive: true, force: true })
}
