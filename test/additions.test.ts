import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import coreManifest from '../packages/core/package.json' with { type: 'json' }
import { internalsOf } from '../packages/core/src/agent/typed-formats/format.ts'
import { AUDIT_LAWS } from '../packages/core/src/audit/laws/laws.ts'
import { fieldsOf, listKeys } from '../packages/server/src/host/config/schema/walk.ts'
import { PROVIDERS } from '../packages/server/src/model/providers/names.ts'

/** What the compiler does not notice if it is forgotten in an addition of ARCHITECTURE.md's table. */
const root = join(import.meta.dirname, '..')

function read(pattern: string): readonly { readonly path: string; readonly text: string }[] {
  const paths = globSync(pattern, { cwd: root }).map((path) => path.replaceAll('\\', '/'))
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

/** Formats of files that programs write: no library has types for their messages. */
const FILES_ONLY = ['claude-code', 'codex', 'hermes', 'pi']
/** Engines for programs alone: what they store ends with the process. */
const NEVER_CONFIGURED = ['memory']

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

  it('as a format of a library has a typed value that the package exports', async () => {
    const formats = foldersWith('packages/core/src/message/formats/*/*.ts')
    const modules = await Promise.all(
      Object.values(coreManifest.exports)
        .filter((path) => path.startsWith('./src/agent/typed-formats/'))
        .map((path): Promise<object> => import(join(root, 'packages/core', path))),
    )
    const typed = modules.flatMap((module) => Object.values(module).map(internalsOf))
    expect(typed.map(({ codec }) => codec.name).toSorted()).toEqual(
      formats.filter((name) => !FILES_ONLY.includes(name)),
    )
    expect(formats).toEqual(expect.arrayContaining(FILES_ONLY))
  })

  it('as a chat platform is configured and keeps the laws of every platform', () => {
    const platforms = read('packages/server/src/gateway/*/*.ts')
      .filter(({ text }) => /^export class \w+ implements Platform /m.test(text))
      .map(({ path }) => path.split('/').at(-2) ?? '')
    const keys = listKeys().filter(({ path }) => path[0] === 'gateways' && path.length === 2)
    const untested = platforms.filter(
      (name) => !contains(`test/gateways/${name}/*.test.ts`, 'describeChatPlatform('),
    )
    expect(platforms.length).toBeGreaterThan(1)
    expect(keys.map(({ path }) => path[1]).toSorted()).toEqual(platforms.toSorted())
    expect(untested).toEqual([])
  })

  it('as a store engine can be configured and keeps the contract', () => {
    const engines = foldersWith('packages/core/src/store/*/open.ts')
    const untested = engines.filter(
      (name) => !contains('test/contracts/benches/*.ts', `/store/${name}/open.ts'`),
    )
    const unopened = engines.filter(
      (name) => !contains('packages/server/src/host/open-store.ts', `#core/store/${name}/open'`),
    )
    expect(engines.length).toBeGreaterThan(2)
    expect(untested).toEqual([])
    expect(unopened).toEqual(NEVER_CONFIGURED)
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

/** The names of the folders that hold such files. */
function foldersWith(pattern: string): readonly string[] {
  const names = read(pattern).map(({ path }) => path.split('/').at(-2) ?? '')
  return [...new Set(names)].toSorted()
}

function contains(pattern: string, words: string): boolean {
  return read(pattern).some(({ text }) => text.includes(words))
}
