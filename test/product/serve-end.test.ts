import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { openSqliteStore } from '../../packages/core/src/store/sqlite/open.ts'
import { PROGRAM } from '../support/run-cli.ts'
import { until } from '../support/until.ts'

const folder = mkdtempSync(join(tmpdir(), 'throughline-end-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A tool server that never answers, and ends with the process that started it. */
const begun = join(folder, 'begun')
const SILENT = `require('node:fs').writeFileSync(${JSON.stringify(begun)}, '')
process.stdin.on('end', () => process.exit()).resume()`

it('serve exits in time after a signal even if a tool server never answers, and says so', async () => {
  const server = { command: process.execPath, args: ['-e', SILENT], startSeconds: 600 }
  const config = { agents: { main: { mcp: { silent: server } } }, http: { port: 0 } }
  writeFileSync(join(folder, 'throughline.yaml'), JSON.stringify(config))
  const child = spawn(process.execPath, [join(import.meta.dirname, 'serve-briefly.ts')], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let told = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  try {
    await until(async () => existsSync(begun) || child.exitCode !== null)
    child.kill('SIGTERM')
    expect([await ended, told]).toEqual([
      1,
      expect.stringContaining('not everything closed in time'),
    ])
  } finally {
    child.kill('SIGKILL')
  }
})

/** The disk has no space for the file that names a server. */
const NO_SPACE = `import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
const { openSync } = fs
fs.openSync = (path, ...rest) => {
  if (!/[0-9a-f]{8}\\.json\\..*new$/.test(path)) return openSync(path, ...rest)
  const error = new Error('ENOSPC: no space left on device, open')
  throw Object.assign(error, { code: 'ENOSPC', syscall: 'open' })
}
syncBuiltinESMExports()`

it('serve ends if a full disk stops its start once it listens, so that it is started again', async () => {
  const full = join(folder, 'full.mjs')
  writeFileSync(full, NO_SPACE)
  writeFileSync(join(folder, 'full.yaml'), 'store: full.db\n')
  const child = spawn(
    process.execPath,
    [
      '--import',
      pathToFileURL(full).href,
      PROGRAM,
      'serve',
      '--port',
      '0',
      '--config',
      'full.yaml',
    ],
    {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  let told = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  try {
    await until(async () => child.exitCode !== null)
    expect([await ended, told]).toEqual([1, expect.stringContaining('No space left on the device')])
  } finally {
    child.kill('SIGKILL')
  }
})

it('serve continues while its log cannot be written', async (ctx) => {
  if (!existsSync('/dev/full')) ctx.skip('not run: there is no /dev/full')
  writeFileSync(join(folder, 'plain.yaml'), 'store: plain.db\n')
  const full = openSync('/dev/full', 'w')
  const child = spawn(
    process.execPath,
    [PROGRAM, 'serve', '--port', '0', '--json', '--config', 'plain.yaml'],
    {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder },
      stdio: ['ignore', 'pipe', full],
    },
  )
  const ended = new Promise<string>((resolve) =>
    child.on('close', (code) => resolve(`ended ${code}`)),
  )
  try {
    const said = new Promise((resolve) => child.stdout?.on('data', (text) => resolve(String(text))))
    const { url } = JSON.parse(String(await Promise.race([said, ended])))
    // Behind the welcome, which is told last.
    const answer = fetch(`${url}/healthz`).then(({ status }) => status)
    expect(await Promise.race([answer, ended])).toBe(200)
    child.kill('SIGTERM')
    expect(await ended).toBe('ended 0')
    // It gave back what it held, so that the next process need not wait for it.
    const store = await openSqliteStore({ path: join(folder, 'plain.db') })
    expect(await store.listRunners()).toEqual([])
    await store.close()
  } finally {
    child.kill('SIGKILL')
    closeSync(full)
  }
})
