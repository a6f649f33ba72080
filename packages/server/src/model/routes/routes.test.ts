import { describe, expect, it } from 'vitest'
import type { CredentialSource } from './credential.ts'
import { calledIn, calledRoute, destinationOf } from './route.ts'
import { RouteError, Routes, routesSchema } from './routes.ts'
import { capabilitiesOf } from './windows.ts'

const routes = (config: unknown) => new Routes(routesSchema.parse(config))

const main = { provider: 'codex', model: 'gpt-5.5' } as const
const other = { provider: 'anthropic', model: 'claude-sonnet-4-6' } as const

describe('the route of a task', () => {
  it('with the provider main is the main route', () => {
    const made = routes({ main, auxiliary: { compaction: { provider: 'main', model: '' } } })
    expect(made.forTask('compaction')[0]).toBe(made.main)
  })

  it('may use another model on the main route', () => {
    const made = routes({ main, auxiliary: { title: { provider: 'main', model: 'gpt-5-nano' } } })
    expect(made.forTask('title')[0]).toMatchObject({
      name: 'main:gpt-5-nano',
      provider: 'codex',
      model: 'gpt-5-nano',
      baseUrl: made.main.baseUrl,
    })
  })

  it("is the task's own route, if it has one, followed by its fallbacks", () => {
    const made = routes({
      main,
      auxiliary: { memory: { ...other, fallbacks: [{ provider: 'main' }] } },
    })
    const [first, second] = made.forTask('memory')
    expect(first).toMatchObject({ name: 'memory', ...other })
    expect(second).toBe(made.main)
  })

  it('on the main route uses the fallbacks of main, unless it names its own', () => {
    const made = routes({
      main,
      fallbacks: [other],
      auxiliary: {
        compaction: { provider: 'main' },
        title: { provider: 'main', model: 'gpt-5-nano' },
        memory: { provider: 'main', fallbacks: [{ ...other, model: 'claude-haiku-4-5' }] },
        vision: other,
      },
    })
    const names = (task: string) => made.forTask(task).map(({ name }) => name)
    expect(names('compaction')).toEqual(['main', 'fallback-1'])
    expect(names('title')).toEqual(['main:gpt-5-nano', 'fallback-1'])
    expect(names('memory')).toEqual(['main', 'memory-fallback-1'])
    expect(names('vision')).toEqual(['vision'])
  })

  it('without configuration is main with its fallbacks', () => {
    const made = routes({ main, fallbacks: [other] })
    expect(made.forTask('vision').map(({ name }) => name)).toEqual(['main', 'fallback-1'])
    expect(made.forMain()).toEqual(made.forTask('vision'))
  })
})

it('lists every provider that a call may go to, including fallbacks', () => {
  const google = { provider: 'google', model: 'gemini-3-pro' }
  const chat = { provider: 'openai-chat', model: 'gpt-5-nano' }
  const made = routes({
    main,
    fallbacks: [google],
    auxiliary: { title: { provider: 'main' }, memory: { ...other, fallbacks: [chat] } },
  })
  expect([...made.providers].sort()).toEqual(['anthropic', 'codex', 'google', 'openai-chat'])
})

it("lists providers even if a task's route is invalid", () => {
  const title = { provider: 'openai-compatible' as const, model: 'x', fallbacks: [] }
  const made = new Routes({ ...routesSchema.parse({ main }), auxiliary: { title } })
  expect(() => made.forTask('title')).toThrow(RouteError)
  expect([...made.providers]).toEqual(['codex', 'openai-compatible'])
})

describe('the configuration of a route', () => {
  it('has default URLs and credentials, and none for a self-hosted server', () => {
    const made = routes({ main: { provider: 'anthropic', model: 'm' } })
    expect(made.main).toMatchObject({
      baseUrl: 'https://api.anthropic.com/v1',
      credential: { kind: 'variable', name: 'ANTHROPIC_API_KEY' },
    })
    const local = { provider: 'openai-compatible', model: 'm' }
    expect(() => routes({ main: local })).toThrow(RouteError)
    expect(routes({ main: { ...local, baseUrl: 'http://127.0.0.1:11434/v1' } }).main).toMatchObject(
      { credential: { kind: 'none' } },
    )
  })

  it('is kept complete, and a task on the main route uses its dialect and headers', () => {
    const whole = {
      ...{ provider: 'openai-compatible', model: 'm', baseUrl: 'http://127.0.0.1:1/v1' },
      ...{ headers: { 'x-team': 'a' }, dialect: 'strict', windowTokens: 9_000 },
      ...{ outputTokensMax: 900, images: false, effort: 'low' },
      credential: { kind: 'variable', name: 'KEY' },
    }
    const title = { provider: 'main', model: 'small' }
    const made = routes({ main: whole, fallbacks: [whole], auxiliary: { title } })
    expect(made.forMain()).toEqual([
      { ...whole, name: 'main' },
      { ...whole, name: 'fallback-1' },
    ])
    const { provider, baseUrl, headers, dialect, credential } = whole
    const inherited = { provider, baseUrl, headers, dialect, credential }
    expect(made.forTask('title')[0]).toEqual({ ...inherited, name: 'main:small', model: 'small' })
  })

  it('refuses unknown values', () => {
    for (const wrong of [
      { main: { ...main, provider: 'unheard-of' } },
      { main: { ...main, modle: 'x' } },
      { main: { ...main, baseUrl: 'file:///etc/passwd' } },
      { main: { provider: 'main' } },
    ]) {
      expect(() => routes(wrong)).toThrow()
    }
  })
})

describe('the destination of a route', () => {
  const made = routes({ main: { ...main, baseUrl: 'https://models.example/v1' } }).main
  const at = (credential: CredentialSource) => destinationOf({ ...made, credential })

  it("differs by account, and not by the route's name", () => {
    const positions = [
      at({ kind: 'none' }),
      at({ kind: 'variable', name: 'FIRST' }),
      at({ kind: 'variable', name: 'SECOND' }),
      at({ kind: 'file', path: '~/a' }),
      at({ kind: 'file', path: '~/b' }),
      at({ kind: 'command', command: 'print-key a' }),
    ]
    expect(new Set(positions).size).toBe(positions.length)
    expect(destinationOf({ ...made, name: 'other' })).toBe(destinationOf(made))
  })

  it('names the built-in stand-in by what it is: its address changes with every start', () => {
    const built = {
      ...made,
      model: 'stand-in',
      isBuiltIn: true,
      credential: { kind: 'none' },
    } as const
    const called = { model: 'stand-in', host: 'The stand-in model', variable: null }
    expect([calledRoute(built), calledIn(destinationOf(built))]).toEqual([called, called])
    expect(destinationOf({ ...built, baseUrl: 'http://127.0.0.1:7' })).toBe(destinationOf(built))
  })

  it('differs by the path of the base URL, and people read the host alone', () => {
    const { host } = new URL(made.baseUrl)
    const named = (path: string) => {
      const credential = { kind: 'variable', name: 'KEY' } as const
      const route = { ...made, baseUrl: `https://${host}${path}`, credential }
      expect(calledIn(destinationOf(route))).toEqual({ model: made.model, host, variable: 'KEY' })
      return destinationOf(route).split('@').at(-1)
    }
    expect(['/v1', '/v1/', '', '/one/v1', '/two@b/v1'].map(named)).toEqual([
      ...[`${host}#KEY`, `${host}#KEY`, `${host}/#KEY`, `${host}/one/v1#KEY`],
      `${host}/two%40b/v1#KEY`,
    ])
    expect(named(`/${'s3cret'.repeat(6)}/v1`)).toBe(`${host}#KEY`)
  })

  it('contains no path, command or secret', () => {
    expect(at({ kind: 'command', command: 'print-key --password hunter2' })).toMatch(
      /^[^ ]+@models\.example#command-[0-9a-f]{8}$/,
    )
  })
})

describe('the limits of a model', () => {
  it.each([
    ['gpt-5.5', 272_000],
    ['openrouter/openai/gpt-4o-2024-08-06', 128_000],
    ['us.anthropic.claude-opus-4-1-20250805-v1:0', 200_000],
    ['models/gemini-3-pro', 1_048_576],
    ['llama-3.1-8b', 128_000],
    ['o3', 200_000],
    ['solo3', 32_768],
  ])('%s: %i tokens', (model, windowTokens) => {
    expect(capabilitiesOf({ model }).windowTokens).toBe(windowTokens)
  })

  it('come from the route if it sets them', () => {
    const found = capabilitiesOf({ model: 'gpt-4o', windowTokens: 9_000, outputTokensMax: 10 })
    expect(found).toEqual({
      windowTokens: 9_000,
      outputTokensMax: 10,
      seesImages: true,
    })
    expect(capabilitiesOf({ model: 'gpt-4o', images: false }).seesImages).toBe(false)
    expect(capabilitiesOf({ model: 'qwen3:8b', images: true }).seesImages).toBe(true)
  })

  it.each([
    ...['claude-opus-4-5', 'gpt-4o-mini', 'gpt-4.1', 'gpt-4-turbo', 'gpt-5', 'o3', 'gemini-3-pro'],
    ...['qwen3-vl:8b', 'glm-4.6v', 'kimi-k2.5', 'stand-in', 'never-heard-of'],
  ])('%s is shown images', (model) => {
    expect(capabilitiesOf({ model }).seesImages).toBe(true)
  })

  it.each([
    ...['gpt-3.5-turbo', 'gpt-4-0613', 'openai/gpt-oss-120b', 'o3-mini', 'deepseek-chat'],
    ...['qwen3:8b', 'qwen3-coder', 'glm-4.6', 'kimi-k2-instruct', 'llama3.1:8b', 'llama-3.3-70b'],
  ])('%s is told of them', (model) => {
    expect(capabilitiesOf({ model }).seesImages).toBe(false)
  })
})
