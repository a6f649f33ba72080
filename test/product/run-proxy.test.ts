import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as listenTo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { proxyAddresses } from '../../packages/server/src/cli/commands/proxy/proxy.ts'
import { ProxyProcess } from '../../packages/server/src/cli/commands/run/proxy-process.ts'
import { PROGRAM, runCli } from '../support/run-cli.ts'

const TOOL = { name: 'Bash', input_schema: { type: 'object' } }
const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function start(): Promise<{ readonly proxy: ProxyProcess; readonly port: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-run-'))
  closers.push(() => rmSync(folder, { recursive: true, force: true }))
  const provider = createServer((_, response) => response.end('provider'))
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  closers.push(() => provider.close())
  const to = new URL(`http://127.0.0.1:${(provider.address() as AddressInfo).port}`)
  const proxy = new ProxyProcess({
    command: [process.execPath, PROGRAM, 'proxy', '--store', join(folder, 'clients.db')],
    env: proxyAddresses({ anthropic: to, openai: to, upstream: new Map([['mine', to]]) }),
    ...{ port: 0, logFile: join(folder, 'proxy.log') },
  })
  closers.push(() => proxy.end())
  return { proxy, port: await proxy.start() }
}

/** What another user of this machine would get by listening there. */
function take(port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const server = listenTo()
  server.once('error', ({ message }) => resolve(message))
  server.listen(port, '127.0.0.1', () => server.close(() => resolve('taken')))
  return promise
}

const ask = async (port: number, path = '/v1/x') =>
  await (await fetch(`http://127.0.0.1:${port}${path}`)).text()

describe('the proxy that `run` starts', () => {
  it.each([
    [
      'the store is not one of ours',
      'folder',
      /^throughline: The proxy does not start\. .*proxy\.log/,
    ],
    ['a file is in the place of its folder', 'file', /^throughline: The system refused: ENOTDIR/],
    ['no folder can be made there', 'system', /^throughline: The system refused: E/],
  ])('is not called our mistake when %s', async (_, kind, message) => {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-run-'))
    closers.push(() => rmSync(folder, { recursive: true, force: true }))
    const store = join(folder, 'theirs.db')
    writeFileSync(store, 'not a database')
    const state = kind === 'folder' ? folder : kind === 'file' ? store : '/proc/x'
    const { exitCode, stderr } = await runCli(['run', '--store', store, '--', 'true'], {
      cwd: folder,
      env: { HOME: folder, XDG_STATE_HOME: state },
    })
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('please report')
  })

  it('starts the client that the shell finds, not one in the folders of npx', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-run-'))
    closers.push(() => rmSync(folder, { recursive: true, force: true }))
    const install = (bin: string, name: string, tells: string) => {
      const file = join(folder, bin, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, `#!/bin/sh\necho "${tells} $PATH $NODE_COMPILE_CACHE"\n`)
      chmodSync(file, 0o755)
      return dirname(file)
    }
    const mine = install('mine', 'claude', 'mine')
    const global = install('global', 'claude', 'global')
    install('global', 'pi', 'global')
    const gyp = join(folder, 'npm/node_modules/@npmcli/run-script/lib/node-gyp-bin')
    const shell = `${mine}:/usr/bin:/bin`
    const run = (client: string) =>
      runCli(['run', '--store', join(folder, 'clients.db'), '--', client], {
        cwd: folder,
        env: {
          ...{ HOME: folder, XDG_STATE_HOME: folder, npm_lifecycle_event: 'npx' },
          NODE_COMPILE_CACHE: join(folder, '.cache/throughline'),
          PATH: [global, join(folder, 'node_modules/.bin'), gyp, shell].join(':'),
        },
      })
    expect((await run('claude')).stdout.trim()).toBe(`mine ${shell}`)
    expect((await run('pi')).stdout).toMatch(/^global /)
    expect((await run('nothing')).stderr).toContain('see `type nothing`')
  })

  it('shows no address of a provider, and no credential in one, to other users of the computer', async (context) => {
    if (!existsSync('/proc/self/cmdline')) context.skip('needs /proc')
    const folder = mkdtempSync(join(tmpdir(), 'throughline-run-'))
    closers.push(() => rmSync(folder, { recursive: true, force: true }))
    // The client prints what everybody can read of every process.
    const client = join(folder, 'opencode')
    writeFileSync(client, '#!/bin/sh\ncat /proc/[0-9]*/cmdline 2>/dev/null | tr "\\0" " "\n')
    chmodSync(client, 0o755)
    const provider = { mine: { options: { baseURL: 'https://me:hidden-1@127.0.0.1:1/v1' } } }
    writeFileSync(join(folder, 'opencode.json'), JSON.stringify({ provider }))
    const store = join(folder, 'clients.db')
    const { stdout, stderr } = await runCli(['run', '--store', store, '--', client], {
      cwd: folder,
      env: {
        ...{ HOME: folder, XDG_STATE_HOME: folder },
        ANTHROPIC_BASE_URL: 'https://me:hidden-2@127.0.0.1:1',
        OPENAI_BASE_URL: 'https://127.0.0.1:1/hidden-3/v1',
      },
    })
    expect(stdout).toContain(`proxy --store ${store}`)
    // Nothing was said, so there is nothing to continue.
    expect(stderr).not.toContain('to continue')
    expect(stdout).not.toContain('hidden-')
  })

  it.each([
    [
      'with a price in throughline.yaml',
      'limits: { prices: { m-1: { input: 2, output: 5 } } }',
      25,
    ],
    ['without one', '', 0],
  ])('reports the cost of calls %s', async (_, config, cost) => {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-run-'))
    closers.push(() => rmSync(folder, { recursive: true, force: true }))
    const answer = { type: 'message', content: [], usage: { input_tokens: 5, output_tokens: 3 } }
    const provider = createServer((_, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    })
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
    closers.push(() => provider.close())
    const client = join(folder, 'claude')
    const messages = [{ role: 'user', content: 'Hello' }]
    const body = JSON.stringify({ model: 'm-1', tools: [{ name: 'Bash' }], messages })
    const request = { method: 'POST', body, headers: { 'x-claude-code-session-id': 's1' } }
    const address = "process.env.ANTHROPIC_BASE_URL + '/v1/messages'"
    const program = `await (await fetch(${address}, ${JSON.stringify(request)})).text()`
    writeFileSync(client, `#!${process.execPath}\n(async () => { ${program} })()\n`)
    chmodSync(client, 0o755)
    writeFileSync(join(folder, 'throughline.yaml'), config)
    const store = join(folder, 'clients.db')
    const { port } = provider.address() as AddressInfo
    const env = { HOME: folder, XDG_STATE_HOME: folder }
    const ran = await runCli(
      ['run', '--store', store, '--anthropic', `http://127.0.0.1:${port}`, '--', client],
      { cwd: folder, env },
    )
    expect(ran.exitCode, ran.stderr).toBe(0)
    expect(ran.stderr.trimEnd().split('\n').at(-1)).toMatch(
      new RegExp(`run --anthropic … --store ${store} -- ${client} --resume s1$`),
    )
    const json = await runCli(['sessions', '--store', store, '--json'], { cwd: folder, env })
    expect(JSON.parse(json.stdout).usage).toMatchObject({ cost })
    const listed = await runCli(['sessions', '--store', store], { cwd: folder, env })
    const hint = 'no price is known for "m-1"'
    expect(listed.stderr.includes(hint)).toBe(cost === 0)
    expect(listed.stdout.includes(' unknown')).toBe(cost === 0)
  })

  it.each([
    ['claude', '/v1/messages', "'Bearer ' + process.env.ANTHROPIC_AUTH_TOKEN"],
    ['my-agent', '/v1/messages', "'Bearer ' + process.env.ANTHROPIC_API_KEY"],
  ])('answers %s by the stand-in, in a store of its own', async (name, path, authorization) => {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-run-'))
    closers.push(() => rmSync(folder, { recursive: true, force: true }))
    const client = join(folder, name)
    const messages = [{ role: 'user', content: 'say Basalt.' }]
    const body = JSON.stringify({ model: 'm', max_tokens: 9, tools: [TOOL], messages })
    const request = `{ method: 'POST', body: ${JSON.stringify(body)}, headers: { authorization: ${authorization}, 'x-session-id': 's1' } }`
    const program = `fetch(process.env.ANTHROPIC_BASE_URL + '${path}', ${request}).then(async (answer) => console.log(await answer.text()))`
    writeFileSync(client, `#!${process.execPath}\n${program}\n`)
    chmodSync(client, 0o755)
    const env = {
      ...{ HOME: folder, XDG_STATE_HOME: folder },
      // Nothing may go there.
      ...{ ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', ANTHROPIC_API_KEY: 'mine' },
    }
    const ran = await runCli(['run', '--stand-in', '--', client], { cwd: folder, env })
    expect(ran.stdout, ran.stderr).toContain('Basalt.')
    expect(ran.stderr).toContain('the built-in stand-in answers')
    const store = join(folder, 'throughline', 'stand-in.db')
    const found = await runCli(['search', '--store', store, 'Basalt'], { cwd: folder, env })
    expect(found.stdout).toContain('say Basalt.')
    expect(existsSync(join(folder, 'throughline', 'clients.db'))).toBe(false)
  })

  it('refuses the address of a provider beside the stand-in', async () => {
    const args = ['run', '--stand-in', '--openai', 'http://127.0.0.1:9', '--', 'true']
    const { exitCode, stderr } = await runCli(args)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('--openai')])
  })

  it('removes the files that it created for its client', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-run-'))
    closers.push(() => rmSync(folder, { recursive: true, force: true }))
    const client = join(folder, 'pi')
    writeFileSync(client, '#!/bin/sh\ncat "$2"\necho "made $2"\n')
    chmodSync(client, 0o755)
    const { stdout } = await runCli(['run', '--store', join(folder, 'c.db'), '--', client], {
      cwd: folder,
      env: { HOME: folder, XDG_STATE_HOME: folder },
    })
    expect(stdout).toContain('pi.registerProvider("anthropic"')
    const made = /^made (.+)$/m.exec(stdout)?.[1] ?? ''
    expect(existsSync(dirname(made))).toBe(false)
  })

  it('is reached at the loopback address alone', async () => {
    const { port } = await start()
    for (const host of ['::1', '127.0.0.2']) {
      const { promise, resolve } = Promise.withResolvers<string>()
      const socket = connect(port, host, () => resolve('connected'))
      socket.once('error', () => resolve('refused'))
      expect(await promise).toBe('refused')
    }
  })

  it('keeps its port until the end, even while the process is dead, and answers requests from that time', async () => {
    const { proxy, port } = await start()
    expect(await ask(port)).toBe('provider')
    expect(await ask(port, '/p/mine/models')).toBe('provider')
    const { pid = 0 } = proxy
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => isAlive(pid), { interval: 5 }).toBe(false)
    const asked = ask(port)
    expect(await take(port)).toContain('EADDRINUSE')
    expect(await asked).toBe('provider')
    expect(proxy.pid).not.toBe(pid)
    await proxy.end()
    expect(await take(port)).toBe('taken')
  })
})

describe('leave', () => {
  it.each([
    'clients.db',
    // Where `run --stand-in` keeps them.
    'stand-in.db',
  ])('finds a session in %s by a unique prefix of its id, and undoes by one', async (name) => {
    const home = mkdtempSync(join(tmpdir(), 'throughline-leave-'))
    closers.push(() => rmSync(home, { recursive: true, force: true }))
    const env = { HOME: home, XDG_STATE_HOME: home }
    const id = '01a1e4a1-23fb-7621-a93e-c32db3199a8d'
    const sample = join(import.meta.dirname, '../fixtures/sessions/codex.jsonl')
    const text = readFileSync(sample, 'utf8')
    const log = join(home, '.codex/sessions', `rollout-2026-${id}.jsonl`)
    mkdirSync(dirname(log), { recursive: true })
    writeFileSync(log, text)
    // The proxy puts the client's name before the client's own id.
    const recorded = join(home, 'recorded.jsonl')
    writeFileSync(recorded, text.replaceAll(id, `codex-${id}`))
    mkdirSync(join(home, 'throughline'))
    const store = join(home, 'throughline', name)
    const run = (args: readonly string[]) => runCli(args, { cwd: home, env })
    const imported = await run(['import', 'codex', recorded, '--store', store])
    expect(imported.exitCode, imported.stderr).toBe(0)
    const left = await run(['leave', 'codex', 'codex-01a1e4'])
    expect(left.stderr).toContain(`leave codex ${id} --undo`)
    expect(readFileSync(log, 'utf8')).not.toBe(text)
    const state = async () => {
      const { stdout } = await run(['sessions', '--store', store])
      return /^codex-\S+ +\S+ +(\S+)/m.exec(stdout)?.[1]
    }
    expect(await state()).toBe('left')
    // What the model sees now is in the client's log, not here.
    const shown = (await run(['show', '01a1', '--context', '--store', store])).stderr
    const { stdout: json } = await run(['sessions', '--json', '--store', store])
    const { left: since, contextTokens, compactedAt } = JSON.parse(json)
    expect(compactedAt).toBe(since.at)
    expect(shown).toMatch(/^The session was left .+: its client goes on from the handoff/)
    expect(shown).toContain(`with about ${contextTokens.toLocaleString('en')} tokens`)
    const undone = await run(['leave', 'codex', '01a1', '--undo'])
    expect(undone.stderr).toBe(`${log} was restored.\n`)
    expect(readFileSync(log, 'utf8')).toBe(text)
    expect(await state()).toBe('idle')
    const again = await run(['leave', 'codex', '01a1', '--undo'])
    expect(again.stderr).toContain('Nothing is left to undo')
  })

  it.each(['leave', 'proxy', 'run'])(
    'says in the help of %s where conversations are',
    async (name) => {
      const { stdout } = await runCli([name, '--help'], { env: { XDG_STATE_HOME: '/state' } })
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain('default: /state/throughline/clients.db')
    },
  )
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
