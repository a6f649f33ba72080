import { describe, expect, it } from 'vitest'
import { HttpProblem } from '../problems.ts'
import { ENDPOINTS } from './all.ts'
import { acceptedOf } from './messages.ts'

const WHOLE = { sessions: null }
const LIMITED = { sessions: new Set(['s1', 's2']) }

/** What a route asks of the runtime for a query, and its answer. */
async function ask(
  path: string,
  query: object,
  {
    principal = WHOLE as object,
    found = [] as readonly object[],
    lastEventId = undefined as string | undefined,
  } = {},
) {
  const asked: unknown[] = []
  const note = (answer: unknown) => async (request: unknown) => {
    asked.push(request)
    return answer
  }
  const session = {
    mailbox: note(found),
    usage: note([]),
    compactions: note([]),
    summary: async () => ({}),
    search: note({}),
  }
  const runtime = {
    ...{ listSessions: note(found), search: note({}), usage: note([]), session: () => session },
    events: (request: unknown) => {
      asked.push(request)
      return []
    },
  }
  const endpoint = ENDPOINTS.find((each) => each.method === 'get' && each.path === path)
  if (endpoint === undefined) throw new Error(`no ${path}`)
  const request = { query, principal, params: { id: 's1' }, lastEventId }
  const { body } = (await endpoint.run(request as never, { runtime } as never)) as {
    body?: unknown
  }
  return { asked, body }
}

describe('a list of sessions', () => {
  it('selects by agent, place, order and state, and defaults to 100 sessions by id', async () => {
    expect((await ask('/v1/sessions', {})).asked).toEqual([
      { limit: expect.any(Number), sort: 'id' },
    ])
    const query = { agent: 'a', after: 's0', limit: 5, sort: 'active', state: 'open' }
    expect((await ask('/v1/sessions', query)).asked).toEqual([query])
  })

  it('continues after its last session if it is full', async () => {
    const found = [{ id: 's1' }, { id: 's2' }]
    const next = async (limit: number) => (await ask('/v1/sessions', { limit }, { found })).body
    expect(await next(2)).toEqual({ sessions: found, next: 's2' })
    expect(await next(3)).toEqual({ sessions: found, next: null })
  })
})

describe('a search', () => {
  it('is bounded by agent, person and filters, and by what the token allows', async () => {
    expect((await ask('/v1/search', { q: 'x' })).asked).toEqual([{ text: 'x', limit: 10 }])
    const query = { q: 'x', agent: 'a', scope: 'p', limit: 3, exact: 'true', skip: 2 }
    const { asked } = await ask('/v1/search', query, { principal: LIMITED })
    expect(asked).toEqual([
      {
        text: 'x',
        limit: 3,
        agent: 'a',
        scope: 'p',
        exact: true,
        skip: 2,
        sessionIds: ['s1', 's2'],
      },
    ])
  })

  it('of one session takes neighbours', async () => {
    const path = '/v1/sessions/{id}/search'
    expect((await ask(path, { q: 'x' })).asked).toEqual([{ text: 'x', limit: 10, neighbours: 0 }])
    expect((await ask(path, { q: 'x', limit: 2, neighbours: 3 })).asked).toEqual([
      { text: 'x', limit: 2, neighbours: 3 },
    ])
  })
})

describe('other lists', () => {
  it('of mail are asked for by state and place, and continue if they are full', async () => {
    const path = '/v1/sessions/{id}/mailbox'
    const found = [4, 7].map((number) => ({ number, text: '' }))
    expect((await ask(path, {}, { found })).body).toEqual({ mail: found, next: null })
    const { asked, body } = await ask(path, { state: 'pending', after: 3, limit: 2 }, { found })
    expect([asked, body]).toEqual([
      [{ state: 'pending', after: 3, limit: 2 }],
      { mail: found, next: 7 },
    ])
  })

  it('of usage are by day, of a session by turn, 100 rows each', async () => {
    expect((await ask('/v1/usage', {})).asked).toEqual([{ by: 'day', limit: 100 }])
    const query = { by: 'agent', agent: 'a', since: 5, limit: 9 }
    expect((await ask('/v1/usage', query)).asked).toEqual([query])
    const path = '/v1/sessions/{id}/usage'
    expect((await ask(path, {})).asked).toEqual([{ by: 'turn', limit: 100 }])
    expect((await ask(path, { by: 'step', turn: 2 })).asked).toEqual([
      { by: 'step', turn: 2, limit: 100 },
    ])
  })
})

describe('a stream of events', () => {
  it('begins where the reconnecting client stopped, else where the address says', async () => {
    const start = async (query: object, lastEventId?: string) =>
      (await ask('/v1/events', query, { lastEventId })).asked[0]
    expect(await start({})).toEqual({})
    expect(await start({ after: 5 })).toEqual({ after: 5 })
    expect(await start({ after: 5 }, '')).toEqual({ after: 5 })
    expect(await start({ after: 5 }, '9')).toEqual({ after: 9 })
    await expect(start({}, 'x')).rejects.toMatchObject({ code: 'invalid' })
  })
})

describe('acceptedOf', () => {
  const mail = { sessionId: 's1', mail: 3 }

  it('says whether a message came before', () => {
    const accepted = (kind: string) => acceptedOf({ kind, ...mail } as never)
    expect(accepted('admitted')).toEqual({ status: 202, body: { ...mail, duplicate: false } })
    expect(accepted('duplicate')).toEqual({ status: 202, body: { ...mail, duplicate: true } })
  })

  it.each<[object, string, object]>([
    [{ kind: 'conflict' }, 'key-conflict', {}],
    [{ kind: 'full', limit: 5 }, 'mailbox-full', { limit: 5 }],
    [{ kind: 'too-large', bytes: 9, limit: 5 }, 'too-large', { bytes: 9, limit: 5 }],
    [{ kind: 'unknown-agent', agents: ['a'] }, 'unknown-agent', { agents: ['a'] }],
    [{ kind: 'unknown' }, 'unknown-session', {}],
    [{ kind: 'gone' }, 'gone', {}],
  ])('refuses %j', (admission, code, facts) => {
    expect(() => acceptedOf(admission as never)).toThrow(HttpProblem)
    try {
      acceptedOf(admission as never)
    } catch (problem) {
      expect(problem).toMatchObject({ code, facts })
    }
  })
})
