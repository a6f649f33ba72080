import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as listenTo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { PROGRAM } from '../support/run-cli.ts'

/** A client whose `run` is killed lives on, and sends its next request to the same address. */
const closers: (() => unknown)[] = []
const SOON = { timeout: 20_000, interval: 20 }

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

interface Ran {
  readonly port: number
  readonly run: ChildProcess
  readonly client: number
}

async function start(...options: readonly string[]): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-killed-'))
  const file = join(folder, 'client')
  const says = 'process.pid + " " + process.env.ANTHROPIC_BASE_URL'
  const lives = 'setTimeout(() => {}, 60_000)'
  writeFileSync(
    `${file}.cjs`,
    `require('node:fs').writeFileSync(${JSON.stringify(file)}, ${says}); ${lives}`,
  )
  const args = [PROGRAM, 'run', ...options, '--store', join(folder, 'clients.db'), '--']
  const run = spawn(process.execPath, [...args, process.execPath, `${file}.cjs`], {
    cwd: folder,
    env: { ...process.env, HOME: folder, XDG_STATE_HOME: folder },
    stdio: 'ignore',
  })
  const told = () => (existsSync(file) ? readFileSync(file, 'utf8') : '')
  await expect.poll(told, SOON).toContain('http')
  const [client, url] = told().split(' ')
  const ran = { run, client: Number(client), port: Number(new URL(url ?? '').port) }
  closers.push(async () => {
    end(ran.client)
    await expect.poll(() => take(ran.port), SOON).toBe('taken')
    rmSync(folder, { recursive: true, force: true })
  })
  return ran
}

async function kill(run: ChildProcess): Promise<void> {
  run.kill('SIGKILL')
  await once(run, 'exit')
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

async function provider(): Promise<string> {
  const server = createServer((_, response) => response.end('provider'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** What another user of this machine would get by listening there. */
function take(port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const server = listenTo()
  server.once('error', ({ message }) => resolve(message))
  server.listen(port, '127.0.0.1', () => server.close(() => resolve('taken')))
  return promise
}

const ask = async (port: number) =>
  await (await fetch(`http://127.0.0.1:${port}/v1/x`, { headers: { connection: 'close' } })).text()

/** Again and again, since the proxy takes a moment to notice that `run` is gone. */
async function expectHeld(port: number): Promise<void> {
  for (let round = 0; round < 50; round++) {
    expect(await take(port)).toContain('EADDRINUSE')
    expect(await ask(port)).toBe('provider')
  }
}

/** The proxy that it has started. */
function proxyOf({ pid = 0 }: ChildProcess): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  const isProxy = (child: string) =>
    readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('--handed-over')
  return Number(children.find(isProxy))
}

describe('a client whose `run` was killed', { timeout: 60_000 }, () => {
  it('is answered until it ends, and nobody else can listen at its address', async () => {
    const { port, run, client } = await start('--openai', await provider())
    expect(await ask(port)).toBe('provider')
    await kill(run)
    await expectHeld(port)
    end(client)
    await expect.poll(() => take(port), SOON).toBe('taken')
  })

  it('is answered also by a proxy that had taken the place of a dead one', async (context) => {
    if (!existsSync('/proc/self/task')) return context.skip('needs /proc')
    const { port, run } = await start('--openai', await provider())
    const first = proxyOf(run)
    end(first)
    await expect.poll(() => existsSync(`/proc/${first}`), SOON).toBe(false)
    expect(await ask(port)).toBe('provider')
    await kill(run)
    await expectHeld(port)
  })

  it('gets no answer from who listens at the address of its stand-in, which ended too', async () => {
    const { port, run } = await start('--stand-in')
    expect(await ask(port)).toContain('Invalid URL')
    await kill(run)
    await expect.poll(() => ask(port).catch(() => 'refused'), SOON).toBe('refused')
    expect(await take(port)).toContain('EADDRINUSE')
  })
})
