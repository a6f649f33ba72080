import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import manifest from '../packages/server/package.json' with { type: 'json' }
import { INSTALL, packBoth, run } from './support/pack.ts'

let place: string
let packed: ReturnType<typeof packBoth>

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'throughline-package-'))
  packed = packBoth(place)
}, 400_000)

afterAll(() => rmSync(place, { recursive: true, force: true }))

describe('the packages', { timeout: 400_000 }, () => {
  it('install for everyone with one line, and the tour runs from there', () => {
    const prefix = join(place, 'global')
    run('npm', [...INSTALL, '--global', '--prefix', prefix, packed.core, packed.server], place)
    const command = join(prefix, 'bin', 'throughline')
    expect(run(command, ['--version'], place).trim()).toBe(manifest.version)
    // Elsewhere than a clone: a server starts, is killed, and continues.
    expect(run(command, ['demo', '--fast'], place)).toContain('every message is back')
  })

  it('install nothing beside core for core', () => {
    const project = join(place, 'core-project')
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
    run('npm', [...INSTALL, packed.core], project)
    const installed = readdirSync(join(project, 'node_modules'))
    expect(installed.filter((name) => name[0] !== '.')).toEqual(['@throughline'])
  })
})
