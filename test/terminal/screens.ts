import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeEach, vi } from 'vitest'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
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
  beforeEach(async () => {
    vi.stubEnv('TZ', 'UTC')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 20) })
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    for (const [name, bytes] of await upToDate())
      writeFileSync(join(folder, name), bytes, { mode: 0o600 })
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllEnvs()
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return {
    folder,
    path,
    write: (name: string, bytes: string | Buffer) => writeFileSync(join(folder, name), bytes),
    read: (name: string) => readFileSync(join(folder, name), 'utf8').replaceAll(folder, 'FOLDER'),
    /**
     * The screens of commands one after another. `STORE` in one stands for the option with the store,
     * `FOLDER` for the folder of the test.
     */
    async screen(commands: string): Promise<string> {
      const told: string[] = []
      for (const command of commands.split(' ; ')) {
        const words = command.replace('STORE', '--store FOLDER/throughline.db').split(' ')
        const { exitCode, stdout, stderr } = await runHere(...words.map(inFolder))
        const notices = stderr === '' ? '' : `--- for people ---\n${stderr}`
        told.push(`${stdout}${notices}exit code: ${exitCode}`)
      }
      // Problems of a configuration name it from where the tests run.
      const near = relative(process.cwd(), folder)
      return told.join('\n\n').replaceAll(near, 'FOLDER').replaceAll(folder, 'FOLDER')
    },
  }
}

let files: Promise<ReadonlyMap<string, Buffer>> | undefined

/** Whatever writes to an older store first brings it up to date. */
function upToDate(): Promise<ReadonlyMap<string, Buffer>> {
  files ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-earlier-'))
    const path = join(folder, 'throughline.db')
    for (const name of ['throughline.db.anchor', 'throughline.db.commits'])
      copyFileSync(join(EARLIER, name), join(folder, name))
    writeFileSync(path, unpacked('version-0.1.0/throughline.db'))
    await (await openSqliteStore({ path })).close()
    const found = readdirSync(folder).map(
      (name) => [name, readFileSync(join(folder, name))] as const,
    )
    rmSync(folder, { recursive: true })
    return new Map(found)
  })()
  return files
}

export function unpacked(name: string): Buffer {
  return gunzipSync(readFileSync(join(FIXTURES, `${name}.gz`)))
}

export function sample(name: string): string {
  return join(FIXTURES, name)
}
