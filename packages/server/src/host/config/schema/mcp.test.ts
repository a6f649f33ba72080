import { expect, it } from 'vitest'
import { mcpTerms } from './mcp.ts'
import { configSchema } from './schema.ts'

const terms = (server: object) => {
  const { agents } = configSchema.parse({ agents: { main: { mcp: { s: server } } } })
  const servers = agents['main']?.mcp ?? {}
  return mcpTerms(servers, { folder: '/work', env: { A: 'b' } })['s']
}
const COMMON = { deny: [], startMs: 20_000, callMs: 60_000 }
const program = { kind: 'program', folder: '/work', env: { A: 'b' } }
const url = 'https://a.example/mcp'

it.each<[string, object, object]>([
  [
    'a program',
    { command: 'node' },
    { ...COMMON, ...program, command: 'node', args: [], variables: [] },
  ],
  [
    'a program with everything',
    {
      ...{ command: 'node', args: ['x'], env: ['HOME'], allow: ['a'], deny: ['b'] },
      ...{ startSeconds: 5, callSeconds: 7 },
    },
    {
      ...{ ...program, command: 'node', args: ['x'], variables: ['HOME'], allow: ['a'] },
      ...{ deny: ['b'], startMs: 5_000, callMs: 7_000 },
    },
  ],
  ['an address', { url }, { ...COMMON, kind: 'address', url, headers: {} }],
  [
    'an address with a key',
    { url, headers: { x: 'y' }, credential: { kind: 'variable', name: 'K' } },
    {
      ...{ ...COMMON, kind: 'address', url, headers: { x: 'y' } },
      credential: { kind: 'variable', name: 'K' },
    },
  ],
])('the terms of %s are whole', (_, server, expected) => {
  expect(terms(server)).toEqual(expected)
})

it.each<[object, string, string]>([
  [{}, 'command', 'is missing; a server is a program (`command`) or an address (`url`)'],
  [{ command: 'x', url }, 'url', 'has no meaning beside `command`; remove one of them'],
  [{ command: 'x', headers: { a: 'b' } }, 'headers', 'has no meaning for a server with `command`'],
  [{ url, args: ['x'] }, 'args', 'has no meaning for a server with `url`'],
])('%j is refused at %s', (server, key, message) => {
  const { error } = configSchema.safeParse({ agents: { main: { mcp: { s: server } } } })
  expect(error?.issues.map((issue) => [issue.path.at(-1), issue.message])).toEqual([[key, message]])
})
