import {
  chmodSync,
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, vi } from 'vitest'
import { runHere } from './run-here.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures')
const EARLIER = join(FIXTURES, 'version-0.1.0')

/** The one in the store below, with a compaction at entry 37. */
export const SESSION = 'main-20261116-33ny7aaui2ahi'

/**
 * Commands in this process, over a store that version 0.1.0 wrote, four days later. A screen is
 * everything that a command printed and its exit code, with `FOLDER` for the folder of the test.
 */
export function screens() {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-screens-'))
  const path = join(folder, 'throughline.db')
  const inFolder = (text: string) => text.replaceAll('FOLDER', folder)
  beforeAll(async () => {
    vi.stubEnv('TZ', 'UTC')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 20) })
    for (const name of ['throughline.db.anchor', 'throughline.db.commits'])
      copyFileSync(join(EARLIER, name), join(folder, name))
    writeFileSync(path, unpacked('version-0.1.0/throughline.db'))
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o600)
    // Whatever writes to it first brings it up to date.
    await runHere('rename', SESSION, 'The code word is GRANITE', '--store', path)
  })
  afterAll(() => {
    vi.useRealTimers()
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    folder,
    path,
    write: (name: string, bytes: string | Buffer) => writeFileSync(join(folder, name), bytes),
    read: (name: string) => readFileSync(join(folder, name), 'utf8').replaceAll(folder, 'FOLDER'),
    /** `STORE` in a line stands for the option with the store, `FOLDER` for the folder of the test. */
    async screen(line: string): Promise<string> {
      const words = line.replace('STORE', '--store FOLDER/throughline.db').split(' ')
      const { exitCode, stdout, stderr } = await runHere(...words.map(inFolder))
      const told = stderr === '' ? '' : `--- for people ---\n${stderr}`
      // From where the tests run.
      const near = relative(process.cwd(), folder)
      const text = `${stdout}${told}exit code: ${exitCode}`
      return text.replaceAll(near, 'FOLDER').replaceAll(folder, 'FOLDER')
    },
  }
}

export function unpacked(name: string): Buffer {
  return gunzipSync(readFileSync(join(FIXTURES, `${name}.gz`)))
}

export function sample(name: string): string {
  return join(FIXTURES, name)
}
