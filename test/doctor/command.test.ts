import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Diagnosis } from '../../packages/server/src/migration/hermes/diagnose/diagnosis.ts'
import { PROGRAM } from '../support/run-cli.ts'
import { generateHome } from './homes/generate.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-doctor-command-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const main = join(import.meta.dirname, '../../packages/server/src/cli/main.ts')

function throughline(...words: readonly string[]) {
  const options = { encoding: 'utf8', cwd: folder, timeout: PROCESSES_MS_MAX / 2 } as const
  const child = spawnSync(process.execPath, [PROGRAM, ...words], options)
  const { status, stdout, stderr } = child
  return { status, stdout, stderr }
}

const doctor = (...words: readonly string[]) => throughline('doctor', 'hermes', ...words)

/** The first home of which the generator says whether it is healthy. */
function homeThatIs(health: 'healthy' | 'harmed'): string {
  for (let seed = 1; ; seed++) {
    const home = generateHome(seed, join(folder, health))
    const isHarmed = home.expected.some(({ kind }) => kind === 'rows-after-closing')
    if (health === 'harmed' ? isHarmed : home.expected.length === 0) return home.path
  }
}

/** On a busy machine a process takes seconds to begin. */
const PROCESSES_MS_MAX = 120_000

describe('throughline doctor hermes', { timeout: PROCESSES_MS_MAX }, () => {
  it('ends with 0 for a healthy home and says so', () => {
    const { status, stdout, stderr } = doctor(homeThatIs('healthy'))
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('No fault was found.')
  })

  it('exits with 1 if there are faults, and writes the same findings in every form', () => {
    const home = homeThatIs('harmed')
    const page = join(folder, 'report.html')
    const asJson = doctor(home, '--json', '--html', page)
    expect(asJson.status).toBe(1)
    const diagnosis = JSON.parse(asJson.stdout) as Diagnosis
    const titles = diagnosis.profiles.flatMap(({ findings }) => findings.map(({ title }) => title))
    expect(titles.length).toBeGreaterThan(0)
    const text = doctor(home).stdout
    const markdown = doctor(home, '--markdown').stdout
    const html = readFileSync(page, 'utf8')
    expect(statSync(page).mode & 0o777).toBe(0o600)
    for (const title of titles) {
      expect(text).toContain(title)
      expect(markdown.replaceAll('\\', '')).toContain(title)
      expect(html.replaceAll('&#39;', "'")).toContain(title)
    }
    expect(html).toContain('<svg')
    expect(html).not.toMatch(/<script|https?:\/\/(?!models\.example)/)
  })

  it('explains in a sentence why a repair is refused', () => {
    const taken = join(folder, 'taken.db')
    writeFileSync(taken, 'mine')
    const { status, stderr } = doctor(homeThatIs('healthy'), '--repair-to', taken)
    expect(status).toBe(2)
    expect(stderr).toMatch(/^throughline: .*taken\.db/)
  })

  it('ends with 2 for a file that cannot be read, for a missing log, and for nothing at all', () => {
    const path = join(folder, 'state.db')
    writeFileSync(path, 'not a database')
    expect(doctor(path)).toMatchObject({
      status: 2,
      stdout: expect.stringContaining('not-a-database'),
    })
    expect(doctor('--log', join(folder, 'none.log')).status).toBe(2)
    expect(doctor()).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Name a Hermes home'),
    })
  })
})

describe('throughline doctor', { timeout: PROCESSES_MS_MAX }, () => {
  it('ends with 2 and a report for a store that cannot be read, and --fix leaves the file alone', () => {
    const store = join(folder, 'letter.db')
    writeFileSync(store, 'not a database', { mode: 0o644 })
    const told = throughline('doctor', '--store', store, '--fix')
    expect(told).toMatchObject({ status: 2, stdout: expect.stringContaining('store-refused') })
    expect(told.stderr).toBe('')
    expect(statSync(store).mode & 0o777).toBe(0o644)
  })
})

/** Prints at the end which modules were loaded. */
const WITNESS = `data:text/javascript,${encodeURIComponent(
  `import { registerHooks } from 'node:module'
   const loaded = []
   registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
   process.once('exit', () => process.stderr.write(loaded.join('\\n')))`,
)}`

describe('throughline import hermes', { timeout: PROCESSES_MS_MAX }, () => {
  it('loads neither agents nor what speaks to models: a large home needs the memory', () => {
    const words = ['import', 'hermes', homeThatIs('healthy'), '--store', join(folder, 'new.db')]
    const child = spawnSync(process.execPath, ['--import', WITNESS, main, ...words], {
      ...{ encoding: 'utf8', cwd: folder },
    })
    expect(child.status).toBe(0)
    const loaded = child.stderr.split('\n')
    expect(loaded.some((url) => url.endsWith('src/migration/hermes/import/import.ts'))).toBe(true)
    const heavy = /\/undici\/|@modelcontextprotocol|src\/runtime\/open-runtime|src\/session\/runner/
    expect(loaded.filter((url) => heavy.test(url))).toEqual([])
  })
})
