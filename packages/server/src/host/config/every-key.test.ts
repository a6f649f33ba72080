import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { isArray, type JsonObject } from '#core/base/json'
import { requireConfig } from './load.ts'
import { variableOf } from './read/overlay.ts'
import { EMPTY, nodeOf, plainOf, withNode } from './read/tree.ts'
import { branchesOf, fieldsOf, hasChosenNames, listKeys } from './schema/walk.ts'

/** A configuration in which every key is allowed; some are valid only beside others. */
const BASE = parse(`
agents:
  main:
    model: &m {provider: openai-compatible, model: m, baseUrl: "http://x/v1", windowTokens: 100000}
    mcp: {program: {command: c}, address: {url: "http://x/mcp"}}
auxiliary: {compaction: *m, title: *m, memory: *m, vision: *m}
store: {url: postgres://host/db}
recall: {embeddings: {provider: openai, model: m, baseUrl: "http://x/v1"}}
http: {hooks: {x: {secret: {kind: none}}}}
limits: {prices: {one: {input: 1, output: 1}}}
gateways: {telegram: {webhook: {url: "https://there/hook"}}, discord: {}}
`) as Record<string, unknown>

const folder = mkdtempSync(join(tmpdir(), 'throughline-every-key-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Names to use where the operator chooses one. */
const CHOSEN: { readonly [above: string]: string } = { agents: 'main', prices: 'one' }

/** A server is a program or a URL; each form has keys of its own. */
const OF_ADDRESSES = ['url', 'credential', 'headers']

function chosen(path: readonly string[], at: number): string {
  const above = path[at - 1] ?? ''
  if (above !== 'mcp') return CHOSEN[above] ?? 'x'
  return OF_ADDRESSES.includes(path[at + 1] ?? '') ? 'address' : 'program'
}

/**
 * Values for keys with constraints: thresholds that agree with the other defaults, and texts of a
 * required form.
 */
const SAMPLES: { readonly [key: string]: unknown } = {
  'compaction.softShare': 0.8,
  'compaction.softTokens': 80_000,
  'compaction.targetShare': 0.2,
  'compaction.targetTokens': 20_000,
  'http.allowedOrigins': ['https://app.example'],
  'http.hooks.x.session': 'ops',
  'http.trustedProxies': ['10.0.0.0/8', '::1'],
  'agents.main.tools.send_message.to': ['agent:bob'],
}

function sampleOf(key: string, node: JsonObject): unknown {
  if (key in SAMPLES) return SAMPLES[key]
  const [form = {}] = branchesOf(node)
  const { type, enum: names, minimum, format } = form
  if ('const' in form) return form['const'] === 'none' ? { kind: 'none' } : form['const']
  if (isArray(names)) return names.at(key.endsWith('provider') ? 0 : -1)
  if (isArray(node['oneOf'])) return { kind: 'variable', name: 'HOME' }
  if (type === 'boolean') return node['default'] !== true
  if (type === 'array')
    return form['items'] && fieldsOf(form['items'] as JsonObject).size > 0 ? [] : ['some']
  if (type === 'integer' || type === 'number') return Math.max(7, Number(minimum ?? 0))
  if (type === 'object') return {}
  return format === 'uri' ? 'http://there/v1' : 'postgres://there/db'
}

const keys = listKeys()
  .filter(
    ({ node }) =>
      fieldsOf(node).size === 0 || isArray(node['oneOf']) || branchesOf(node).length > 1,
  )
  .filter(({ node }) => !hasChosenNames(node))
  .map(({ path, node }) => {
    const named = path.map((part, at) => (part === '*' ? chosen(path, at) : part))
    return { key: named.join('.'), path: named, value: sampleOf(named.join('.'), node) }
  })

describe('every key', () => {
  it('can come from the file, the environment and a flag, with its source recorded', () => {
    expect(keys.length).toBeGreaterThan(100)
    for (const { key, path, value } of keys) {
      const said = typeof value === 'string' ? value : JSON.stringify(value)
      const variable = variableOf(path)
      const whole = withNode(nodeOf(BASE, EMPTY.origin), path, nodeOf(value, EMPTY.origin))
      const fromFile = load(plainOf(whole))
      const fromEnv = load(BASE, { env: { [variable]: said } })
      const fromFlag = load(BASE, { flags: [`${key}=${said}`] })
      const found = (result: typeof fromFile) => [key, result.originOf(path).kind]
      expect(fromEnv.config, key).toEqual(fromFile.config)
      expect(fromFlag.config, key).toEqual(fromFile.config)
      expect([found(fromFile), found(fromEnv), found(fromFlag)]).toEqual([
        [key, 'file'],
        [key, 'environment'],
        [key, 'flag'],
      ])
      expect(valueAt(fromFile.config, path), key).not.toBe(undefined)
    }
  })
})

const plain = { env: {}, flags: [] }

function load(file: unknown, more: { env?: Record<string, string>; flags?: string[] } = {}) {
  writeFileSync(join(folder, 'throughline.yaml'), stringify(file))
  return requireConfig({ cwd: folder, ...plain, ...more })
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (at as Record<string, unknown> | undefined)?.[key],
    value,
  )
}
