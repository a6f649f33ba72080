import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { HTTP_LIMITS } from '../../gateway/http/access/limits.ts'
import {
  CONFIG_NAME,
  type Loaded,
  type LoadRequest,
  type LoadResult,
  loadConfig,
  requireConfig,
} from './load.ts'
import { ConfigError, originText, problemText } from './read/problem.ts'
import { configText, listSettings } from './settings.ts'

const base = mkdtempSync(join(tmpdir(), 'throughline-config-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

let folders = 0

/** A temporary folder with these files. */
function folderWith(files: Record<string, string>): string {
  const folder = join(base, String(folders++))
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}

function load(text: string, more: Partial<LoadRequest> = {}): LoadResult {
  return loadConfig({
    cwd: folderWith({ 'throughline.yaml': text }),
    env: {},
    flags: [],
    ...more,
  })
}

function loaded(text: string, more: Partial<LoadRequest> = {}): Loaded {
  const result = load(text, more)
  if (result.kind === 'loaded') return result
  throw new ConfigError(result.problems)
}

function problemsOf(text: string, more: Partial<LoadRequest> = {}): readonly string[] {
  const result = load(text, more)
  return result.kind === 'refused' ? result.problems.map(problemText) : []
}

describe('loadConfig', () => {
  it('reports a misspelt key alone, without what follows from it', () => {
    const route = 'provder: openai-compatible, baseUrl: "http://127.0.0.1:9/v1", model: x'
    expect(problemsOf(`agents: {main: {model: {${route}}}}`)).toEqual([
      'throughline.yaml:1:25: `agents.main.model.provder` is not known. Did you mean `provider`?',
    ])
  })

  it('builds one agent on the stand-in model from an empty file, and without a file', () => {
    const none = requireConfig({ cwd: folderWith({}), env: {}, flags: [] })
    for (const { config, warnings } of [none, loaded(''), loaded('# nothing\nagents:\nhttp:\n')]) {
      expect(Object.keys(config.agents)).toEqual(['main'])
      expect(config.agents['main']?.model).toEqual({ provider: 'stand-in' })
      expect(warnings).toEqual([])
    }
    expect(none.file).toBe(null)
  })

  it('prefers flags to environment to file to defaults', () => {
    const text = 'http:\n  port: 1\n  host: localhost\n  limits: {depthMax: 20}\n'
    const { config, originOf } = loaded(text, {
      env: { THROUGHLINE_HTTP__PORT: '2', THROUGHLINE_HTTP__HOST: '127.0.0.2' },
      flags: ['http.port=3'],
    })
    const { port, host, limits, enabled } = config.http
    expect({ port, host, depthMax: limits.depthMax, enabled }).toEqual({
      ...{ port: 3, host: '127.0.0.2', depthMax: 20, enabled: true },
    })
    const origins = [
      ['http', 'port'],
      ['http', 'host'],
      ['http', 'limits', 'depthMax'],
      ['http', 'enabled'],
    ]
    expect(origins.map((path) => originText(originOf(path)))).toEqual([
      '--set http.port',
      'THROUGHLINE_HTTP__HOST',
      'throughline.yaml:4:22',
      'default',
    ])
  })

  it.each([
    ['args: [x]', 'url: "http://x/mcp"', 'url'],
    ['env: [X]', 'url: "http://x/mcp"', 'url'],
    ['credential: {kind: variable, name: X}', 'command: x', 'command'],
    ['headers: {x: y}', 'command: x', 'command'],
  ])('refuses %s for an MCP server with %s', (setting, server, kind) => {
    const [key = ''] = setting.split(':')
    expect(problemsOf(`agents: {main: {mcp: {s: {${server}, ${setting}}}}}`)).toEqual([
      expect.stringContaining(
        `\`agents.main.mcp.s.${key}\` has no meaning for a server with \`${kind}\``,
      ),
    ])
  })

  it.each(['baseUrl: "http://x/v1"', 'credential: {kind: variable, name: X}', 'headers: {x: y}'])(
    'refuses %s where no provider is called',
    (setting) => {
      const [key = ''] = setting.split(':')
      for (const [place, provider] of [
        ['agents: {main: {model: {P}}}', 'stand-in'],
        ['auxiliary: {title: {P}}', 'main'],
      ] as const) {
        const text = place.replace('P', `provider: ${provider}, ${setting}`)
        expect(problemsOf(text)).toEqual([
          expect.stringMatching(`\\.${key}\` has no meaning with the provider ${provider}`),
        ])
      }
    },
  )

  it('refuses settings of a model only if the main model is used', () => {
    const setting = 'windowTokens: 9000'
    expect(problemsOf(`auxiliary: {title: {provider: main, ${setting}}}`)).toHaveLength(1)
    expect(problemsOf(`agents: {main: {model: {provider: stand-in, ${setting}}}}`)).toEqual([])
  })

  it('refuses a pin with the name of the notes, which would take its place', () => {
    expect(problemsOf('agents: {main: {pins: {memory: Never push.}}}')).toEqual([
      expect.stringContaining('`memory` is reserved for the notes of the agent; choose another'),
    ])
    expect(problemsOf('agents: {main: {pins: {memories: Never push.}}}')).toEqual([])
  })

  it('takes names of tools of up to 200 characters', () => {
    const text = (length: number) =>
      `agents: {main: {mcp: {s: {command: x, allow: [${'t'.repeat(length)}]}}}}`
    expect(problemsOf(text(200))).toEqual([])
    expect(problemsOf(text(201))).toHaveLength(1)
  })

  it('reports all problems at once, in order, each with its line and column', () => {
    const text = [
      'agents:',
      '  main:',
      '    stepMax: 5',
      '    tools: {telepathy: true, files: 3}',
      '    model: {provider: antropic}',
      '    system: file:nowhere.md',
      '  main: {}',
      '  "no name": {}',
      'compaction:',
      '  softShare: 75',
      '  ledgerTokens: many',
      'auxiliary:',
      '  title: {provider: openai-compatible, credential: {kind: vault}}',
      'limits: {prices: {gpt-4.1: {input: 1}}}',
      'shop: 1',
    ].join('\n')
    expect(problemsOf(text, { flags: ['http.prot=1', 'nothing'] })).toMatchInlineSnapshot(`
      [
        "throughline.yaml:3:5: \`agents.main.stepMax\` is not known. Did you mean \`stepsMax\`?",
        "throughline.yaml:4:13: \`agents.main.tools.telepathy\` is not known. Known here: \`tasks\`, \`pin\`, \`recall\`, \`send_message\`, \`memory\`, \`schedule\`, \`files\`, \`process\`. If an earlier version had it, remove it: CHANGELOG.md says what replaces it.",
        "throughline.yaml:4:37: \`agents.main.tools.files\` should be true, false, or a map of options. It is 3.",
        "throughline.yaml:5:23: \`agents.main.model.provider\` should be one of openai-chat, openai-responses, codex, anthropic, google, openai-compatible, stand-in. It is "antropic". Did you mean \`anthropic\`?",
        "throughline.yaml:6:13: \`agents.main.system\` names nowhere.md, which does not exist.",
        "throughline.yaml:7:3: Two agents are named \`main\`; give each its own name.",
        "throughline.yaml:8:3: \`no name\` is not a valid agent name: use up to 64 letters, digits, _ and -, a letter or digit first.",
        "throughline.yaml:10:14: \`compaction.softShare\` should be a share of the window, more than 0 and at most 1, such as 0.75. It is 75.",
        "throughline.yaml:11:17: \`compaction.ledgerTokens\` should be a whole number of tokens, 0 or more, such as 20000 or 20k. It is "many".",
        "throughline.yaml:13:10: \`auxiliary.title.model\` is missing; the provider openai-compatible needs one.",
        "throughline.yaml:13:10: \`auxiliary.title.baseUrl\` is missing; the provider openai-compatible has no usual address.",
        "throughline.yaml:13:59: \`auxiliary.title.credential.kind\` should be one of none, variable, file, command.",
        "throughline.yaml:14:28: \`limits.prices["gpt-4.1"].output\` is missing.",
        "throughline.yaml:15:1: \`shop\` is not known. Known here: \`agents\`, \`compaction\`, \`auxiliary\`, \`store\`, \`http\`, \`gateways\`, \`recall\`, \`limits\`, \`logging\`. If an earlier version had it, remove it: CHANGELOG.md says what replaces it.",
        "--set http.prot: \`http.prot\` is not known. Did you mean \`port\`?",
        "--set nothing: A setting is written key=value, such as http.port=8080.",
      ]
    `)
  })

  it('reports invalid YAML', () => {
    expect(problemsOf('agents:\n  main: [1, 2\nhttp: {}\n')[0]).toMatch(
      /^throughline\.yaml:\d+:\d+: This is not valid YAML: /,
    )
    expect(problemsOf('just words')).toEqual([
      'throughline.yaml:1:1: The file should hold keys and values, such as `store: sessions.db`.',
    ])
    expect(problemsOf('store: *nobody')[0]).toContain('throughline.yaml:1:8')
  })

  it('refuses a self-referencing value from any source', () => {
    const text = '{main: &a [*a]}'
    const wanted = [expect.stringContaining('The value holds more than a configuration can.')]
    expect(problemsOf('', { env: { THROUGHLINE_AGENTS: text } })).toEqual(wanted)
    expect(problemsOf('', { flags: [`agents=${text}`] })).toEqual(wanted)
  })

  it.each([
    ['a list that never ends', 'agents.main.tools.files.roots', '[docs, "/etc'],
    ['a name twice', 'http', '{requireToken: true, requireToken: false}'],
    ['a name that objects have', 'agents.main.pins', '{__proto__: a}'],
  ])('refuses %s in a flag and in a variable', (_, key, value) => {
    const variable = `THROUGHLINE_${key.replaceAll('.', '__').toUpperCase()}`
    for (const asked of [{ flags: [`${key}=${value}`] }, { env: { [variable]: value } }]) {
      const problems = problemsOf('agents: {main: {}}', asked)
      expect(problems.length).toBeGreaterThan(0)
    }
  })

  it('refuses a name that objects have in the key of a flag', () => {
    expect(problemsOf('', { flags: ['agents.__proto__.system=Hello'] })).toEqual([
      expect.stringContaining('`agents.__proto__` is not known'),
    ])
  })

  it.each([
    ['a folder', 'is not a file', (file: string) => mkdirSync(file)],
    ['a link to a folder', 'is not a file', (file: string) => symlinkSync('.', file)],
    [
      'a link to itself',
      'loop of symbolic links',
      (file: string) => symlinkSync(CONFIG_NAME, file),
    ],
    [
      'a link that leads nowhere',
      'is a link that leads nowhere',
      (file: string) => symlinkSync('gone.yaml', file),
    ],
  ])('reports %s under the name of the configuration', (_, why, make) => {
    const cwd = folderWith({})
    make(join(cwd, CONFIG_NAME))
    const result = loadConfig({ cwd, env: {}, flags: [] })
    expect(result).toMatchObject({ kind: 'refused', file: join(cwd, CONFIG_NAME) })
    const texts = result.kind === 'refused' ? result.problems.map(({ text }) => text) : []
    expect(texts).toEqual([expect.stringContaining(why)])
  })

  it("finds a file in a parent folder, then the user's; a named file must exist", () => {
    const folder = folderWith({
      'throughline.yaml': 'http: {port: 1}',
      'a/b/other.yaml': 'http: {port: 2}',
      'home/.config/throughline/throughline.yaml': 'http: {port: 3}',
      'xdg/throughline/throughline.yaml': 'http: {port: 4}',
    })
    const portOf = (request: Partial<LoadRequest>) =>
      requireConfig({ env: {}, flags: [], cwd: base, ...request }).config.http.port
    const cwd = join(folder, 'a', 'b')
    expect(portOf({ cwd })).toBe(1)
    expect(portOf({ cwd, path: 'other.yaml' })).toBe(2)
    expect(portOf({ cwd, env: { THROUGHLINE_CONFIG: 'other.yaml' } })).toBe(2)
    expect(portOf({ env: { HOME: join(folder, 'home') } })).toBe(3)
    expect(
      portOf({ env: { HOME: join(folder, 'home'), XDG_CONFIG_HOME: join(folder, 'xdg') } }),
    ).toBe(4)
    expect(() => portOf({ path: 'none.yaml' })).toThrow(/none\.yaml:1:1: .* does not exist/)
  })

  it('lists a key that is set to an empty map', () => {
    const settings = listSettings(
      loaded('agents: {main: {model: {provider: openai-chat, model: gpt-5, headers: {}}}}'),
    )
    expect(settings).toContainEqual(
      expect.objectContaining({ key: 'agents.main.model.headers', value: {} }),
    )
  })

  it('reads texts from files, and resolves paths relative to their source', () => {
    const folder = folderWith({
      'throughline.yaml':
        'agents: {main: {system: file:texts/a.md, pins: {law: "file:texts/law.md"}, tools: {files: {roots: [docs]}}}}\n' +
        'store: sessions.db\nlogging: {file: ~/log}\n',
      'texts/a.md': 'Be kind.',
      'texts/law.md': 'Never lie.',
      'below/short.md': 'Be brief.',
    })
    const { config, files } = requireConfig({
      cwd: join(folder, 'below'),
      env: { HOME: '/home/me', THROUGHLINE_COMPACTION_PROMPT: 'file:short.md' },
      flags: [],
    })
    const { system, pins, tools } = config.agents['main'] ?? {}
    expect({ system, pins, roots: tools?.files.roots }).toEqual({
      system: 'Be kind.',
      pins: { law: 'Never lie.' },
      roots: [join(folder, 'docs')],
    })
    expect(config.compaction.prompt).toBe('Be brief.')
    expect(config.store.url).toBe(join(folder, 'sessions.db'))
    expect(config.logging.file).toBe('/home/me/log')
    expect(files).toEqual(
      ['throughline.yaml', 'texts/a.md', 'texts/law.md', 'below/short.md'].map((name) =>
        join(folder, name),
      ),
    )
  })

  it('warns of a variable that resembles a key, and of no other', () => {
    const env = {
      THROUGHLINE_HTTP__PRT: '1',
      THROUGHLINE_COMPACTION_WINDOW: '1',
      THROUGHLINE_SEED: '1',
      THROUGHLINE_STORE: '',
      OTHER: '1',
    }
    expect(loaded('', { env }).warnings.map(problemText)).toEqual([
      'THROUGHLINE_HTTP__PRT: No key has this name, so it changes nothing. Did you mean THROUGHLINE_HTTP__PORT?',
    ])
  })

  it('matches variables to agents by their name in the file', () => {
    const text = 'agents: {Night-Watch: {}, main: {}}'
    const env = { THROUGHLINE_AGENTS__NIGHT_WATCH__STEPS_MAX: '7', THROUGHLINE_AGENTS__NEW: '{}' }
    const { agents } = loaded(text, { env }).config
    expect(Object.entries(agents).map(([name, { stepsMax }]) => [name, stepsMax])).toEqual([
      ['Night-Watch', 7],
      ['main', 100],
      ['new', 100],
    ])
  })

  it('lets explicit values override a preset, and names the preset as the source of the rest', () => {
    const { config, originOf } = loaded('compaction: {preset: hermes, targetShare: 0.3}')
    const { softShare, targetShare, protectFirst, protectLast } = config.compaction
    expect({ softShare, targetShare, protectFirst, protectLast }).toEqual({
      ...{ softShare: 0.5, targetShare: 0.3, protectFirst: 3, protectLast: 20 },
    })
    expect(originOf(['compaction', 'softShare'])).toMatchObject({ kind: 'file', column: 22 })
    expect(originOf(['compaction', 'idleSeconds'])).toEqual({ kind: 'default' })
  })

  it('parses token counts as the command line does', () => {
    const { compaction } = loaded(
      'compaction: {userTokens: 20k, ledgerTokens: 1_500, keepTokens: 0, targetTokens: 0.005m}',
    ).config
    const { userTokens, ledgerTokens, keepTokens, targetTokens } = compaction
    expect([userTokens, ledgerTokens, keepTokens, targetTokens]).toEqual([20_000, 1_500, 0, 5_000])
    expect(problemsOf('compaction: {summaryTokens: 0k}')).toHaveLength(1)
  })

  it("uses the server's own default limits", () => {
    expect(HTTP_LIMITS).toMatchObject(loaded('').config.http.limits)
  })
})

describe('secrets', () => {
  const KEY = ['sk-ant', 'api03', 'Zq7Lk2Vx9Rt4Wm8Yp1Bc6Nd3'].join('-')

  const of = (model: string) => `agents: {main: {model: {provider: anthropic, model: m, ${model}}}}`

  it.each([
    ['agents.main.model.credential', of(`credential: ${KEY}`)],
    ['agents.main.model.apiKey', of(`apiKey: ${KEY}`)],
    ['agents.main.model.headers.Authorization', of('headers: {Authorization: Bearer x}')],
    ['agents.main.model.baseUrl', of('baseUrl: "https://me:hunter2@host/v1"')],
    ['credential.command', of(`credential: {kind: command, command: "echo ${KEY}"}`)],
    ['agents.main.system', `agents: {main: {system: "use ${KEY}"}}`],
    ['store', 'store: postgres://me:hunter2@host/db'],
    ['store', 'store: "postgres://host/db?user=me&password=hunter2"'],
    ['store.password', 'store: {url: "postgres://me@host/db", password: hunter2}'],
  ])('are refused in the file without being printed: %s', (key, text) => {
    const problems = problemsOf(text)
    expect(problems.join('\n')).toContain(key)
    expect(problems.join('\n')).toMatch(/kept|variable/)
    expect(problems.join('\n')).not.toMatch(/hunter2|Zq7Lk2|Bearer/)
  })

  it('are refused as flags, and accepted from the environment', () => {
    const url = 'postgres://me:hunter2@host/db'
    expect(problemsOf('', { flags: [`store=${url}`] })[0]).toMatch(/^--set store: /)
    const { config } = loaded('', { env: { THROUGHLINE_STORE: url } })
    expect(config.store).toEqual({ url })
    const env = { THROUGHLINE_AUXILIARY__TITLE__MODEL: 'sk-ant-api03-abcdefghijklmnop1234567890' }
    expect(problemsOf('', { env })).toEqual([
      expect.stringMatching(/TITLE__MODEL: `auxiliary.title.model` holds what looks like a key/),
    ])
  })

  it('are masked wherever the configuration is shown', () => {
    const env = {
      THROUGHLINE_STORE: 'postgres://me:hunter2@host/db',
      THROUGHLINE_AGENTS__MAIN__MODEL: `{provider: openai-chat, model: gpt-5, headers: {x-api-key: hunter2, x-team: a}}`,
      OPENAI_API_KEY: KEY,
    }
    const result = loaded('', { env })
    const printed = `${configText(result)}${JSON.stringify(listSettings(result))}`
    expect(printed).not.toMatch(/hunter2|Zq7Lk2/)
    expect(printed).toContain('postgres://me:[secret]@host/db')
    expect(printed).toContain('x-team')
    const asked = { THROUGHLINE_STORE: 'postgres://me@host/db?password=hunter2&sslmode=require' }
    expect(configText(loaded('', { env: asked }))).toContain(
      'postgres://me@host/db?password=[secret]&sslmode=require',
    )
  })

  it('are masked even in names, addresses, arguments and variables', () => {
    const word = '4f3c9a81d2e7b650f19c3d8a7e5b2c40'
    const hidden = /4f3c9a81|Zx9kQ2|pa55word|hunter2|sk-ant-api03/
    const text = [
      'agents:',
      '  main:',
      `    pins: {note: "my password is hunter2xyz", ${word}: "x"}`,
      '    model:',
      '      provider: openai-compatible',
      `      model: ${word}`,
      '      baseUrl: "https://tok4f3c9a81d2e7b650@example.org/v1?api_key=Zx9kQ2mP7vL4nR8tY3wB"',
      `      credential: {kind: variable, name: k${word}}`,
      `      headers: {x-team: "${word}", x-beta: tools-2026-01-01}`,
      '    mcp:',
      '      x:',
      '        command: /nix/store/4b1c8d2e7b650f19c3d8a7e5b2c40aaa-node/bin/node',
      `        args: [server.js, --password, hunter2, --api-key=Zx9kQ2mP7vL4nR8tY3wB, ${word}]`,
      `        env: [k${word}]`,
    ].join('\n')
    const env = {
      THROUGHLINE_STORE:
        'postgres://me:hunter2@host/db?sslpassword=pa55word99&api_key=Zx9kQ2mP7vL4nR8t',
      THROUGHLINE_AGENTS__MAIN__SYSTEM: 'Use sk-ant-api03-abcdefghijklmnop1234567890.',
    }
    const result = loaded(text, { env })
    const printed = `${configText(result)}${JSON.stringify(listSettings(result))}`
    expect(printed).not.toMatch(hidden)
    expect(JSON.stringify(result.warnings)).not.toMatch(hidden)
    expect(result.warnings.length).toBeGreaterThan(0)
    for (const shown of [
      'tools-2026-01-01',
      '/nix/store/4b1c8d2e7b650f',
      'example.org/v1',
      'me:[secret',
    ]) {
      expect(printed).toContain(shown)
    }
  })

  it('are masked in messages about mistakes', () => {
    const word = '4f3c9a81d2e7b650f19c3d8a7e5b2c40'
    const said = [
      ...problemsOf(`agents: {main: {${word}: 1}}`),
      ...problemsOf(`sk-ant-api03-abcdefghijklmnop1234567890: 1`),
      ...problemsOf(`agents: {main: {policy: ${word}}}`),
      ...problemsOf(`a: *${word}`),
      ...problemsOf('', { flags: [word, `http.${word}=1`] }),
    ]
    expect(said.length).toBeGreaterThanOrEqual(6)
    expect(said.join('\n')).not.toMatch(/4f3c9a81|sk-ant-api03/)
  })
})

describe('deeper checks', () => {
  it('refuse a threshold below the target', () => {
    const wrong = [
      'compaction: {softShare: 0.3}',
      'compaction: {targetShare: 0.8}',
      'compaction: {softTokens: 1k}',
      'compaction: {preset: hermes, targetTokens: 90k}',
    ]
    for (const text of wrong) {
      expect(problemsOf(text)).toEqual([expect.stringContaining('would be due again at once')])
    }
    expect(problemsOf('compaction: {softShare: 0.3, targetShare: 0.2}')).toEqual([])
  })

  it('warn of unknown windows, empty keys, open access, unused tools and similar names', () => {
    const text = [
      'agents:',
      '  a: {model: {provider: openai-compatible, model: home-made, baseUrl: "http://x/v1"}}',
      '  b: {model: {provider: anthropic, model: claude-sonnet-4-5}, tools: {process: true}}',
      '  B: {model: {provider: openai-compatible, model: home-made, baseUrl: "http://x/v1", windowTokens: 8k}}',
      'http: {host: 0.0.0.0}',
    ].join('\n')
    expect(loaded(text).warnings.map(problemText)).toMatchInlineSnapshot(`
      [
        "throughline.yaml:2:14: The context window of home-made is unknown; 32,768 tokens are assumed. Set \`windowTokens\` beside the model.",
        "throughline.yaml:3:14: The variable ANTHROPIC_API_KEY is empty; claude-sonnet-4-5 will refuse to answer the agent b.",
        "throughline.yaml:3:80: The agent b has the tool process but may start no program; list some under \`programs\`.",
        "throughline.yaml:4:6: The agents b and B differ only in case or dashes; environment variables cannot name the second.",
        "throughline.yaml:5:14: 0.0.0.0 can be reached from other machines; callers need a token there.",
      ]
    `)
    expect(loaded(text, { env: { ANTHROPIC_API_KEY: 'x' } }).warnings).toHaveLength(4)
  })
})
