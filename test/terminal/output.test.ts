import { execFile, execFileSync } from 'node:child_process'
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { writeOutput, writeStream } from '../../packages/server/src/cli/terminal/output.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-output-'))
afterEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name))
})

async function* pieces() {
  yield 'BASALT'
}

describe.each([
  ['writeOutput', (path: string) => writeOutput(path, 'BASALT')],
  ['writeStream', (path: string) => writeStream(path, pieces())],
])('%s', (_, write) => {
  const [out, guessed] = [join(folder, 'out'), join(folder, `.out.${process.pid}.tmp`)]

  it('writes nothing to a file that another user made under a name that can be guessed', async () => {
    writeFileSync(guessed, '')
    chmodSync(guessed, 0o666)
    await write(out)
    expect(readFileSync(out, 'utf8')).toBe('BASALT')
    expect(readFileSync(guessed, 'utf8')).toBe('')
    expect(statSync(out).mode & 0o777).toBe(0o600)
  })

  it('follows no link there', async () => {
    const mine = join(folder, 'mine')
    writeFileSync(mine, 'precious')
    symlinkSync(mine, guessed)
    await write(out)
    expect(readFileSync(mine, 'utf8')).toBe('precious')
    expect(readdirSync(folder).sort()).toEqual([`.out.${process.pid}.tmp`, 'mine', 'out'])
  })

  it('writes into a pipe, and puts no file in its place', async () => {
    execFileSync('mkfifo', [out])
    const [piped] = await Promise.all([
      promisify(execFile)('cat', [out], { timeout: 50_000 }),
      write(out),
    ])
    expect(piped.stdout).toBe('BASALT')
    expect(lstatSync(out).isFIFO()).toBe(true)
    expect(readdirSync(folder)).toEqual(['out'])
  })

  it('replaces the file that a link leads to, and keeps the link', async () => {
    const mine = join(folder, 'mine')
    writeFileSync(mine, 'before')
    symlinkSync(mine, out)
    await write(out)
    expect(readFileSync(mine, 'utf8')).toBe('BASALT')
    expect(lstatSync(out).isSymbolicLink()).toBe(true)
  })
})
