import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** `npm test` itself, in a small tree of its own: the runner is copied, the packages are linked. */
const root = join(import.meta.dirname, '..')

/** Fails in the first run of its file and passes in the next one. */
const FAILS_ONCE = `
  import { existsSync, writeFileSync } from 'node:fs'
  import { expect, it } from 'vitest'
  it('stays', () => {})
  it('comes late', () => {
    const isSecond = existsSync('seen')
    writeFileSync('seen', '')
    expect(isSecond).toBe(true)
  })
`
const REJECTS_ONCE = `
  import { existsSync, writeFileSync } from 'node:fs'
  import { it } from 'vitest'
  it('leaves a promise pending', async () => {
    if (!existsSync('left')) void Promise.reject(new Error('left behind'))
    writeFileSync('left', '')
    await new Promise((resolve) => setTimeout(resolve, 10))
  })
`
const FAILS = `
  import { expect, it } from 'vitest'
  it('holds', () => {})
  it('is broken', () => expect(1).toBe(2))
`

describe('npm test in CI', () => {
  it('runs a failed file again alone, and names what passes then as flaky', async () => {
    const { exitCode, lines } = await run({ CI: 'true' }, { once: FAILS_ONCE, left: REJECTS_ONCE })
    expect(lines.at(-1)).toBe('3 passed, 0 failed')
    expect(lines.at(-2)).toBe('2 flaky')
    expect(lines.filter((line) => line.startsWith('flaky: ')).toSorted()).toEqual([
      'flaky: failed beside other tests, passed alone: test/left.test.ts',
      'flaky: failed beside other tests, passed alone: test/once.test.ts > comes late',
    ])
    expect(exitCode).toBe(0)
  })

  it('fails a test that fails again', async () => {
    const { exitCode, lines } = await run({ CI: 'true' }, { broken: FAILS })
    expect(lines.at(-1)).toBe('1 passed, 1 failed')
    expect(lines.at(-2)).toBe('  is broken')
    expect(lines.some((line) => line.includes('flaky'))).toBe(false)
    expect(exitCode).toBe(1)
  })
})

describe('npm test outside CI', () => {
  it('leaves long tests to test:full, and names them above the last line', async () => {
    const tests = {
      holds: "import { it } from 'vitest'; it('holds', () => {})",
      'long.full': FAILS,
    }
    const { exitCode, lines } = await run({ CI: '' }, tests)
    expect(lines.slice(-2)).toEqual(['npm run test:full also runs long', '1 passed, 0 failed'])
    expect(exitCode).toBe(0)
  })

  it('runs nothing twice', async () => {
    const { exitCode, lines } = await run({ CI: '' }, { once: FAILS_ONCE })
    expect(lines.at(-1)).toBe('1 passed, 1 failed')
    expect(lines.some((line) => line.includes('flaky'))).toBe(false)
    expect(exitCode).toBe(1)
  })
})

async function run(env: Record<string, string>, tests: Record<string, string>) {
  const tree = mkdtempSync(join(tmpdir(), 'runner-'))
  mkdirSync(join(tree, 'test'))
  for (const file of ['package.json', 'vitest.config.ts'])
    cpSync(join(root, file), join(tree, file))
  for (const file of ['run.ts', 'reporter.ts', 'scratch.ts'])
    cpSync(join(import.meta.dirname, file), join(tree, 'test', file))
  // Nothing here starts the command.
  writeFileSync(join(tree, 'test', 'bundle.ts'), "export const bundleCommand = async () => ''")
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  for (const [name, text] of Object.entries(tests))
    writeFileSync(join(tree, 'test', `${name}.test.ts`), text)
  const { promise, resolve } = Promise.withResolvers<{ exitCode: number; lines: string[] }>()
  const child = execFile(
    process.execPath,
    [join(tree, 'test', 'run.ts'), ...Object.keys(tests)],
    { cwd: tree, env: { ...process.env, ...env } },
    (_error, output) =>
      resolve({ exitCode: child.exitCode ?? 1, lines: output.trimEnd().split('\n') }),
  )
  return promise
}
