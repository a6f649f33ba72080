import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { SOURCE_PROGRAM } from './support/run-cli.ts'

/**
 * What a command loads before it can answer. Each file costs about half a millisecond of processor
 * time, at every start; files can be counted, and time on a busy machine cannot be measured.
 */
const folder = mkdtempSync(join(tmpdir(), 'throughline-start-'))
const COUNTER = `data:text/javascript,${encodeURIComponent(`
  import { writeFileSync } from 'node:fs'
  import { registerHooks } from 'node:module'
  const loaded = []
  registerHooks({
    load(url, context, next) {
      loaded.push(url)
      return next(url, context)
    },
  })
  process.on('exit', () => writeFileSync(process.env.LOADED_FILE, JSON.stringify(loaded)))
`)}`

beforeAll(async () => {
  await load('send', 'notes', 'Hello.', '--agent', 'main')
})

describe('a command', () => {
  it('loads nothing but itself for --version', async () => {
    const { own, packages } = await load('--version')
    expect(own).toBeLessThan(12)
    expect(packages).toEqual(['commander'])
  })

  it('loads no command but the one that is called', async () => {
    const { urls } = await load('sessions')
    expect(commandsIn(urls)).toEqual(['sessions'])
  })

  it('loads no model, server or chat platform to list sessions', async () => {
    const { own, packages } = await load('sessions')
    // Some 450 now. Most of them belong to the runtime, which a list of sessions does not need.
    expect(own).toBeLessThan(475)
    // Of the configuration and of the tools.
    expect(packages).toEqual(['commander', 'croner', 're2js', 'yaml', 'zod'])
  })

  it('loads no package but the parser of its words for --help', async () => {
    const { urls, packages } = await load('--help')
    expect(packages).toEqual(['commander'])
    expect(commandsIn(urls)).toContain('chat')
  })
})

async function load(...words: readonly string[]) {
  const file = join(folder, 'loaded.json')
  await promisify(execFile)(process.execPath, ['--import', COUNTER, SOURCE_PROGRAM, ...words], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, LOADED_FILE: file },
  })
  const urls: readonly string[] = JSON.parse(readFileSync(file, 'utf8'))
  const foreign = urls.flatMap(
    (url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [],
  )
  return {
    urls,
    own: urls.filter((url) => /\/packages\/(?:core|server)\//.test(url)).length,
    packages: [...new Set(foreign)].toSorted(),
  }
}

function commandsIn(urls: readonly string[]): readonly string[] {
  return [...new Set(urls.flatMap((url) => /cli\/commands\/(\w+)/.exec(url)?.[1] ?? []))]
}
