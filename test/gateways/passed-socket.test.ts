import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, type TestContext } from 'vitest'
import { isFree } from '../support/free-port.ts'
import { findOldNode, PROGRAM } from '../support/run-cli.ts'
import { until } from '../support/until.ts'

const [ATTACKER, VICTIM] = [65_533, 65_534]
const hasBoth = Object.values(networkInterfaces()).some((each) =>
  each?.some(({ address }) => address === '::1'),
)
const isRoot = process.geteuid?.() === 0

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

/** Holds the socket as systemd does, and starts one server for each line that it reads. */
const MANAGER = `while read -r name; do sh -c 'LISTEN_FDS=$0 LISTEN_PID=$$ exec "$@"' "$name" "$@" </dev/null; echo "ended $?"; done`

/** A service manager with a socket of its own, as root does it for a server of another user. */
async function openManager(
  ctx: TestContext,
  portOf: (port: number) => number = (port) => port,
  hosts: readonly string[] = ['127.0.0.1'],
  flags: readonly string[] = [],
  node = process.execPath,
) {
  if (process.platform === 'win32') return ctx.skip('not run: Windows passes no sockets')
  const folder = mkdtempSync(join(tmpdir(), 'throughline-passed-'))
  closers.push(() => rmSync(folder, { recursive: true, force: true }))
  if (isRoot) chownSync(folder, VICTIM, VICTIM)
  const holders: Server[] = []
  let port = 0
  for (const host of hosts) {
    const holder = createServer()
    await once(holder.listen(port, host), 'listening')
    port = (holder.address() as AddressInfo).port
    holders.push(holder)
  }
  const fdOf = (server: Server) =>
    (server as unknown as { readonly _handle: { readonly fd: number } })._handle.fd
  const serve = [node, PROGRAM, 'serve', '--json', '--port', `${portOf(port)}`, ...flags]
  const manager = spawn('sh', ['-c', MANAGER, 'sh', ...serve], {
    ...{ cwd: folder, env: { PATH: process.env['PATH'], HOME: folder } },
    ...(isRoot && { uid: VICTIM, gid: VICTIM }),
    stdio: ['pipe', 'pipe', 'pipe', ...holders.map(fdOf)],
  })
  closers.push(() => manager.kill('SIGKILL'))
  await once(manager, 'spawn')
  for (const holder of holders) holder.close()
  let said = ''
  for (const stream of [manager.stdout, manager.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    said: () => said,
    start: (count = 1) => manager.stdin?.write(`${count}\n`),
    /** The process of the server, once it is ready. */
    async ready(round: number): Promise<number> {
      const lines = () => said.split('\n').filter((line) => line.startsWith('{"url"'))
      await until(() => lines().length === round)
      const { process: pid } = JSON.parse(lines().at(-1) ?? '')
      closers.push(() => kill(pid))
      return pid
    },
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

describe('a socket that a service manager opened', { timeout: 90_000 }, () => {
  it('is never free: requests wait there for the next server after a kill', async (ctx) => {
    const { port, url, said, start, ready } = await openManager(ctx)
    start()
    const pid = await ready(1)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    kill(pid)
    await until(() => said().includes('ended 137'))
    expect(await isFree(port)).toBe(false)
    const waiting = fetch(`${url}/healthz`)
    start()
    await ready(2)
    expect((await waiting).status).toBe(200)
  })

  it('is passed on to the Node that the command starts if its own is too old', async (ctx) => {
    const old = findOldNode()
    if (old === undefined) return ctx.skip('not run: no Node older than 24 is in the PATH')
    if (!hasBoth) return ctx.skip('not run: this machine has no [::1]')
    const passed = ['127.0.0.1', '::1']
    const { port, start, ready } = await openManager(ctx, undefined, passed, [], old)
    start(passed.length)
    await ready(1)
    const asked = ['127.0.0.1', '[::1]'].map((host) => fetch(`http://${host}:${port}/healthz`))
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200])
  })

  it('keeps other users out without a token, although root opened it', async (ctx) => {
    if (process.platform !== 'linux' || !isRoot)
      return ctx.skip('not run: only root on Linux can be two users that are told apart')
    const { port, start, ready } = await openManager(ctx)
    start()
    await ready(1)
    const ask =
      `require('node:http').get('http://127.0.0.1:${port}/v1/agents',` +
      '({ statusCode }) => { console.log(statusCode); process.exit() })'
    const asked = async (uid: number) =>
      (await promisify(execFile)(process.execPath, ['-e', ask], { uid, cwd: '/' })).stdout.trim()
    expect([await asked(VICTIM), await asked(ATTACKER)]).toEqual(['200', '401'])
  })

  it.for([
    { passed: ['127.0.0.1'] },
    { passed: ['127.0.0.1', '::1'] },
    { passed: ['::1', '127.0.0.1'] },
  ])(
    'is served at both addresses of `localhost`, if it is passed at $passed',
    async ({ passed }, ctx) => {
      if (!hasBoth) return ctx.skip('not run: this machine has no [::1]')
      const { port, start, ready } = await openManager(ctx, undefined, passed)
      start(passed.length)
      await ready(1)
      const statuses = ['127.0.0.1', '[::1]'].map(async (host) => {
        const { status } = await fetch(`http://${host}:${port}/healthz`)
        return status
      })
      expect(await Promise.all(statuses)).toEqual([200, 200])
    },
  )

  it('does not start beside another program at the other address of `localhost`', async (ctx) => {
    if (!hasBoth) return ctx.skip('not run: this machine has no [::1]')
    const { port, said, start } = await openManager(ctx)
    const other = createServer()
    closers.push(() => other.close())
    await once(other.listen(port, '::1'), 'listening')
    start()
    await until(() => said().includes('ended 2'))
    expect(said()).toContain(`Cannot listen on [::1]:${port}, where \`localhost\` leads too`)
  })

  it('is refused at another address than the configured one, or beside a foreign one', async (ctx) => {
    const { port, said, start } = await openManager(ctx, (each) => each + 1)
    start()
    await until(() => said().includes('ended 2'))
    expect(said()).toContain(`passed a socket at 127.0.0.1:${port}`)
    start(3)
    await until(() => said().split('ended 2').length === 3)
    expect(said()).toContain('passed 3 sockets, expected one or two')
    // Every address, which would need a token.
    const everywhere = await openManager(
      ctx,
      undefined,
      ['0.0.0.0'],
      ['--set', 'http.host=localhost'],
    )
    everywhere.start()
    await until(() => everywhere.said().includes('ended 2'))
    expect(everywhere.said()).toContain(`passed a socket at 0.0.0.0:${everywhere.port}`)
    if (process.platform !== 'linux') return
    const beside = await openManager(ctx, undefined, ['127.0.0.1', '127.8.8.8'])
    beside.start(2)
    await until(() => beside.said().includes('ended 2'))
    expect(beside.said()).toContain(`passed a socket at 127.8.8.8:${beside.port}`)
  })
})
