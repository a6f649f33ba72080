import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import coreManifest from '../packages/core/package.json' with { type: 'json' }
import serverManifest from '../packages/server/package.json' with { type: 'json' }
import { bin, exampleIn, INSTALL, MODEL, packBoth, root, run, subpathsOf } from './support/pack.ts'

const place = mkdtempSync(join(tmpdir(), 'throughline-package-'))
const project = join(place, 'project')
const coreProject = join(place, 'core-project')
const globalModules = join(place, 'global', 'lib', 'node_modules')
let packed: ReturnType<typeof packBoth>
/** They import their frameworks, which are not installed here; their own tests use them. */
const FRAMEWORKS = /\/(?:langchain|langgraph|openai-agents)$/
const coreSubpaths = subpathsOf(coreManifest).filter((path) => !FRAMEWORKS.test(path))
const subpaths = [...coreSubpaths, ...subpathsOf(serverManifest)]

/**
 * The packages as others get them: packed, unpacked into a project elsewhere, without our sources. They
 * find the dependencies that they name and no others; the last tests have npm install them.
 */
describe('the packages', () => {
  beforeAll(() => {
    packed = packBoth(place)
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
    const modules = join(project, 'node_modules')
    for (const name of Object.keys(serverManifest.dependencies)) link(name, modules)
    unpack(packed.core, join(modules, '@throughline', 'core'))
    unpack(packed.server, join(modules, 'throughline'))
    mkdirSync(join(modules, '.bin'))
    const [[command, program] = ['', '']] = Object.entries(serverManifest.bin)
    symlinkSync(join('..', 'throughline', program), join(modules, '.bin', command))
    // As `npm install --global` does: core beside the command, which alone has dependencies.
    const own = join(globalModules, 'throughline', 'node_modules')
    for (const name of Object.keys(serverManifest.dependencies)) link(name, own)
    unpack(packed.core, join(globalModules, '@throughline', 'core'))
    unpack(packed.server, join(globalModules, 'throughline'))
    // They are built and packed.
  }, 600_000)

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
    expect(run(command, ['--version'], project).trim()).toBe(serverManifest.version)
  })

  it('serves the page and its sessions', async () => {
    const command = join(project, 'node_modules', '.bin', 'throughline')
    const env = { PATH: `${bin}${delimiter}${process.env['PATH']}`, HOME: place }
    const server = spawn(command, ['serve', '--port', '0', '--json'], { cwd: project, env })
    onTestFinished(() => {
      server.kill('SIGKILL')
    })
    const [line] = await once(server.stdout.setEncoding('utf8'), 'data')
    const { url } = JSON.parse(line)
    expect(await (await fetch(url)).text()).toContain('<title>')
    expect((await fetch(`${url}/v1/sessions`)).status).toBe(200)
    server.kill('SIGTERM')
    expect(await once(server, 'exit')).toEqual([0, null])
  })

  it('can be imported by every subpath', () => {
    const text = `for (const path of ${JSON.stringify(subpaths)})
      console.log(path, Object.keys(await import(path)).length > 0)`
    const output = run(process.execPath, ['--input-type=module', '-e', text], project)
    expect(output.trim().split('\n')).toEqual(subpaths.map((path) => `${path} true`))
  })

  it('exports by every subpath of core what its source exports', async () => {
    const text = `const all = {}
      for (const path of ${JSON.stringify(coreSubpaths)}) all[path] = Object.keys(await import(path))
      console.log(JSON.stringify(all))`
    const packaged = JSON.parse(run(process.execPath, ['--input-type=module', '-e', text], project))
    for (const path of coreSubpaths) {
      const entry = Object.entries(coreManifest.exports).find(
        ([subpath]) => path === subpath.replace('.', coreManifest.name),
      )
      const source = await import(join(root, 'packages', 'core', entry?.[1] ?? ''))
      expect(packaged[path].toSorted(), path).toEqual(Object.keys(source).toSorted())
    }
  })

  it('find in a global installation all that the command imports', () => {
    // The thread runs in a thread only; the others import what is not installed here.
    const others = /\/(?:thread|langchain|langgraph|openai-agents)\.js$/
    const home = join(globalModules, '@throughline', 'core', 'dist')
    const files = globSync(join(home, '**', '*.js')).filter((file) => !others.test(file))
    const text = `for (const file of ${JSON.stringify(files)}) await import(file)
      console.log('imported')`
    const output = run(process.execPath, ['--input-type=module', '-e', text], project)
    expect(files.length).toBeGreaterThan(100)
    expect(output.trim()).toBe('imported')
  })

  it('reach a PostgreSQL server from a global installation', () => {
    const command = join(globalModules, 'throughline', 'bin', 'throughline.js')
    const store = 'postgres://someone@127.0.0.1:1/agents'
    for (const args of [['sessions'], ['purge', 'one', '--yes'], ['rehearse', '--agents', '2']])
      expect(() => run(process.execPath, [command, ...args, '--store', store], place)).toThrow(
        'ECONNREFUSED',
      )
  })

  it('loads few files for the agent', () => {
    const files = Number(
      countingFiles(`await import('@throughline/core/agent'); console.log(files)`),
    )
    expect(files).toBeGreaterThan(0)
    expect(files).toBeLessThanOrEqual(12)
  })

  it('loads compaction with the first conversation that must be compacted', () => {
    const output = countingFiles(`
      const { compactMessages } = await import('@throughline/core')
      const { openaiChat } = await import('@throughline/core/openai')
      const history = Array.from({ length: 60 }, (_, number) => ({
        role: number % 2 === 0 ? 'user' : 'assistant', content: number + ' The river is wide. '.repeat(40),
      }))
      const results = []
      for (const targetTokens of [100_000, 4_000, 4_000]) {
        const before = files
        const { kind } = await compactMessages(openaiChat, history, { targetTokens })
        results.push([kind, files > before])
      }
      console.log(JSON.stringify(results))`)
    expect(JSON.parse(output)).toEqual([
      ['unchanged', false],
      ['compacted', true],
      ['compacted', false],
    ])
  })

  /** Runs a program that knows as `files` how many files were loaded so far. */
  function countingFiles(program: string): string {
    const counting = `import { registerHooks } from 'node:module'
      let files = 0
      registerHooks({ load: (url, context, next) => {
        if (url.startsWith('file:')) files += 1
        return next(url, context)
      } })
      ${program}`
    return run(process.execPath, ['--input-type=module', '-e', counting], project)
  }

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
    const ofAiSdk = subpaths.filter((path) => /\/(?:ai-sdk|mastra)$/.test(path))
    const others = subpaths.filter((path) => !ofAiSdk.includes(path))
    expect(checkTypes(others, ['node'], ['example.ts', 'agent.ts'])).toBe('')
    expect(checkTypes(ofAiSdk, ['node'], [], { skipLibCheck: true })).toBe('')
  })

  it('needs no types of Node, and no newer language than 2022', () => {
    const paths = ['message', 'tokens', 'compaction', 'agent', 'store'].map(
      (name) => `@throughline/core/${name}`,
    )
    const older = { target: 'es2022', lib: ['es2022', 'dom'] }
    expect(checkTypes(paths, [], [], older)).toBe('')
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
  })

  it('need nothing beside core for core', () => {
    const home = join(coreProject, 'node_modules', '@throughline', 'core')
    unpack(packed.core, home)
    const manifest = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'))
    expect(manifest.dependencies).toBeUndefined()
    run(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `for (const path of ${JSON.stringify(coreSubpaths)}) await import(path)`,
      ],
      coreProject,
    )
  })

  it('name the driver that core needs for PostgreSQL', () => {
    const program = `import { openPostgres, readPostgres } from '@throughline/core/postgres'
      for (const open of [openPostgres, readPostgres])
        await open('postgres://someone@127.0.0.1:1/agents').catch(({ message }) => console.log(message))`
    const output = run(process.execPath, ['--input-type=module', '-e', program], coreProject)
    expect(output.trim().split('\n')).toEqual(
      Array(2).fill(
        'Will not open postgres://127.0.0.1:1/agents (schema throughline): its driver, the package pg, was not found. Run `npm install pg`.',
      ),
    )
  })

  it('contain only the needed files', () => {
    expect(besideBuilt(packed.core)).toEqual(['LICENSE', 'package.json'])
    expect(listFiles(packed.server)).toContain('page/index.html')
    expect(besideBuilt(packed.server)).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'bin/throughline.js',
      'examples/long-conversation.json',
      'package.json',
    ])
    const files = [...listFiles(packed.core), ...listFiles(packed.server)]
    expect(files.filter((path) => /\.test\.|\.map$/.test(path))).toEqual([])
  })

  it('take at most 2,000 kB for core', () => {
    const lines = run('tar', ['-tvzf', packed.core], place).trim().split('\n')
    const bytes = lines.reduce((sum, line) => sum + Number(line.split(/\s+/)[2]), 0)
    expect(bytes).toBeGreaterThan(100_000)
    expect(bytes).toBeLessThanOrEqual(2_000_000)
  })

  it('leave the manifests of the clone as they were', () => {
    for (const path of ['packages/core/package.json', 'packages/server/package.json'])
      expect(readFileSync(join(packed.clone, path), 'utf8')).toBe(
        readFileSync(join(root, path), 'utf8'),
      )
  })

  it('install for everyone with one line, and the tour runs from there', () => {
    const prefix = join(place, 'global')
    run('npm', [...INSTALL, '--global', '--prefix', prefix, packed.core, packed.server], place)
    const command = join(prefix, 'bin', 'throughline')
    expect(run(command, ['--version'], place).trim()).toBe(serverManifest.version)
    // Elsewhere than a clone: a server starts, is killed, and continues.
    expect(run(command, ['demo', '--fast'], place)).toContain('every message is back')
  }, 400_000)

  it('install nothing beside core for core', () => {
    const installing = join(place, 'installing')
    mkdirSync(installing)
    writeFileSync(join(installing, 'package.json'), '{ "private": true, "type": "module" }')
    run('npm', [...INSTALL, packed.core], installing)
    const installed = readdirSync(join(installing, 'node_modules'))
    expect(installed.filter((name) => name[0] !== '.')).toEqual(['@throughline'])
  }, 400_000)
})

/** A dependency as it is installed in the clone. */
function link(name: string, modules: string): void {
  if (name.startsWith('@throughline/')) return
  mkdirSync(dirname(join(modules, name)), { recursive: true })
  symlinkSync(join(root, 'node_modules', name), join(modules, name))
}

function unpack(tarball: string, folder: string): void {
  mkdirSync(folder, { recursive: true })
  run('tar', ['-xzf', tarball, '--strip-components=1', '-C', folder], place)
}

function listFiles(tarball: string): readonly string[] {
  const lines = run('tar', ['-tzf', tarball], place).trim().split('\n')
  return lines.map((path) => path.replace('package/', ''))
}

function besideBuilt(tarball: string): readonly string[] {
  return listFiles(tarball)
    .filter((path) => !/^(?:dist|page)\//.test(path))
    .toSorted()
}
