import { describe, expect, it } from 'vitest'
import {
  type Answers,
  ask,
  endpointOf,
  ONCE,
  problem,
  SUMMARY,
  UNKNOWN_SESSION,
} from '../../../../../../test/gateways/endpoint-answers.ts'

describe('a new session', () => {
  const POST = 'post /v1/sessions'
  const route = { channel: 'web', address: '1' }
  const made = {
    ...{ status: 201, body: { sessionId: 's1' }, headers: { location: '/v1/sessions/s1' } },
  }
  const named = { agent: 'main', id: expect.stringMatching(/^main-[\da-z]{1,13}$/) }

  it.each<[string, object, Answers, unknown[], unknown]>([
    [
      'with an id',
      { agent: 'main', id: 's1' },
      { createSession: { kind: 'created', sessionId: 's1' } },
      [['runtime.createSession', { agent: 'main', id: 's1' }]],
      made,
    ],
    [
      'with an id that exists',
      { agent: 'main', id: 's1' },
      { createSession: { kind: 'exists', sessionId: 's1' } },
      [['runtime.createSession', { agent: 'main', id: 's1' }]],
      problem('session-exists', { sessionId: 's1' }),
    ],
    [
      'of an unknown agent',
      { agent: 'main' },
      { createSession: { kind: 'unknown-agent', agents: ['a'] } },
      [['runtime.createSession', named]],
      problem('unknown-agent', { agents: ['a'] }),
    ],
    [
      'that was made before',
      { agent: 'main' },
      { createSession: { kind: 'exists', sessionId: 's1' } },
      [['runtime.createSession', named]],
      { status: 200, body: { sessionId: 's1' } },
    ],
    [
      'for a route that reaches it already',
      { agent: 'main', route },
      { createSession: { kind: 'exists', sessionId: 's1' }, findRoute: 's1' },
      [
        ['runtime.createSession', { ...named, route }],
        ['runtime.findRoute', { agent: 'main', ...route }],
      ],
      { status: 200, body: { sessionId: 's1' } },
    ],
    [
      'that was made before for another route',
      { agent: 'main', route },
      { createSession: { kind: 'exists', sessionId: 's1' }, findRoute: 's2' },
      [
        ['runtime.createSession', { ...named, route }],
        ['runtime.findRoute', { agent: 'main', ...route }],
      ],
      problem('key-conflict'),
    ],
    [
      'for a route that points elsewhere',
      { agent: 'main', id: 's1', route },
      { createSession: { kind: 'route-taken', sessionId: 's2' } },
      [['runtime.createSession', { agent: 'main', id: 's1', route }]],
      problem('route-taken', { sessionId: 's2' }),
    ],
    [
      'instead of the one that a route reaches',
      { agent: 'main', route, afresh: true },
      { startAfresh: { kind: 'started', sessionId: 's1' } },
      [['runtime.startAfresh', { agent: 'main', ...route, ...ONCE }]],
      made,
    ],
  ])('is asked for and answered: %s', async (_, body, runtime, asked, answer) => {
    expect(await ask(POST, { body }, { runtime })).toEqual({ asked, answer })
  })

  it('is named by its agent, of which 32 characters count, and by the key and who used it', async () => {
    const nameFor = async (agent: string, once: object) => {
      const runtime = { createSession: ({ id }: { id: string }) => ({ kind: 'x', sessionId: id }) }
      const { answer } = await ask(POST, { body: { agent }, once }, { runtime })
      return (answer as unknown as { body: { sessionId: string } }).body.sessionId
    }
    const first = await nameFor('a'.repeat(33), ONCE)
    expect(first).toMatch(new RegExp(`^${'a'.repeat(32)}-[\\da-z]{1,13}$`))
    expect(await nameFor('a'.repeat(33), ONCE)).toBe(first)
    expect(await nameFor('a'.repeat(33), { ...ONCE, key: 'l' })).not.toBe(first)
    expect(await nameFor('a'.repeat(33), { ...ONCE, source: 'other' })).not.toBe(first)
  })
})

describe('what is read of a session', () => {
  const T = 'get /v1/sessions/{id}/transcript'
  const C = 'get /v1/sessions/{id}/context'
  const readable = (compaction: number | null) => ({ id: { sessionId: 's1', compaction } })
  const params = readable(null)
  const of = (from: number, to: number) => ['transcript', { from, to }]
  const page = (next: number | null) => ({ status: 200, body: { entries: ['e'], next } })
  const view = { tokens: 4 }

  it.each<[string, string, object, Answers, unknown[], unknown]>([
    ['its newest entries', T, { params }, { transcript: ['e'] }, [of(1, 9)], page(null)],
    [
      'its newest two',
      T,
      { params, query: { limit: 2 } },
      { transcript: ['e'] },
      [of(8, 9)],
      page(null),
    ],
    [
      'two from the third on',
      T,
      { params, query: { from: 3, limit: 2 } },
      { transcript: ['e'] },
      [of(3, 4)],
      page(5),
    ],
    [
      'fifty, without a limit',
      T,
      { params, query: { from: 1 } },
      { summary: { ...SUMMARY, entries: 60 }, transcript: ['e'] },
      [of(1, 50)],
      page(51),
    ],
    ['its last', T, { params, query: { from: 9 } }, { transcript: ['e'] }, [of(9, 9)], page(null)],
    [
      'nothing behind it',
      T,
      { params, query: { from: 10 } },
      {},
      [],
      { status: 200, body: { entries: [], next: null } },
    ],
    [
      'entries that are gone',
      T,
      { params },
      { transcript: undefined },
      [of(1, 9)],
      UNKNOWN_SESSION,
    ],
    [
      'no such snapshot',
      T,
      { params: readable(4) },
      { snapshot: undefined },
      [['snapshot', 4]],
      UNKNOWN_SESSION,
    ],
    [
      'its context',
      C,
      { params },
      { context: view },
      [['context', {}]],
      { status: 200, body: view },
    ],
    [
      'its context at a step',
      C,
      { params, query: { at: 9 } },
      { context: view },
      [['context', { at: 9 }]],
      { status: 200, body: view },
    ],
    [
      'a context beyond it',
      C,
      { params, query: { at: 10 } },
      { context: view },
      [],
      problem('unknown-entry'),
    ],
    [
      'no context',
      C,
      { params },
      { context: undefined },
      [['context', {}]],
      problem('unknown-entry'),
    ],
    [
      'its tasks',
      'get /v1/sessions/{id}/tasks',
      {},
      { tasks: { tasks: [] } },
      [['tasks']],
      { status: 200, body: { tasks: [] } },
    ],
    [
      'tasks of none',
      'get /v1/sessions/{id}/tasks',
      {},
      { tasks: undefined },
      [['tasks']],
      UNKNOWN_SESSION,
    ],
    [
      'its pins',
      'get /v1/sessions/{id}/pins',
      {},
      { pins: [1] },
      [['pins']],
      { status: 200, body: { pins: [1] } },
    ],
    [
      'pins of none',
      'get /v1/sessions/{id}/pins',
      {},
      { pins: undefined },
      [['pins']],
      UNKNOWN_SESSION,
    ],
    [
      'a file',
      'get /v1/sessions/{id}/blobs/{hash}',
      { params: { ...params, hash: 'a1' } },
      { blob: { data: 'QQ==' } },
      [['blob', 'a1']],
      { status: 200, body: { data: 'QQ==' } },
    ],
    [
      'no such file',
      'get /v1/sessions/{id}/blobs/{hash}',
      { params: { ...params, hash: 'a1' } },
      { blob: undefined },
      [['blob', 'a1']],
      problem('unknown-blob'),
    ],
  ])('is asked for and answered: %s', async (_, route, request, session, asked, answer) => {
    expect(await ask(route, request, { session })).toEqual({ asked, answer })
  })
})

describe('the sessions that a limited token may list', () => {
  const all: Readonly<Record<string, object>> = {
    a: { id: 'a', agent: 'main', state: 'idle', activeAt: 1, createdAt: 9 },
    b: { id: 'b', agent: 'other', state: 'idle', activeAt: 3, createdAt: 7 },
    c: { id: 'c', agent: 'main', state: 'gone', activeAt: 2, createdAt: 8 },
  }
  const list = async (query: object) => {
    const runtime = { session: (id: string) => ({ summary: async () => all[id] }) }
    const principal = { sessions: new Set(['c', 'none', 'a', 'b']) }
    const answer = await endpointOf('get /v1/sessions').run(
      { query, principal } as never,
      { runtime } as never,
    )
    const { sessions, next } = (answer as unknown as { body: Answers }).body
    return [(sessions as readonly { id: string }[]).map(({ id }) => id).join(''), next]
  }

  it.each<[object, string, string | null]>([
    [{}, 'abc', null],
    [{ limit: 2 }, 'ab', 'b'],
    [{ limit: 2, after: 'b' }, 'c', null],
    [{ agent: 'main' }, 'ac', null],
    [{ state: 'open' }, 'ab', null],
    [{ sort: 'active' }, 'bca', null],
    [{ sort: 'created' }, 'acb', null],
    [{ sort: 'active', limit: 1 }, 'b', 'b'],
    [{ sort: 'active', limit: 1, after: 'b' }, 'c', 'c'],
    [{ sort: 'active', after: 'c', state: 'open' }, 'a', null],
  ])('are found by %j', async (query, ids, next) => {
    expect(await list(query)).toEqual([ids, next])
  })
})
