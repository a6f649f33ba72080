import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import coreManifest from '../packages/core/package.json' with { type: 'json' }
import serverManifest from '../packages/server/package.json' with { type: 'json' }
import { bin, copyClone, pack, root, run, subpathsOf } from './support/pack.ts'

const place = mkdtempSync(join(tmpdir(), 'throughline-package-'))
const [clone, project, coreProject] = ['clone', 'project', 'core-project'].map((name) =>
  join(place, name),
) as [string, string, string]
const { version } = serverManifest
const coreTarball = join(place, `throughline-core-${version}.tgz`)
const serverTarball = join(place, `throughline-${version}.tgz`)
/** They import their frameworks, which are not installed here; their own tests use them. */
const FRAMEWORKS = /adapters\/(?:langchain|langgraph|openai-agents)$/
const coreSubpaths = subpathsOf(coreManifest).filter((path) => !FRAMEWORKS.test(path))
const subpaths = [...coreSubpaths, ...subpathsOf(serverManifest)]
const quiet = ['--silent', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts']

/** The packages as others get them: packed, installed into a project elsewhere, without our sources. */
describe('the packages', () => {
  beforeAll(() => {
    copyClone(clone)
    for (const name of ['@throughline/core', 'throughline']) pack(name, clone, place)
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
    run('npm', ['install', ...quiet, coreTarball, serverTarball], project)
    // They are built, packed, and installed with all they need.
  }, 240_000)

  afterAll(() => rmSync(place, { recursive: true, force: true }))

  it('runs its command', () => {
    const command = join(project, 'node_modules', '.bin', 'throughline')
    const example = join(
      project,
      'node_modules',
      'throughline',
      'examples',
      'long-conversation.json',
    )
    const output = run(command, ['compact', example, '--target-tokens', '8000'], project)
    const before = JSON.parse(readFileSync(example, 'utf8'))
    const after = JSON.parse(output)
    expect({ ...after, messages: [] }).toEqual({ ...before, messages: [] })
    expect(after.messages.length).toBeLessThan(before.messages.length)
    expect(run(command, ['--version'], project).trim()).toBe(version)
  })

  it('installs for everyone with one line, and the tour runs from there', () => {
    const prefix = join(place, 'global')
    run(
      'npm',
      ['install', '--global', '--prefix', prefix, ...quiet, coreTarball, serverTarball],
      place,
    )
    const command = join(prefix, 'bin', 'throughline')
    expect(run(command, ['--version'], place).trim()).toBe(version)
    // Elsewhere than a clone: a server starts, is killed, and continues.
    expect(run(command, ['demo', '--fast'], place)).toContain('every message is back')
  }, 240_000)

  it('can be imported by every subpath', () => {
    const text = `for (const path of ${JSON.stringify(subpaths)})
      console.log(path, Object.keys(await import(path)).length > 0)`
    const output = run(process.execPath, ['--input-type=module', '-e', text], project)
    expect(output.trim().split('\n')).toEqual(subpaths.map((path) => `${path} true`))
  })

  it('has types for every subpath, strictly checked', () => {
    const types = join('node_modules', '@types')
    mkdirSync(join(project, types), { recursive: true })
    // Some dependency brings types of another Node.
    rmSync(join(project, types, 'node'), { recursive: true, force: true })
    symlinkSync(join(root, types, 'node'), join(project, types, 'node'))
    // The libraries whose types the formats use.
    for (const peer of ['openai', '@anthropic-ai', 'ai'])
      if (!existsSync(join(project, 'node_modules', peer)))
        symlinkSync(join(root, 'node_modules', peer), join(project, 'node_modules', peer))
    writeFileSync(join(project, 'example.ts'), exampleIn('docs/guides/compact.md'))
    writeFileSync(join(project, 'agent.ts'), `${MODEL}${exampleIn('README.md')}`)
    // The declarations of `ai` do not pass these settings themselves.
    const ofAiSdk = subpaths.filter((path) => path.endsWith('/ai-sdk'))
    const others = subpaths.filter((path) => !ofAiSdk.includes(path))
    expect(checkTypes(others, ['node'], ['example.ts', 'agent.ts'])).toBe('')
    expect(checkTypes(ofAiSdk, ['node'], [], { skipLibCheck: true })).toBe('')
  })

  it('needs no types of Node for the pure parts', () => {
    const pure = ['message', 'tokens', 'compaction'].map((name) => `@throughline/core/${name}`)
    expect(checkTypes(pure, [], [])).toBe('')
  })

  function checkTypes(
    paths: readonly string[],
    types: readonly string[],
    examples: readonly string[],
    settings: object = {},
  ): string {
    const names = paths.map((_, index) => `module${index}`)
    const imports = paths.map((path, index) => `import * as ${names[index]} from '${path}'`)
    writeFileSync(join(project, 'use.ts'), `${imports.join('\n')}\nexport const all = [${names}]\n`)
    const compilerOptions = {
      ...{ strict: true, noEmit: true, skipLibCheck: false, module: 'nodenext', target: 'es2024' },
      ...{ lib: ['es2024', 'dom'], types, exactOptionalPropertyTypes: true },
      ...settings,
    }
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['use.ts', ...examples] }),
    )
    return run(join(bin, 'tsc'), ['-p', '.'], project)
  }

  it("runs the guide's library example", () => {
    const example = exampleIn('docs/guides/compact.md')
    writeFileSync(join(project, 'example.ts'), `${example}\nconsole.log(result.kind)\n`)
    expect(run(process.execPath, ['example.ts'], project).trim()).toMatch(/^(compacted|unchanged)$/)
  })

  it("runs the README's agent", () => {
    const example = `${MODEL}${exampleIn('README.md')}`
    writeFileSync(join(project, 'agent.ts'), example)
    expect(run(process.execPath, ['agent.ts'], project).trim()).toBe('It rains.')
  }, 30_000)

  it('installs core alone, without a dependency', () => {
    mkdirSync(coreProject)
    writeFileSync(join(coreProject, 'package.json'), '{ "private": true, "type": "module" }')
    run('npm', ['install', ...quiet, coreTarball], coreProject)
    expect(
      readdirSync(join(coreProject, 'node_modules')).filter((name) => name[0] !== '.'),
    ).toEqual(['@throughline'])
    const withoutPeers = coreSubpaths.filter((path) => !path.endsWith('/postgres'))
    const text = `for (const path of ${JSON.stringify(withoutPeers)}) await import(path)`
    run(process.execPath, ['--input-type=module', '-e', text], coreProject)
  })

  it('hold what is needed and nothing else', () => {
    expect(besideBuilt(coreTarball)).toEqual(['LICENSE', 'package.json'])
    expect(listFiles(serverTarball)).toContain('page/index.html')
    expect(besideBuilt(serverTarball)).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'bin/throughline.js',
      'examples/long-conversation.json',
      'package.json',
    ])
    const files = [...listFiles(coreTarball), ...listFiles(serverTarball)]
    expect(files.filter((path) => /\.test\.|\.map$/.test(path))).toEqual([])
  })

  it('leave the manifests of the clone as they were', () => {
    for (const path of ['packages/core/package.json', 'packages/server/package.json'])
      expect(readFileSync(join(clone, path), 'utf8')).toBe(readFileSync(join(root, path), 'utf8'))
  })
})

function listFiles(tarball: string): readonly string[] {
  const lines = run('tar', ['-tzf', tarball], place).trim().split('\n')
  return lines.map((path) => path.replace('package/', ''))
}

function besideBuilt(tarball: string): readonly string[] {
  return listFiles(tarball)
    .filter((path) => !/^(?:dist|page)\//.test(path))
    .toSorted()
}

/** What the README's agent takes for granted: a model. */
const MODEL = `
async function askModel(request: { readonly messages: readonly unknown[] }, signal: AbortSignal) {
  if (signal.aborted || request.messages.length === 0) throw new Error('nothing to ask')
  return { role: 'assistant' as const, content: 'It rains.' }
}
`

function exampleIn(path: string): string {
  const text = readFileSync(join(root, path), 'utf8')
  const example = /^```ts\n([^`]*)```$/m.exec(text)?.[1]
  if (example === undefined) throw new Error(`${path} has no example in TypeScript`)
  return example
}
