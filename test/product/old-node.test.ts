import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isAlive } from '../support/alive.ts'
import { until } from '../support/until.ts'
import { type CliPlace, cliPlace } from './cli-place.ts'

/** Started with a Node that is too old, the command runs in a child with the Node of `npm ci`. */

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
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  expect(children).toHaveLength(1)
  return { wrapper, child: Number(children[0]) }
}

function findOldNode(): string | undefined {
  if (!existsSync('/proc/self/task')) return undefined
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .filter((path) => existsSync(path))
    .find((path) => {
      const version = execFileSync(path, ['--version'], { encoding: 'utf8' })
      return Number.parseInt(version.slice(1), 10) < 24
    })
}
