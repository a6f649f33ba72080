import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }

const root = join(import.meta.dirname, '..')
const place = mkdtempSync(join(tmpdir(), 'throughline-package-'))
const project = join(place, 'project')
const bin = join(root, 'node_modules', '.bin')
const subpaths = Object.keys(packageJson.exports)
  .filter((path) => path !== './package.json')
  .map((path) => path.replace('.', packageJson.name))

/** The package as others get it: packed, installed into a project elsewhere, without our sources. */
describe('the package', () => {
  beforeAll(() => {
    run('npm', ['pack', '--silent', '--pack-destination', place], root)
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
    const tarball = join(place, `throughline-${packageJson.version}.tgz`)
    const quiet = ['--silent', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts']
    run('npm', ['install', ...quiet, tarball], project)
    // It is built, packed, and installed with all it needs.
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
    expect(run(command, ['--version'], project).trim()).toBe(packageJson.version)
  })

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
    writeFileSync(join(project, 'example.ts'), exampleIn('docs/guides/compact.md'))
    writeFileSync(join(project, 'loop.ts'), `${LOOP_PARTS}${exampleIn('README.md')}`)
    expect(checkTypes(subpaths, ['node'], ['example.ts', 'loop.ts'])).toBe('')
  })

  it('needs no types of Node for the pure parts', () => {
    const pure = ['message', 'tokens', 'compaction'].map((name) => `throughline/${name}`)
    expect(checkTypes(pure, [], [])).toBe('')
  })

  function checkTypes(
    paths: readonly string[],
    types: readonly string[],
    examples: readonly string[],
  ): string {
    const names = paths.map((_, index) => `module${index}`)
    const imports = paths.map((path, index) => `import * as ${names[index]} from '${path}'`)
    writeFileSync(join(project, 'use.ts'), `${imports.join('\n')}\nexport const all = [${names}]\n`)
    const compilerOptions = {
      ...{ strict: true, noEmit: true, skipLibCheck: false, module: 'nodenext', target: 'es2024' },
      ...{ lib: ['es2024', 'dom'], types, exactOptionalPropertyTypes: true },
    }
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['use.ts', ...examples] }),
    )
    return run(join(bin, 'tsc'), ['-p', '.'], project)
  }

  it("runs the guide's library example", () => {
    const example = exampleIn('docs/guides/compact.md')
    writeFileSync(join(project, 'example.ts'), `${example}\nconsole.log(result.outcome)\n`)
    expect(run(process.execPath, ['example.ts'], project).trim()).toMatch(/^(compacted|kept)$/)
  })

  it("runs the README's loop", () => {
    const example = `${LOOP_PARTS}${exampleIn('README.md')}\nconsole.log('done')\n`
    writeFileSync(join(project, 'loop.ts'), example)
    expect(run(process.execPath, ['loop.ts'], project).trim()).toBe('done')
  }, 30_000)

  it('holds what is needed and nothing else', () => {
    const listed = run('tar', ['-tzf', `throughline-${packageJson.version}.tgz`], place)
    const files = listed
      .trim()
      .split('\n')
      .map((path) => path.replace('package/', ''))
    expect(files).toContain('dashboard/dist/index.html')
    expect(files.filter((path) => !/^(?:dashboard\/)?dist\//.test(path)).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'bin/throughline.js',
      'examples/long-conversation.json',
      'package.json',
    ])
    expect(files.filter((path) => /\.test\.|\.map$/.test(path))).toEqual([])
  })
})

/** What the README's loop takes for granted: a model and its tools. */
const LOOP_PARTS = `
async function askModel(messages: readonly unknown[], signal: AbortSignal) {
  if (signal.aborted || messages.length === 0) throw new Error('nothing to ask')
  return { role: 'assistant', content: 'It rains.' }
}
async function runTool({ name }: { readonly name: string }) {
  return name
}
`

function exampleIn(path: string): string {
  const text = readFileSync(join(root, path), 'utf8')
  const example = /^```ts\n([^`]*)```$/m.exec(text)?.[1]
  if (example === undefined) throw new Error(`${path} has no example in TypeScript`)
  return example
}

function run(command: string, args: readonly string[], cwd: string): string {
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` }
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`)
  return stdout
}
