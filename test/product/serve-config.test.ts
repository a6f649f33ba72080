import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openHost } from '../../src/cli/open-host.ts'
import { openServed } from '../../src/cli/open-served.ts'
import { sign } from '../../src/gateway/http/webhook.ts'

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

  it('with a secret that is none ends the start with a sentence', async () => {
    vi.stubEnv('HOOK_SECRET', 'hunter2')
    const started = serve('hooks: {builds: {secret: {kind: variable, name: HOOK_SECRET}}}')
    await expect(started).rejects.toThrow(/hook builds .*whsec_/)
  })
})
