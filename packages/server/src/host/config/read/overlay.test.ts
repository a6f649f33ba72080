import { describe, expect, it } from 'vitest'
import { overlayEnvironment, overlayFlags, variableOf } from './overlay.ts'
import { problemText } from './problem.ts'
import { nodeOf, originAt, plainOf } from './tree.ts'

const FILE = { kind: 'file', file: 'a.yaml', line: 1, column: 1 } as const
const tree = nodeOf({ agents: { 'my-agent': { stepsMax: 3 } }, http: { port: 1 } }, FILE)

function ofVariables(env: Readonly<Record<string, string>>) {
  const { tree: made, problems, warnings } = overlayEnvironment(tree, env)
  return { plain: plainOf(made), told: [...problems, ...warnings].map(problemText) }
}

function ofFlags(...flags: readonly string[]) {
  const { tree: made, problems, warnings } = overlayFlags(tree, flags)
  expect(warnings).toEqual([])
  return { plain: plainOf(made), told: problems.map(problemText) }
}

const before = { agents: { 'my-agent': { stepsMax: 3 } }, http: { port: 1 } }
const http = (more: object) => ({ ...before, http: { port: 1, ...more } })
const agents = (more: object) => ({ ...before, agents: { 'my-agent': { stepsMax: 3 }, ...more } })

describe('variables', () => {
  it.each<[string, string, object]>([
    ['THROUGHLINE_HTTP__PORT', '8080', http({ port: 8080 })],
    ['THROUGHLINE_HTTP_PORT', ' 8080', http({ port: 8080 })],
    ['THROUGHLINE_HTTP__HOST', '5', http({ host: '5' })],
    ['THROUGHLINE_HTTP__ALLOWED_ORIGINS', '[a, b]', http({ allowedOrigins: ['a', 'b'] })],
    ['THROUGHLINE_HTTP__LIMITS__DEPTH_MAX', '9', http({ limits: { depthMax: 9 } })],
    [
      'THROUGHLINE_AGENTS__MY_AGENT__STEPS_MAX',
      '7',
      { ...before, agents: { 'my-agent': { stepsMax: 7 } } },
    ],
    ['THROUGHLINE_AGENTS__OTHER__STEPS_MAX', '7', agents({ other: { stepsMax: 7 } })],
    ['THROUGHLINE_AGENTS__OTHER__SYSTEM', '[x', agents({ other: { system: '[x' } })],
    ['THROUGHLINE_HTTP__PORT', ' ', before],
    ['THROUGHLINE_HTTP__PORT', '', before],
    ['OTHER_HTTP__PORT', '5', before],
  ])('%s=%j is taken for its key', (variable, text, plain) => {
    expect(ofVariables({ [variable]: text })).toEqual({ plain, told: [] })
  })

  it.each<[string, readonly string[]]>([
    [
      'THROUGHLINE_HTTP__PROT',
      ['No key has this name, so it changes nothing. Did you mean THROUGHLINE_HTTP__PORT?'],
    ],
    ['THROUGHLINE_X__Y', ['No key has this name, so it changes nothing.']],
    [
      'THROUGHLINE_HTTP__0',
      ['No key has this name, so it changes nothing. Did you mean THROUGHLINE_HTTP?'],
    ],
    ['THROUGHLINE_SOMETHING', []],
  ])('%s is no key', (variable, told) => {
    expect(ofVariables({ [variable]: '1' })).toEqual({
      ...{ plain: before, told: told.map((text) => `${variable}: ${text}`) },
    })
  })

  it('are taken in the order of their names, each with its source', () => {
    const env = { THROUGHLINE_HTTP__PORT: '2', THROUGHLINE_HTTP: '{host: h, port: 3}' }
    const { tree: made } = overlayEnvironment(tree, env)
    expect(plainOf(made)).toEqual({ ...before, http: { host: 'h', port: 2 } })
    expect(originAt(made, ['http', 'port'])).toEqual({
      ...{ kind: 'environment', variable: 'THROUGHLINE_HTTP__PORT' },
    })
    expect(originAt(made, ['http', 'host'])).toMatchObject({ variable: 'THROUGHLINE_HTTP' })
  })

  it('that cannot be read change nothing', () => {
    const { plain, told } = ofVariables({ THROUGHLINE_HTTP: '{port: 5' })
    expect([plain, told.length]).toEqual([before, 1])
    expect(told[0]).toMatch(/^THROUGHLINE_HTTP: /)
  })

  it('are named by the words of a key', () => {
    expect(variableOf(['http', 'limits', 'depthMax'])).toBe('THROUGHLINE_HTTP__LIMITS__DEPTH_MAX')
    expect(variableOf(['agents', '*', 'my-key'])).toBe('THROUGHLINE_AGENTS__*__MY_KEY')
  })
})

describe('flags', () => {
  const REMOVED = 'If an earlier version had it, remove it: CHANGELOG.md says what replaces it.'

  it.each<[string, object]>([
    ['http.port=8080', http({ port: 8080 })],
    ['http.host=a=b', http({ host: 'a=b' })],
    ['http.host=', http({ host: '' })],
    ['http.allowedOrigins.0=a', http({ allowedOrigins: { 0: 'a' } })],
    ['agents.my-agent.stepsMax=7', { ...before, agents: { 'my-agent': { stepsMax: 7 } } }],
  ])('%s is taken for its key', (flag, plain) => {
    expect(ofFlags(flag)).toEqual({ plain, told: [] })
  })

  it.each<[string, string]>([
    ['http.port', 'A setting is written key=value, such as http.port=8080.'],
    ['http.prot=5', '`http.prot` is not known. Did you mean `port`?'],
    ['http.port.x=5', `\`http.port.x\` is not known. This key takes no keys below it. ${REMOVED}`],
    ['htpt.port=5', '`htpt` is not known. Did you mean `http`?'],
    [
      'http.limits.apiKey=5',
      '`http.limits.apiKey` is not known. Keys and passwords do not belong in the configuration: name where they are kept, such as `credential: {kind: variable, name: OPENAI_API_KEY}`.',
    ],
  ])('%s is refused', (flag, text) => {
    expect(ofFlags(flag)).toEqual({ plain: before, told: [`--set ${flag.split('=')[0]}: ${text}`] })
  })

  it('lists what is known beside a key that is not', () => {
    const { told } = ofFlags('logging.xyzzy=1')
    expect(told).toEqual([
      `--set logging.xyzzy: \`logging.xyzzy\` is not known. Known here: \`level\`, \`file\`, \`pretty\`. ${REMOVED}`,
    ])
  })

  it('are taken one after another', () => {
    expect(ofFlags('http.port=2', 'nothing', 'http.port=3', 'http.x=1').plain).toEqual(
      http({ port: 3 }),
    )
  })
})
