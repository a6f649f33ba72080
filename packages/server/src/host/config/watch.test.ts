import { chmodSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { FakeClock } from '../../../../../test/model/fake-clock.ts'
import { compareConfigs } from './compare.ts'
import { requireConfig } from './load.ts'
import { problemText } from './read/problem.ts'
import { configSchema } from './schema/schema.ts'
import { watchConfig } from './watch.ts'

const base = mkdtempSync(join(tmpdir(), 'throughline-watch-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

const EVERY_MS = 1_000

/** A watched file, and the reports about it so far. */
function watched(text: string | null) {
  const folder = mkdtempSync(join(base, 'a-'))
  const file = join(folder, 'throughline.yaml')
  if (text !== null) writeFileSync(file, text)
  const clock = new FakeClock()
  const reported: string[] = []
  const load = { cwd: folder, env: {}, flags: [] }
  const end = watchConfig({
    load,
    clock,
    current: requireConfig(load),
    onChange: ({ config }, { applies, needsRestart }) => {
      reported.push(
        `${config.http.port}: now ${applies.join(' ')}, later ${needsRestart.join(' ')}`,
      )
    },
    onBroken: (problems) => reported.push(`broken: ${problems.map(problemText).join(' ')}`),
  })
  const look = async () => {
    await clock.pass(2 * EVERY_MS)
    return reported.splice(0)
  }
  return { folder, file, clock, look, end }
}

/** Replaces the file with a new one, as editors do. */
function replace(file: string, text: string): void {
  writeFileSync(`${file}.new`, text)
  renameSync(`${file}.new`, file)
}

describe('watchConfig', () => {
  it('loads a file that is created later', async () => {
    const { file, look, end } = watched(null)
    expect(await look()).toEqual([])
    writeFileSync(file, 'http: {port: 1}\nlogging: {level: debug}')
    expect(await look()).toEqual(['1: now logging.level, later http.port'])
    end()
  })

  it('reports the effects of a change once, however the file is replaced', async () => {
    const { file, look, end } = watched('http: {port: 1}')
    expect(await look()).toEqual([])
    replace(file, 'http: {port: 5}')
    expect(await look()).toEqual(['5: now , later http.port'])
    replace(file, 'http: {port: 2}\nlogging: {level: debug}')
    expect(await look()).toEqual(['2: now logging.level, later http.port'])
    expect(await look()).toEqual([])
    rmSync(file)
    writeFileSync(file, 'http: {port: 22}\nlogging: {level: debug}')
    expect(await look()).toEqual(['22: now , later http.port'])
    writeFileSync(file, '# said anew\nhttp: {port: 22}\nlogging: {level: debug}')
    expect(await look()).toEqual([])
    end()
  })

  it('keeps the configuration in effect while the file is broken or missing, and says why once', async () => {
    const { file, look, end } = watched('http: {port: 1}')
    replace(file, 'http: {prot: 22}')
    expect(await look()).toEqual([
      'broken: throughline.yaml:1:8: `http.prot` is not known. Did you mean `port`?',
    ])
    expect(await look()).toEqual([])
    rmSync(file)
    expect(await look()).toEqual([
      'broken: throughline.yaml:1:1: The configuration does not exist.',
    ])
    replace(file, 'http: {port: 333}')
    expect(await look()).toEqual(['333: now , later http.port'])
    end()
  })

  it('ignores changes of a file that has become writable by other users', async () => {
    const { file, look, end } = watched('http: {port: 1}')
    replace(file, 'http: {port: 22}')
    chmodSync(file, 0o666)
    expect(await look()).toEqual([
      expect.stringContaining('not used: it is writable by every user'),
    ])
    end()
  })

  it('waits until the file stops changing', async () => {
    const { file, clock, look, end } = watched('http: {port: 1}')
    writeFileSync(file, 'http: {po')
    await clock.pass(EVERY_MS)
    writeFileSync(file, 'http: {port: 4444}')
    expect(await look()).toEqual(['4444: now , later http.port'])
    end()
  })

  it('watches texts that the file names, including newly named ones', async () => {
    const { folder, file, look, end } = watched('http: {port: 1}')
    writeFileSync(join(folder, 'a.md'), 'Be kind.')
    replace(file, 'http: {port: 1}\nagents: {main: {system: file:a.md}}')
    expect(await look()).toEqual(['1: now agents.main.system, later '])
    writeFileSync(join(folder, 'a.md'), 'Be very kind.')
    expect(await look()).toEqual(['1: now agents.main.system, later '])
    end()
  })

  it('follows a link when its target changes', async () => {
    const { folder, file, look, end } = watched('http: {port: 1}')
    writeFileSync(join(folder, 'two'), 'http: {port: 2}\n')
    symlinkSync('two', join(folder, 'link'))
    renameSync(join(folder, 'link'), file)
    expect(await look()).toEqual(['2: now , later http.port'])
    end()
  })

  it('holds no timer once it has ended', async () => {
    const { file, clock, look, end } = watched('http: {port: 1}')
    end()
    end()
    expect(clock.timers).toBe(0)
    replace(file, 'http: {port: 2}')
    expect(await look()).toEqual([])
  })
})

describe('compareConfigs', () => {
  const config = (input: unknown) => configSchema.parse(input)

  it('finds no change between a configuration and itself', () => {
    expect(compareConfigs(config({}), config({}))).toEqual({ applies: [], needsRestart: [] })
  })

  it('separates changes that apply at once from those that need a restart', () => {
    const after = config({
      agents: { main: { stepsMax: 7, tools: { files: true } }, second: {} },
      auxiliary: { title: { model: 'm' } },
      compaction: { enabled: false },
      store: 'other.db',
      logging: { level: 'debug', file: 'log' },
    })
    expect(compareConfigs(config({}), after)).toEqual({
      applies: [
        'agents.main.stepsMax',
        'agents.main.tools.files.enabled',
        'agents.second',
        'auxiliary.title.model',
        'logging.level',
      ],
      needsRestart: ['compaction.enabled', 'logging.file', 'store.url'],
    })
  })

  it('requires no restart for a stand-in that is already running', async () => {
    const { file, look, end } = watched('http: {port: 1}')
    replace(file, 'http: {port: 1}\nagents: {main: {model: {provider: anthropic, model: m}}}')
    expect(await look()).toEqual([expect.stringContaining('1: now agents.main.model')])
    replace(file, 'http: {port: 1}')
    const [reported = ''] = await look()
    expect(reported).toContain('agents.main.model.provider')
    expect(reported).toMatch(/later $/)
    end()
  })

  it('requires a restart for a stand-in that is not running', () => {
    const model = (provider: string) => ({ model: { provider, model: 'm' } })
    const before = config({ agents: { main: model('anthropic') } })
    const after = config({ agents: { main: model('stand-in'), second: model('stand-in') } })
    expect(compareConfigs(before, after)).toEqual({
      applies: [],
      needsRestart: ['agents.main.model.provider', 'agents.second'],
    })
    expect(compareConfigs(config({}), after).needsRestart).toEqual([])
    // What else changes with it waits for nothing.
    const louder = config({ agents: { main: model('stand-in') }, logging: { level: 'debug' } })
    expect(compareConfigs(before, louder)).toEqual({
      applies: ['logging.level'],
      needsRestart: ['agents.main.model.provider'],
    })
  })
})
