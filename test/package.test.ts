import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import coreManifest from '../packages/core/package.json' with { type: 'json' }
import serverManifest from '../packages/server/package.json' with { type: 'json' }
import { exampleIn, MODEL, root, run, subpathsOf } from './support/pack.ts'

/**
 * The packages from their sources, in a project that has them installed. `npm run test:full` does the same with
 * the packed ones.
 */
const project = mkdtempSync(join(tmpdir(), 'throughline-package-'))
const subpaths = [...subpathsOf(coreManifest), ...subpathsOf(serverManifest)]

function runProgram(text: string): string {
  writeFileSync(join(project, 'program.ts'), text)
  return run(process.execPath, ['program.ts'], project).trim()
}

beforeAll(() => {
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, '@throughline'), { recursive: true })
  symlinkSync(join(root, 'packages', 'core'), join(modules, '@throughline', 'core'))
  symlinkSync(join(root, 'packages', 'server'), join(modules, 'throughline'))
})

afterAll(() => rmSync(project, { recursive: true, force: true }))

describe('the packages', () => {
  it('can be imported by every subpath', () => {
    const output = runProgram(`for (const path of ${JSON.stringify(subpaths)})
      console.log(path, Object.keys(await import(path)).length > 0)`)
    expect(output.split('\n')).toEqual(subpaths.map((path) => `${path} true`))
  })

  it('need nothing beside core for core', () => {
    expect(Object.keys(coreManifest)).not.toContain('dependencies')
  })

  it('use the given driver for PostgreSQL if core finds none, or say what to install', () => {
    // Elsewhere than the clone, whose dependencies it would find.
    cpSync(join(root, 'packages', 'core', 'src'), join(project, 'core'), { recursive: true })
    const output = runProgram(`
      import { createRequire } from 'node:module'
      import { openPostgres, readPostgres } from './core/store/postgres/index.ts'
      import { rewriteTables } from './core/store/postgres/rewrite-tables.ts'
      const driver = createRequire(${JSON.stringify(join(root, 'package.json'))})('pg')
      for (const use of [openPostgres, readPostgres, rewriteTables])
        for (const options of [{ driver }, {}])
          await use('postgres://someone@127.0.0.1:1/agents', options).catch(({ message }) =>
            console.log(message.match(/ECONNREFUSED|Run .npm install pg./)?.[0] ?? message))`)
    const each = ['ECONNREFUSED', 'Run `npm install pg`']
    expect(output.split('\n')).toEqual([...each, ...each, ...each])
  })

  it("run the guide's library example", () => {
    const example = exampleIn('docs/guides/compact.md')
    expect(runProgram(`${example}\nconsole.log(result.kind)\n`)).toMatch(/^(compacted|unchanged)$/)
  })

  it("run the README's agent", () => {
    expect(runProgram(`${MODEL}${exampleIn('README.md')}`)).toBe('It rains.')
  })
})
