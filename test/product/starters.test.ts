import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { isAlive } from '../support/alive.ts'
import { findOldNode } from '../support/run-cli.ts'
import { until } from '../support/until.ts'
import { type CliPlace, cliPlace } from './cli-place.ts'

/**
 * The command ends with the process that was started: `npx` runs a shell that runs it, and a Node that
 * is too old runs it in a child with the Node of `npm ci`.
 */

const program = join(import.meta.dirname, '..', '..', 'packages', 'server', 'bin', 'throughline.js')
const oldNode = findOldNode()
if (oldNode === undefined) console.warn('skipped: no Node older than 24 is in the PATH')

describe.skipIf(oldNode === undefined)('under an old Node', () => {
  let place: CliPlace
  beforeAll(() => {
    place = cliPlace()
  })
  afterAll(() => place.close())

  it('advises only what runs our own code', () => {
    const env = { ...process.env, THROUGHLINE_RESTARTED: '1' }
    const { status, stderr } = spawnSync(oldNode ?? '', [program], { env, encoding: 'utf8' })
    expect(status).toBe(1)
    expect(stderr).toContain('needs Node 24 or newer')
    // A package of this name on the registry may belong to another project.
    expect(stderr).not.toMatch(/-p throughline|npx throughline@/)
  })

  it('ends with the process that was started, also after kill -9', async () => {
    const { wrapper, child } = await serve(place)
    wrapper.kill('SIGKILL')
    await until(() => !isAlive(child))
  }, 120_000)

  it('ends in order when the process that was started gets a signal', async () => {
    const { wrapper, child } = await serve(place)
    const ended = new Promise((resolve) => wrapper.on('exit', resolve))
    wrapper.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(isAlive(child)).toBe(false)
  }, 120_000)
})

const hasNpx = existsSync('/proc/self/task') && spawnSync('npx', ['--version']).status === 0
if (!hasNpx) console.warn('skipped: needs npx and /proc')

describe.skipIf(!hasNpx)('under npx', () => {
  let place: CliPlace
  beforeAll(() => {
    place = cliPlace()
  })
  afterAll(() => place.close())

  it.each([
    ['SIGTERM', 'npx', process.execPath],
    ['SIGKILL', 'npx', oldNode],
    ['SIGTERM', 'its shell', oldNode],
    ['SIGHUP', 'its shell', process.execPath],
    ['SIGKILL', 'its shell', process.execPath],
  ] as const)(
    'ends in order after a %s of %s, under %s',
    async (signal, killed, node) => {
      if (node === undefined) return
      const [npx = 0, ...below] = await serveByNpx(place, node)
      onTestFinished(() => {
        for (const pid of below.filter(isAlive)) process.kill(pid, 'SIGKILL')
      })
      process.kill(killed === 'npx' ? npx : (below[0] ?? 0), signal)
      await until(() => !below.some(isAlive))
      // A process that closes the store last removes this file.
      expect(existsSync(join(place.folder, '.throughline/throughline.db-wal'))).toBe(false)
    },
    120_000,
  )
})

/** The processes of `npx throughline serve`, each started by the one before. */
async function serveByNpx({ folder, env }: CliPlace, node: string): Promise<readonly number[]> {
  const project = mkdtempSync(join(folder, 'project-'))
  const bin = join(project, 'node_modules', '.bin')
  mkdirSync(bin, { recursive: true })
  writeFileSync(join(project, 'package.json'), '{}')
  symlinkSync(program, join(bin, 'throughline'))
  symlinkSync(node, join(bin, 'node'))
  const store = join(folder, '.throughline/throughline.db')
  const args = ['throughline', 'serve', '--port', '0', '--json', '--store', store]
  const npx = spawn('npx', args, {
    ...{ cwd: project, env: { PATH: process.env['PATH'], ...env } },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let stdout = ''
  npx.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  await until(() => stdout.includes('\n'))
  const chain = [npx.pid ?? 0]
  for (;;) {
    const [next] = childrenOf(chain.at(-1) ?? 0)
    if (next === undefined) return chain
    chain.push(next)
  }
}

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

async function serve({ folder, env }: CliPlace): Promise<{ wrapper: ChildProcess; child: number }> {
  const wrapper = spawn(oldNode ?? '', [program, 'serve', '--port', '0', '--json'], {
    ...{ cwd: folder, env: { PATH: process.env['PATH'], ...env } },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const { pid } = wrapper
  let stdout = ''
  wrapper.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  await until(() => stdout.includes('\n'))
  const children = childrenOf(pid ?? 0)
  expect(children).toHaveLength(1)
  return { wrapper, child: children[0] ?? 0 }
}
