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

it.each<[string, object, readonly string[]]>([
  ['claude', { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1', ANTHROPIC_AUTH_TOKEN: 'stand-in' }, []],
  [
    'codex',
    {},
    [
      ...['-c', 'model_provider="stand-in"', '-c'],
      'model_providers.stand-in={ name = "Stand-in", base_url = "http://127.0.0.1:1/v1", wire_api = "responses" }',
    ],
  ],
  [
    'opencode',
    {
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        model: 'stand-in/stand-in',
        provider: {
          'stand-in': {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: 'http://127.0.0.1:1/v1', apiKey: 'stand-in' },
            models: { 'stand-in': { name: 'Stand-in', tool_call: true } },
          },
        },
      }),
    },
    [],
  ],
  [
    'aider',
    {
      ...{ ANTHROPIC_API_KEY: 'stand-in', OPENAI_API_KEY: 'stand-in' },
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1/l/aider-1',
      ANTHROPIC_API_BASE: 'http://127.0.0.1:1/l/aider-1',
      OPENAI_BASE_URL: 'http://127.0.0.1:1/l/aider-1/v1',
      OPENAI_API_BASE: 'http://127.0.0.1:1/l/aider-1/v1',
    },
    [],
  ],
])('%s is started whole with the stand-in', (name, env, args) => {
  expect(pointAtStandIn(name, 'http://127.0.0.1:1', `${name}-1`)).toEqual({ env, args })
})

it('pi is started with an extension that names the stand-in', () => {
  const { env, args, folder = '' } = pointAtStandIn('pi', 'http://127.0.0.1:1', 'pi-1')
  homes.push(folder)
  const file = join(folder, 'base-url.ts')
  const more = ['--provider', 'stand-in', '--model', 'stand-in']
  expect([env, args]).toEqual([{}, ['--extension', file, ...more]])
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
  const limits = { contextWindow: 128_000, maxTokens: 8_192 }
  const settings = {
    ...{ api: 'anthropic-messages', baseUrl: 'http://127.0.0.1:1/l/pi-1', apiKey: 'stand-in' },
    models: [{ id: 'stand-in', name: 'Stand-in', input: ['text'], cost, ...limits }],
  }
  expect(readFileSync(file, 'utf8')).toBe(
    `export default (pi) => {\n  pi.registerProvider("stand-in", ${JSON.stringify(settings)})\n}\n`,
  )
})

describe('a client', () => {
  const URL_ = 'http://127.0.0.1:1'

  it.each<[string, object, string | null, readonly string[] | undefined]>([
    [
      'claude',
      { env: { ANTHROPIC_BASE_URL: URL_ }, args: [] },
      'claude mcp add throughline -- x',
      ['--resume', 's'],
    ],
    [
      '/usr/bin/claude.exe',
      { env: { ANTHROPIC_BASE_URL: URL_ }, args: [] },
      'claude mcp add throughline -- x',
      ['--resume', 's'],
    ],
    [
      'codex',
      { env: {}, args: ['-c', `openai_base_url="${URL_}/v1"`] },
      'codex mcp add throughline -- x',
      ['resume', 's'],
    ],
    [
      'aider',
      { env: { ANTHROPIC_API_BASE: `${URL_}/l/n`, OPENAI_API_BASE: `${URL_}/l/n/v1` }, args: [] },
      null,
      undefined,
    ],
    [
      'my-agent',
      {
        env: {
          ...{ ANTHROPIC_BASE_URL: `${URL_}/l/n`, ANTHROPIC_API_BASE: `${URL_}/l/n` },
          ...{ OPENAI_BASE_URL: `${URL_}/l/n/v1`, OPENAI_API_BASE: `${URL_}/l/n/v1` },
        },
        args: [],
      },
      null,
      undefined,
    ],
  ])('%s is pointed at the proxy by its own means', (command, start, recall, resume) => {
    const client = clientWith(command, {})
    expect(client.point(URL_, 'n')).toEqual(start)
    expect(client.recall('x')).toBe(recall)
    expect(client.resume?.('s')).toEqual(resume)
    expect([...client.upstreams]).toEqual([])
  })

  it('opencode continues a session by its id', () => {
    expect(clientWith('opencode.cmd', {}).resume?.('s')).toEqual(['--session', 's'])
  })

  it.each<[string, string, string | null]>([
    [
      'the chosen one',
      'model_provider = "a"\n[model_providers.a]\nbase_url = "https://a.example"\n',
      'https://a.example/',
    ],
    [
      'one below other settings',
      "model_provider = 'a'\n[x]\n[model_providers.a]\nname = \"A\"\n base_url = 'http://a.example'",
      'http://a.example/',
    ],
    [
      'none that is chosen in a section',
      '[x]\nmodel_provider = "a"\n[model_providers.a]\nbase_url = "https://a.example"',
      null,
    ],
    [
      'none of another section',
      'model_provider = "a"\n[model_providers.a]\n[model_providers.b]\nbase_url = "https://b.example"',
      null,
    ],
    ['none without a section', 'model_provider = "a"\n', null],
    [
      'none with a strange name',
      'model_provider = "a b"\n[model_providers.a b]\nbase_url = "https://a.example"',
      null,
    ],
    ['none without an address', 'model_provider = "a"\n[model_providers.a]\nname = "A"', null],
  ])('Codex: %s is the provider that its configuration chooses', (_, text, url) => {
    const client = clientWith('codex', { '.codex/config.toml': text })
    expect([...client.upstreams].map(([name, each]) => [name, each.href])).toEqual(
      url === null ? [] : [['a', url]],
    )
    if (url !== null) {
      expect(client.point(URL_, 'n').args).toEqual([
        '-c',
        `model_providers.a.base_url="${URL_}/p/a"`,
      ])
    }
  })

  it('pi gets its providers from an extension', () => {
    const providers = {
      mine: { baseUrl: 'http://mine.example' },
      openai: { baseUrl: '$GATEWAY' },
      odd: 'x',
    }
    const client = clientWith('pi', { '.pi/agent/models.json': JSON.stringify({ providers }) })
    const { env, args, folder = '' } = client.point(URL_, 'n')
    homes.push(folder)
    expect([env, args]).toEqual([{}, ['--extension', join(folder, 'base-url.ts')]])
    expect(readFileSync(args[1] ?? '', 'utf8').split('\n')).toEqual([
      'export default (pi) => {',
      `  pi.registerProvider("anthropic", {"baseUrl":"${URL_}/l/n"})`,
      `  pi.registerProvider("mine", {"baseUrl":"${URL_}/l/n/p/mine"})`,
      ...['}', ''],
    ])
  })

  it('tries the stand-in as a provider of its own', () => {
    expect(pointAtStandIn('codex', URL_, 'n').args).toEqual([
      ...['-c', 'model_provider="stand-in"', '-c'],
      `model_providers.stand-in={ name = "Stand-in", base_url = "${URL_}/v1", wire_api = "responses" }`,
    ])
    const { env } = pointAtStandIn('opencode', URL_, 'n')
    expect(JSON.parse(env['OPENCODE_CONFIG_CONTENT'] ?? '')).toMatchObject({
      model: 'stand-in/stand-in',
      provider: {
        'stand-in': {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${URL_}/v1` },
          models: { 'stand-in': { tool_call: true } },
        },
      },
    })
    const pi = pointAtStandIn('pi', URL_, 'n')
    homes.push(pi.folder ?? '')
    expect(pi.args.slice(2)).toEqual(['--provider', 'stand-in', '--model', 'stand-in'])
    const extension = readFileSync(pi.args[1] ?? '', 'utf8')
    const settings = JSON.parse(/"stand-in", (.*)\)/.exec(extension)?.[1] ?? '')
    expect(settings).toMatchObject({
      ...{ api: 'anthropic-messages', baseUrl: `${URL_}/l/n` },
      models: [{ id: 'stand-in', input: ['text'], contextWindow: 128_000, maxTokens: 8_192 }],
    })
    expect(pointAtStandIn('other', URL_, 'n').env).toMatchObject({
      OPENAI_BASE_URL: `${URL_}/l/n/v1`,
    })
  })
})
