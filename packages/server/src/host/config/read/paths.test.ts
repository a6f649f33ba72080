import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { Config } from '../schema/schema.ts'
import { namedFiles, resolvePaths, takeTexts } from './paths.ts'
import { nodeOf, plainOf } from './tree.ts'

const FILE = { kind: 'file', file: 'a.yaml', line: 1, column: 1 } as const
const folder = mkdtempSync(join(tmpdir(), 'throughline-paths-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('texts of agents, pins and the prompt of compactions come from files, and no others', () => {
  const value = {
    agents: {
      main: {
        system: 'file: system.txt ',
        pins: { rule: 'file:rule.txt', plain: 'words' },
        other: 'file:no.txt',
        deep: { system: 'file:no.txt' },
      },
    },
    compaction: { prompt: 'file:gone.txt', preset: 'file:no.txt' },
    logging: { prompt: 'file:no.txt' },
    system: 'file:no.txt',
  }
  const asked: string[] = []
  const { tree, problems, taken } = takeTexts(nodeOf(value, FILE), (path, origin) => {
    expect(origin).toBe(FILE)
    asked.push(path)
    return path === 'gone.txt' ? { problem: 'cannot be read' } : `text of ${path}`
  })
  expect(asked).toEqual(['system.txt', 'rule.txt', 'gone.txt'])
  expect(plainOf(tree)).toEqual({
    ...value,
    agents: {
      main: {
        ...value.agents.main,
        system: 'text of system.txt',
        pins: { rule: 'text of rule.txt', plain: 'words' },
      },
    },
  })
  expect(problems).toEqual([
    { origin: FILE, text: '`compaction.prompt` names gone.txt, which cannot be read.' },
  ])
  expect(taken).toEqual(asked.map((path) => ({ path, origin: FILE })))
})

const file = (path: string) => ({ kind: 'file', path })
const command = (more: object = {}) => ({ kind: 'command', command: 'pass', ...more })

it('paths become absolute from where they were said, addresses and words stay', () => {
  const config = {
    store: { url: 'a.db', password: file('~/key') },
    logging: { file: 'logs/a.log', level: 'info' },
    http: { socket: '~/a.sock', host: 'localhost' },
    agents: {
      main: {
        system: 'a.txt',
        model: { credential: command(), headers: { kind: 'file', path: 'x' } },
        fallbacks: [{ credential: command({ folder: 'sub' }) }],
        pins: { kind: 'file', path: 'x' },
        tools: { files: { roots: { work: 'w', home: '~' } } },
        mcp: {
          one: { command: './server.js', args: ['a/b'] },
          two: { command: 'node', args: ['./c.js'] },
        },
      },
    },
  }
  const resolved = (home: string | undefined) =>
    resolvePaths(config as unknown as Config, {
      ...{ home, baseOf: (path: readonly (string | number)[]) => `/base/${path[0]}` },
    })
  expect(resolved('/home/ada')).toEqual({
    store: { url: '/base/store/a.db', password: file('/home/ada/key') },
    logging: { file: '/base/logging/logs/a.log', level: 'info' },
    http: { socket: '/home/ada/a.sock', host: 'localhost' },
    agents: {
      main: {
        system: 'a.txt',
        model: {
          credential: command({ folder: '/base/agents' }),
          headers: { kind: 'file', path: 'x' },
        },
        fallbacks: [{ credential: command({ folder: '/base/agents/sub' }) }],
        pins: { kind: 'file', path: 'x' },
        tools: { files: { roots: { work: '/base/agents/w', home: '/base/agents/~' } } },
        mcp: {
          one: { command: '/base/agents/server.js', args: ['a/b'] },
          two: { command: 'node', args: ['./c.js'] },
        },
      },
    },
  })
  expect(resolved(undefined)).toMatchObject({ http: { socket: '/base/http/~/a.sock' } })
})

it.each(['postgres://db/a', 'SQLITE+x.y-z://a', ':memory:'])('%s is no path', (url) => {
  const terms = { baseOf: () => '/base', home: '/home' }
  expect(resolvePaths({ store: { url } } as unknown as Config, terms)).toEqual({ store: { url } })
})

it('files that are read or run later are named, with the keys that name them', () => {
  writeFileSync(join(folder, 'plain'), '')
  mkdirSync(join(folder, 'work'))
  const config = {
    store: { url: '/a.db', password: file('/key') },
    agents: {
      main: {
        model: { credential: command({ folder: '/where' }), headers: file('x') },
        tools: { process: { programs: ['ls', '/bin/make', 'sub/run'] } },
        mcp: {
          one: {
            command: '/usr/bin/node',
            args: ['plain', 'work', 'none', 'new.mjs', '--import=new.ts', '-r=x.txt', '--y=a.jar'],
          },
          two: { command: 'node', args: [] },
        },
      },
    },
  }
  const named = namedFiles(config as unknown as Config, folder)
  expect(named.map(({ path, file: each }) => `${path.join('.')} ${each}`)).toEqual([
    'store.password.path /key',
    'agents.main.model.credential.folder /where',
    'agents.main.tools.process.programs.1 /bin/make',
    `agents.main.tools.process.programs.2 ${folder}/sub/run`,
    'agents.main.mcp.one.command /usr/bin/node',
    `agents.main.mcp.one.args.0 ${folder}/plain`,
    `agents.main.mcp.one.args.3 ${folder}/new.mjs`,
    `agents.main.mcp.one.args.4 ${folder}/new.ts`,
    `agents.main.mcp.one.args.6 ${folder}/a.jar`,
  ])
})
