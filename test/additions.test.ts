import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AUDIT_LAWS } from '../packages/core/src/audit/laws/laws.ts'
import { fieldsOf, listKeys } from '../packages/server/src/host/config/schema/walk.ts'
import { PROVIDERS } from '../packages/server/src/model/providers/names.ts'

/** What the compiler does not notice if it is forgotten in an addition of ARCHITECTURE.md's table. */
const root = join(import.meta.dirname, '..')

function read(pattern: string): readonly { readonly path: string; readonly text: string }[] {
  const paths = globSync(pattern, { cwd: root }).map((path) => path.replaceAll('\\', '/'))
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

describe('what is added', () => {
  it('as an audit law is broken in a test', () => {
    const tests = read('packages/core/src/audit/**/*.test.ts')
    const untested = Object.keys(AUDIT_LAWS).filter(
      (law) => !tests.some(({ text }) => text.includes(`'${law}'`)),
    )
    expect(untested).toEqual([])
  })

  it('as a configuration key is read where its section goes', () => {
    const sources = read('packages/server/src/{host,gateway,tools}/**/*.ts').filter(
      ({ path }) => !/\.test\.ts$/.test(path),
    )
    const uses = Map.groupBy(
      sources.flatMap(({ text }) => text.match(/\w+/g) ?? []),
      String,
    )
    const keys = listKeys().filter(({ node }) => fieldsOf(node).size === 0)
    const names = new Set(keys.map(({ path }) => path.at(-1) ?? ''))
    // Once in its schema, and once where it is read.
    expect([...names].filter((name) => (uses.get(name)?.length ?? 0) < 2)).toEqual([])
    expect(names.size).toBeGreaterThan(80)
  })

  it('as a chat platform keeps the laws of every platform', () => {
    const keys = listKeys().filter(({ path }) => path[0] === 'gateways' && path.length === 2)
    const untested = keys
      .map(({ path: [, name] }) => name ?? '')
      .filter((name) => !contains(`test/gateways/${name}/*.test.ts`, 'describeChatPlatform('))
    expect(keys.length).toBeGreaterThan(1)
    expect(untested).toEqual([])
  })

  it('as a store engine keeps the contract', () => {
    const engines = globSync('packages/core/src/store/*/open.ts', { cwd: root })
    const untested = engines
      .map((path) => path.split(/[\\/]/).at(-2) ?? '')
      .filter((name) => !contains('test/contracts/benches/*.ts', `/store/${name}/open.ts'`))
    expect(engines.length).toBeGreaterThan(2)
    expect(untested).toEqual([])
  })

  it('as a model provider is in the guide, and its requests are checked by its own types', () => {
    const { text: guide = '' } = read('docs/guides/models.md')[0] ?? {}
    const { text: tests = '' } = read('test/model/providers/sdk-types.test.ts')[0] ?? {}
    const missing = PROVIDERS.filter(
      (name) => !guide.includes(`\`${name}\``) || !tests.includes(`'${name}'`),
    )
    expect(missing).toEqual([])
  })
})

function contains(pattern: string, words: string): boolean {
  return read(pattern).some(({ text }) => text.includes(words))
}
