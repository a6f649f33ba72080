import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { commandAnywhere, commandForm, shellWord } from './hint.ts'

const places: string[] = []
afterEach(() => {
  for (const place of places.splice(0)) rmSync(place, { recursive: true, force: true })
})

/** A package with its command, and a folder of commands that links to it. */
function install(inside: string) {
  const place = mkdtempSync(join(tmpdir(), 'throughline-hint-'))
  places.push(place)
  const packageFolder = join(place, inside, 'throughline')
  const file = join(packageFolder, 'bin', 'throughline.js')
  mkdirSync(join(packageFolder, 'bin'), { recursive: true })
  writeFileSync(file, '')
  const link = (commands: string) => {
    mkdirSync(join(place, commands), { recursive: true })
    symlinkSync(file, join(place, commands, 'throughline'))
    return ['/usr/bin', join(place, commands)].join(delimiter)
  }
  return { packageFolder, file, link }
}

describe('commandForm', () => {
  it('is npx for the person who used it, if the plain name is not on the path', () => {
    const { packageFolder, link } = install('clone/packages')
    const location = { packageFolder, workingFolder: '/app', isOfNpx: true }
    expect(commandForm(location, '/usr/bin')).toBe('npx throughline')
    expect(commandForm(location, link('bin'))).toBe('throughline')
  })

  it('is the plain name in the folder of a project, if a clone is linked', () => {
    const { packageFolder, link } = install('clone/packages')
    expect(commandForm({ packageFolder, workingFolder: '/app' }, link('bin'))).toBe('throughline')
  })

  it.each([
    ['in a clone', '/src/throughline/packages/server', '/src/throughline', 'npx throughline'],
    [
      'deep in a clone',
      '/src/throughline/packages/server',
      '/src/throughline/docs',
      'npx throughline',
    ],
    [
      'beside a clone',
      '/src/throughline/packages/server',
      '/src',
      'node /src/throughline/packages/server/bin/throughline.js',
    ],
    ['in a project', '/app/node_modules/throughline', '/app/src', 'npx throughline'],
    ['for everyone', '/usr/lib/node_modules/throughline', '/app', 'throughline'],
    ['from the cache', '/h/.npm/_npx/1a/node_modules/throughline', '/app', 'npx throughline'],
  ])('is the form that works %s', (_, packageFolder, workingFolder, form) => {
    expect(commandForm({ packageFolder, workingFolder })).toBe(form)
  })
})

describe('commandAnywhere', () => {
  it('is the plain name if the path leads to this program', () => {
    const { packageFolder, link } = install('lib/node_modules')
    expect(commandAnywhere({ packageFolder }, link('bin'))).toBe('throughline')
  })

  it('is its file in a project, whose commands are on the path for one run only', () => {
    const { packageFolder, file, link } = install('node_modules')
    expect(commandAnywhere({ packageFolder }, link('node_modules/.bin'))).toBe(`node ${file}`)
  })

  it('is its file if the path leads to another one', () => {
    const other = install('lib/node_modules').link('bin')
    const { packageFolder, file } = install('src/my packages')
    expect(commandAnywhere({ packageFolder }, other)).toBe(`node '${file}'`)
  })

  it('is npx from the cache of npx, whose folder does not last', () => {
    const { packageFolder, link } = install('_npx/1a/node_modules')
    const path = link('_npx/1a/node_modules/.bin')
    expect(commandAnywhere({ packageFolder }, path)).toBe('npx -y throughline')
  })
})

describe('shellWord', () => {
  it.each([
    ['plain/path-1.json', 'plain/path-1.json'],
    ['my file.json', "'my file.json'"],
    ["it's.json", `'it'\\''s.json'`],
    ['$(rm).json', "'$(rm).json'"],
    ['', "''"],
  ])('makes %j one word of a shell', (word, quoted) => {
    expect(shellWord(word)).toBe(quoted)
  })
})
