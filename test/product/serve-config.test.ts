import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { sign } from '../../packages/server/src/gateway/http/webhook.ts'
import { makeFirstToken, tokenFile } from '../../packages/server/src/host/first-token.ts'
import { openHost } from '../../packages/server/src/host/open-host.ts'
import { openServed } from '../../packages/server/src/host/open-http.ts'

/** What `serve` makes of the section `http` of a configuration. */
const closers: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
  vi.unstubAllEnvs()
})

async function serve(http: string) {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-serve-'))
  const config = join(folder, 'throughline.yaml')
  writeFileSync(config, `logging: {level: silent}\nhttp: {port: 0, ${http}}\n`)
  closers.push(() => rmSync(folder, { recursive: true, force: true }))
  const host = await openHost({ config }, { runs: false, mayMake: true })
  closers.push(() => host.close())
  const served = await openServed(host)
  if (served === null) throw new Error('HTTP is switched off.')
  closers.push(() => served.close())
  return { host, served, folder }
}

describe('http.hooks', () => {
  const key = Buffer.alloc(32, 5)

  it('lets a program send news to the session of its hook', async () => {
    vi.stubEnv('HOOK_SECRET', `whsec_${key.toString('base64')}`)
    const secret = 'secret: {kind: variable, name: HOOK_SECRET}'
    const hooks = `hooks: {builds: {${secret}}, alerts: {${secret}, session: ops}}`
    const { host, served } = await serve(hooks)
    await host.runtime.createSession({ agent: 'main', id: 'ops' })
    const deliver = async (name: string) => {
      const signed = { id: `msg-${name}`, timestamp: `${Math.floor(Date.now() / 1_000)}` }
      const body = '{"state": "failed"}'
      const signature = sign({ ...signed, bytes: Buffer.from(body) }, key).toString('base64')
      const headers = {
        'webhook-id': signed.id,
        'webhook-timestamp': signed.timestamp,
        'webhook-signature': `v1,${signature}`,
      }
      const url = `${served.url}/v1/hooks/${name}`
      const answer = await fetch(url, { method: 'POST', body, headers })
      return { status: answer.status, json: (await answer.json()) as Record<string, unknown> }
    }
    expect(await deliver('alerts')).toMatchObject({ status: 202, json: { sessionId: 'ops' } })
    const { status, json } = await deliver('builds')
    const address = { agent: 'main', channel: 'hook', address: 'builds' }
    expect([status, json['sessionId']]).toEqual([202, await host.runtime.findRoute(address)])
    expect((await deliver('nobody')).status).toBe(401)
  })

  it('with an invalid secret stops the start with an explanation', async () => {
    vi.stubEnv('HOOK_SECRET', 'hunter2')
    const started = serve('hooks: {builds: {secret: {kind: variable, name: HOOK_SECRET}}}')
    await expect(started).rejects.toThrow(/hook builds .*whsec_/)
  })
})

it('http.limits are those of the server', async () => {
  // One in a minute: no machine is so slow that the second is due.
  const { served } = await serve('limits: {requestsPerMinute: 1}')
  const answers = [await fetch(`${served.url}/v1/agents`), await fetch(`${served.url}/v1/agents`)]
  expect(answers.map(({ status }) => status)).toEqual([200, 429])
})

describe('a caller without a token', () => {
  const agents = (url: string, path: string, headers = {}) =>
    new Promise<number | undefined>((resolve, reject) => {
      const options = {
        socketPath: path,
        path: '/v1/agents',
        headers: { host: 'localhost', ...headers },
      }
      request(url, path === '' ? { path: '/v1/agents', headers } : options, (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
        .on('error', reject)
        .end()
    })

  it('is the user who runs it, and no other user of this machine', async (context) => {
    if (process.platform !== 'linux') return context.skip('not run: only Linux tells who connects')
    const { served } = await serve('')
    expect(served.open).toBe('own-user')
    expect(await agents(served.url, '')).toBe(200)
    expect(await agents(served.url, '', { 'x-forwarded-for': '192.0.2.1' })).toBe(401)
    if (process.geteuid?.() !== 0) return context.skip('not run: only root can become another user')
    const script = `fetch('${served.url}/v1/agents').then(({ status }) => console.log(status))`
    const asked = promisify(execFile)(process.execPath, ['-e', script], { uid: 65_534, cwd: '/' })
    expect((await asked).stdout.trim()).toBe('401')
  })

  it('is any user who can open its socket, which only its owner can', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-socket-'))
    closers.push(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'run', 'http.sock')
    const { served } = await serve(`socket: ${path}, requireToken: true`)
    expect([served.open, await agents(served.url, '')]).toEqual(['nobody', 401])
    expect(await agents('http://localhost', path)).toBe(200)
    for (const header of ['x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'])
      expect(await agents('http://localhost', path, { [header]: '192.0.2.1' })).toBe(401)
    // A tunnel leads browsers there, and `localhost` at its end may lead elsewhere too.
    for (const header of ['origin', 'sec-fetch-site']) {
      const value = header === 'origin' ? 'http://localhost' : 'same-origin'
      expect(await agents('http://localhost', path, { [header]: value })).toBe(403)
    }
    const numbers = { host: '127.0.0.1:7', origin: 'http://127.0.0.1:7' }
    expect(await agents('http://127.0.0.1', path, numbers)).toBe(200)
    const modes = [path, join(folder, 'run')].map((each) => statSync(each).mode & 0o777)
    expect(modes).toEqual([0o600, 0o700])
    await expect(serve(`socket: ${path}`)).rejects.toThrow(/another program listens/)
    await served.close()
    expect(existsSync(path)).toBe(false)
  })

  it('lets the next server use a socket file of a killed one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'throughline-socket-'))
    closers.push(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'http.sock')
    const script = `require('net').createServer().listen('${path}', () => process.kill(process.pid, 'SIGKILL'))`
    await promisify(execFile)(process.execPath, ['-e', script]).catch(() => {})
    expect(statSync(path).isSocket()).toBe(true)
    const { served } = await serve(`socket: ${path}`)
    expect(await agents('http://localhost', path)).toBe(200)
    await served.close()
    writeFileSync(path, 'a letter')
    await expect(serve(`socket: ${path}`)).rejects.toThrow(/not a socket/)
    expect(readFileSync(path, 'utf8')).toBe('a letter')
  })

  it('is no user with http.requireToken; the first start makes a token in a private file', async () => {
    const { served, host } = await serve('requireToken: true')
    const file = tokenFile(host.loaded.config.store.url)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const authorization = `Bearer ${readFileSync(file, 'utf8').trim()}`
    expect(await agents(served.url, '')).toBe(401)
    expect(await agents(served.url, '', { authorization })).toBe(200)
    const [token] = await host.store.listTokens()
    expect(token).toMatchObject({ id: 'local', principal: 'local', scopes: ['operate'] })
    const before = readFileSync(file, 'utf8')
    await makeFirstToken(host.store, host.loaded.config.store.url)
    expect(readFileSync(file, 'utf8')).toBe(before)
  })
})
