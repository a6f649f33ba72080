import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { findClient } from './clients.ts'
import { pointAtStandIn } from './stand-in.ts'

const homes: string[] = []

afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true })
})

function clientWith(command: string, files: { readonly [path: string]: string }) {
  const home = mkdtempSync(join(tmpdir(), 'throughline-clients-'))
  homes.push(home)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), content)
  }
  return findClient(command, { env: { HOME: home }, folder: join(home, 'work') })
}

describe('a provider in the settings of a client', () => {
  const provider = (baseURL: string) => ({ options: { baseURL } })
  const settings = {
    provider: {
      mine: provider('https://mine.example/v1'),
      later: provider('{env:LATER_URL}/v1'),
      openai: provider('{env:OPENAI_GATEWAY}'),
      socket: provider('unix:///run/model.sock'),
    },
  }

  it('is reached through the proxy if its address can be read, and by the client itself if not', () => {
    const client = clientWith('opencode', { 'work/opencode.json': JSON.stringify(settings) })
    expect([...client.upstreams]).toEqual([['mine', new URL('https://mine.example/v1')]])
    const { env } = client.point('http://127.0.0.1:1', 'launch')
    expect(JSON.parse(env['OPENCODE_CONFIG_CONTENT'] ?? '')).toEqual({
      provider: {
        anthropic: provider('http://127.0.0.1:1/v1'),
        mine: provider('http://127.0.0.1:1/p/mine'),
      },
    })
  })

  it('is handled the same for pi', () => {
    const providers = {
      mine: { baseUrl: 'http://mine.example' },
      anthropic: { baseUrl: '$GATEWAY' },
    }
    const files = { '.pi/agent/models.json': JSON.stringify({ providers }) }
    expect([...clientWith('pi', files).upstreams.keys()]).toEqual(['mine'])
  })

  it('with another kind of URL is left to Codex', () => {
    const text = 'model_provider = "mine"\n[model_providers.mine]\nbase_url = "unix:///run/x"\n'
    expect([...clientWith('codex', { '.codex/config.toml': text }).upstreams]).toEqual([])
  })
})

describe('a client that tries the stand-in', () => {
  it.each(['claude', 'codex', 'opencode', 'pi', 'aider', 'agent'])(
    '%s gets the proxy as its provider, and a key',
    (name) => {
      const { env, args, folder } = pointAtStandIn(name, 'http://127.0.0.1:1', `${name}-1`)
      if (folder !== undefined) homes.push(folder)
      const extension =
        folder === undefined ? '' : readFileSync(join(folder, 'base-url.ts'), 'utf8')
      const given = JSON.stringify([env, args]) + extension
      expect(given).toContain('http://127.0.0.1:1')
      // Codex needs none for a provider that asks for none.
      if (name !== 'codex') expect(given).toMatch(/(?:KEY|TOKEN|apiKey)\W{2,6}stand-in/)
    },
  )
})
