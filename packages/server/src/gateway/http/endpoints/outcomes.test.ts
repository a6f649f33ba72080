import { describe, expect, it } from 'vitest'
import { HttpProblem } from '../problems.ts'
import { ENDPOINTS } from './all.ts'

/** The answers of a session and of a runtime by the name of the method, or what makes them. */
type Answers = Readonly<Record<string, unknown>>

const ONCE = { source: 'http', key: 'k' }
const SUMMARY = {
  ...{ id: 's1', agent: 'main', state: 'idle', entries: 9, compaction: 5, windowTokens: 1_000 },
}
const OPEN = { sessions: null, may: () => true }

/** What a route asks of the session `s1` and of the runtime, and its answer. */
async function ask(
  route: string,
  request: object,
  { session = {}, runtime = {} }: { readonly session?: Answers; readonly runtime?: Answers } = {},
) {
  const asked: unknown[] = []
  const those = (name: string, answers: Answers) =>
    Object.fromEntries(
      Object.entries(answers).map(([method, answer]) => [
        method,
        async (...given: readonly unknown[]) => {
          const told = given.filter((each) => !(each instanceof AbortSignal))
          asked.push([`${name}${method}`, ...told])
          return typeof answer === 'function' ? answer(...given) : answer
        },
      ]),
    )
  const handle = { id: 's1', ...those('', { summary: SUMMARY, ...session }) }
  const edge = {
    runtime: { ...those('runtime.', runtime), session: () => handle },
    waitMsMax: 10_000,
  }
  const [method, path] = route.split(' ')
  const endpoint = ENDPOINTS.find((each) => each.method === method && each.path === path)
  if (endpoint === undefined) throw new Error(`no ${route}`)
  const whole = {
    ...{ params: { id: 's1' }, query: {}, body: {}, once: ONCE, principal: OPEN },
    ...{ signal: new AbortController().signal, ...request },
  }
  const answer = await endpoint.run(whole as never, edge as never).catch((error: unknown) => {
    if (!(error instanceof HttpProblem)) throw error
    const { code, detail, facts } = error
    return { code, facts, ...(detail !== undefined && { detail }) }
  })
  return { asked: asked.filter((each) => String(each) !== 'summary'), answer }
}

const MAIL = { sessionId: 's1', mail: 3 }
const admitted = { kind: 'admitted', ...MAIL }
const accepted = { status: 202, body: { ...MAIL, duplicate: false } }
const problem = (code: string, facts: object = {}, detail?: string) => ({
  ...{ code, facts },
  ...(detail !== undefined && { detail }),
})
const unknown = problem('unknown-session')

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

describe('what is sent to a session', () => {
  const M = 'post /v1/sessions/{id}/messages'
  const body = { parts: [{ type: 'text', text: 'Hello.' }], lane: 'user' }
  const late = async (_: unknown, deadline: AbortSignal) => {
    await new Promise((end) => deadline.addEventListener('abort', end, { once: true }))
    return { admission: admitted, reply: null }
  }

  it.each<[string, string, object, Answers, unknown[], unknown]>([
    ['a message', M, { body }, { admit: admitted }, [['admit', { ...ONCE, ...body }]], accepted],
    [
      'a message that waits for its reply',
      M,
      { body, query: { wait: 'reply' } },
      { ask: { admission: admitted, reply: { text: 'Good day.' } } },
      [['ask', { ...ONCE, ...body }]],
      { status: 200, body: { ...accepted.body, reply: { text: 'Good day.' } } },
    ],
    [
      'a message that gets no reply',
      M,
      { body, query: { wait: 'reply' } },
      { ask: { admission: { ...admitted, kind: 'duplicate' }, reply: null } },
      [['ask', { ...ONCE, ...body }]],
      { status: 200, body: { ...MAIL, duplicate: true, reply: null } },
    ],
    [
      'a message that a client no longer waits for',
      M,
      { body, query: { wait: 'reply' }, signal: AbortSignal.abort() },
      { ask: { admission: admitted, reply: null } },
      [['ask', { ...ONCE, ...body }]],
      accepted,
    ],
    [
      'a message to none',
      M,
      { body, query: { wait: 'reply' } },
      { ask: { admission: { kind: 'unknown' }, reply: null } },
      [['ask', { ...ONCE, ...body }]],
      unknown,
    ],
    ['a stop', 'post /v1/sessions/{id}/stop', {}, { stop: admitted }, [['stop', ONCE]], accepted],
    [
      'going on',
      'post /v1/sessions/{id}/continue',
      { principal: { may: () => false } },
      { continue: admitted },
      [['continue', { ...ONCE, pastLimit: false }]],
      accepted,
    ],
    [
      'going on past a limit',
      'post /v1/sessions/{id}/continue',
      { principal: { may: (scope: string) => scope === 'operate' } },
      { summary: { ...SUMMARY, state: 'waiting-for-approval' }, continue: admitted },
      [['continue', { ...ONCE, pastLimit: true }]],
      accepted,
    ],
    [
      'going on past a limit without that right',
      'post /v1/sessions/{id}/continue',
      { principal: { may: (scope: string) => scope !== 'operate' } },
      { summary: { ...SUMMARY, state: 'waiting-for-approval' } },
      [],
      problem('forbidden', { scope: 'operate' }),
    ],
    [
      'a pin',
      'put /v1/sessions/{id}/pins/{name}',
      { params: { id: 's1', name: 'a' }, body: { text: 'x' } },
      { pin: admitted, controlOutcome: { kind: 'done' } },
      [
        ['pin', { ...ONCE, name: 'a', text: 'x' }],
        ['controlOutcome', 3],
      ],
      accepted,
    ],
    [
      'a pin too many',
      'put /v1/sessions/{id}/pins/{name}',
      { params: { id: 's1', name: 'a' }, body: { text: 'x' } },
      {
        pin: admitted,
        controlOutcome: { kind: 'turned-down', why: 'no-room', tokensAfter: 9, limit: 5 },
      },
      [
        ['pin', { ...ONCE, name: 'a', text: 'x' }],
        ['controlOutcome', 3],
      ],
      problem(
        'turned-down',
        { mail: 3, why: 'no-room', tokensAfter: 9, limit: 5 },
        'There is no room for it: 9 tokens where 5 fit.',
      ),
    ],
    [
      'no pin',
      'delete /v1/sessions/{id}/pins/{name}',
      { params: { id: 's1', name: 'a' } },
      { pin: admitted, controlOutcome: { kind: 'turned-down', why: 'unknown-pin' } },
      [
        ['pin', { ...ONCE, name: 'a', text: null }],
        ['controlOutcome', 3],
      ],
      problem('turned-down', { mail: 3, why: 'unknown-pin' }, 'There is no such pin.'),
    ],
  ])('is asked for and answered: %s', async (_, route, request, session, asked, answer) => {
    expect(await ask(route, request, { session })).toEqual({ asked, answer })
  })

  it('has no reply when the client leaves before it', async () => {
    const leaving = new AbortController()
    const request = { body, query: { wait: 'reply' }, signal: leaving.signal }
    const answered = ask(M, request, { session: { ask: late } })
    leaving.abort()
    expect((await answered).answer).toEqual(accepted)
  })
})

describe('what a session was sent', () => {
  const DELETE = 'delete /v1/sessions/{id}/mailbox/{number}'
  const params = { id: 's1', number: 3 }

  it.each<[object, unknown]>([
    [{ kind: 'done' }, { status: 204 }],
    [{ kind: 'unknown' }, problem('unknown-mail')],
    [{ kind: 'not-pending', state: 'settled' }, problem('not-pending', { state: 'settled' })],
  ])('is taken back: %j', async (withdraw, answer) => {
    expect(await ask(DELETE, { params }, { session: { withdraw } })).toEqual({
      ...{ asked: [['withdraw', 3]], answer },
    })
  })

  const GET = 'get /v1/sessions/{id}/mailbox/{number}/outcome'
  const done = { kind: 'done' }
  const refused = { kind: 'turned-down', why: 'no-room', tokensAfter: 1_200, limit: 900 }
  const older = [
    { number: 2, kind: 'input' },
    { number: 3, kind: 'assistant' },
  ]
  const transcript = ({ from, to }: { from: number; to: number }) =>
    from === to ? [{ number: 5, kind: 'compaction', meta: { covers: 4 } }] : older
  const without =
    'Without the compaction at #5 the context would be 1,200 of 1,000 tokens, ' +
    'and 100 must stay free for the next message'
  const hint =
    'The older messages are still stored. To continue with them word for word, begin a new session ' +
    'at #3: press "Go back to here" at that answer, or fork the session at entry 3'

  it.each<[string, Answers, object, string | null]>([
    ['that is done', { controlOutcome: done }, done, null],
    [
      'a pin that is refused',
      { controlOutcome: refused, mailbox: [{ control: 'pin' }] },
      refused,
      'There is no room for it: 1,200 tokens where 900 fit.',
    ],
    [
      'an undo that is refused',
      { controlOutcome: refused, mailbox: [{ control: 'revert' }], transcript },
      refused,
      `${without}. ${hint}.`,
    ],
    [
      'an undo that is refused, without an answer to begin at',
      { controlOutcome: refused, mailbox: [{ control: 'revert' }], transcript: undefined },
      refused,
      `${without}.`,
    ],
    [
      'an undo for another reason',
      {
        controlOutcome: { kind: 'turned-down', why: 'out-of-date' },
        mailbox: [{ control: 'revert' }],
      },
      { kind: 'turned-down', why: 'out-of-date' },
      'The session has changed since it was shown.',
    ],
    [
      'an undo without a compaction',
      {
        summary: { ...SUMMARY, compaction: null },
        ...{ controlOutcome: refused, mailbox: [{ control: 'revert' }] },
      },
      refused,
      'There is no room for it: 1,200 tokens where 900 fit.',
    ],
  ])('ends: %s', async (_, session, outcome, refusal) => {
    const { asked, answer } = await ask(GET, { params }, { session })
    expect(answer).toEqual({ status: 200, body: { outcome, refusal } })
    expect(asked[0]).toEqual(['controlOutcome', 3])
    if (refusal !== null) expect(asked[1]).toEqual(['mailbox', { after: 2, limit: 1 }])
  })
})

describe('a compaction', () => {
  const POST = 'post /v1/sessions/{id}/compactions'
  const REVERT = 'post /v1/sessions/{id}/compactions/{number}/revert'
  const params = { id: 's1', number: 5 }
  const revert = ['revert', { ...ONCE, compaction: 5 }]
  const outcome = ['controlOutcome', 3]

  it.each<[string, string, object, Answers, unknown[], unknown]>([
    ['asked for', POST, {}, { compact: admitted }, [['compact', ONCE]], accepted],
    [
      'with a focus',
      POST,
      { body: { focus: 'harbour' } },
      { compact: admitted },
      [['compact', { ...ONCE, focus: 'harbour' }]],
      accepted,
    ],
    [
      'to look at first',
      POST,
      { body: { focus: 'harbour', preview: true } },
      { preview: { kind: 'previewed', summary: 'x' } },
      [['preview', { focus: 'harbour' }]],
      { status: 200, body: { kind: 'previewed', summary: 'x' } },
    ],
    [
      'that cannot be looked at',
      POST,
      { body: { preview: true } },
      { preview: { kind: 'failed', reason: 'nothing' } },
      [['preview', {}]],
      problem('no-preview', { reason: 'nothing' }),
    ],
    [
      'of no session',
      POST,
      { body: { preview: true } },
      { summary: undefined, preview: { kind: 'failed', reason: 'nothing' } },
      [],
      unknown,
    ],
    [
      'as it was looked at',
      POST,
      { body: { install: { a: 1 } } },
      { install: admitted, controlOutcome: { kind: 'done' } },
      [['install', { ...ONCE, preview: { a: 1 } }], outcome],
      accepted,
    ],
    [
      'as it was looked at too long ago',
      POST,
      { body: { install: { a: 1 } } },
      { install: admitted, controlOutcome: { kind: 'turned-down', why: 'out-of-date' } },
      [['install', { ...ONCE, preview: { a: 1 } }], outcome],
      problem(
        'turned-down',
        { mail: 3, why: 'out-of-date' },
        'The session has changed since it was shown.',
      ),
    ],
    [
      'undone',
      REVERT,
      { params },
      { undoForClient: null, revert: admitted, controlOutcome: null },
      [['undoForClient', 5], revert, outcome],
      accepted,
    ],
    [
      'that is not undone',
      REVERT,
      { params },
      {
        ...{ undoForClient: null, revert: admitted, transcript: undefined },
        controlOutcome: { kind: 'turned-down', why: 'no-room', tokensAfter: 9, limit: 4 },
      },
      [['undoForClient', 5], revert, outcome, ['transcript', { from: 5, to: 5 }]],
      problem(
        'turned-down',
        { mail: 3, why: 'no-room', tokensAfter: 9, limit: 4 },
        'Without the compaction at #5 the context would be 9 of 1,000 tokens, and 996 must stay free for the next message.',
      ),
    ],
    [
      'of a client, undone',
      REVERT,
      { params },
      { undoForClient: { kind: 'undone', entries: 4 } },
      [['undoForClient', 5]],
      { status: 200, body: { sessionId: 's1', entries: 4 } },
    ],
    [
      'of a client, not undone',
      REVERT,
      { params },
      { undoForClient: { kind: 'refused', problem: 'It went on.' } },
      [['undoForClient', 5]],
      problem('turned-down', {}, 'It went on.'),
    ],
    [
      'that is not in effect',
      REVERT,
      { params: { id: 's1', number: 4 } },
      {},
      [],
      problem('not-in-effect', { inEffect: 5 }),
    ],
    [
      'read',
      'get /v1/sessions/{id}/compactions/{number}',
      { params },
      { compactionReport: { entry: 5 } },
      [['compactionReport', 5]],
      { status: 200, body: { entry: 5 } },
    ],
    [
      'that is none',
      'get /v1/sessions/{id}/compactions/{number}',
      { params },
      { compactionReport: undefined },
      [['compactionReport', 5]],
      problem('unknown-compaction'),
    ],
    [
      'among others',
      'get /v1/sessions/{id}/compactions',
      {},
      { compactions: [1] },
      [['compactions', { limit: 50 }]],
      { status: 200, body: { compactions: [1] } },
    ],
    [
      'of no session, among others',
      'get /v1/sessions/{id}/compactions',
      { query: { limit: 2 } },
      { compactions: undefined },
      [['compactions', { limit: 2 }]],
      unknown,
    ],
  ])('is asked for and answered: %s', async (_, route, request, session, asked, answer) => {
    expect(await ask(route, request, { session })).toEqual({ asked, answer })
  })
})

describe('a fork', () => {
  const POST = 'post /v1/sessions/{id}/forks'
  const headers = { location: '/v1/sessions/s2' }
  const body = { sessionId: 's2' }

  it.each<[object, unknown]>([
    [
      { kind: 'forked', sessionId: 's2' },
      { status: 201, body, headers },
    ],
    [
      { kind: 'duplicate', sessionId: 's2' },
      { status: 200, body, headers },
    ],
    [{ kind: 'exists', sessionId: 's2' }, problem('session-exists', body)],
    [{ kind: 'conflict' }, problem('key-conflict')],
    [{ kind: 'unknown-entry', entries: 9 }, problem('unknown-entry', { entries: 9 })],
    [{ kind: 'unknown' }, unknown],
    [{ kind: 'gone' }, problem('gone')],
  ])('is answered: %j', async (fork, answer) => {
    expect(await ask(POST, { body: { at: 5 } }, { session: { fork } })).toEqual({
      ...{ asked: [['fork', { at: 5, ...ONCE }]], answer },
    })
    const named = await ask(POST, { body: { at: 5, id: 's2' } }, { session: { fork } })
    expect(named.asked).toEqual([['fork', { at: 5, id: 's2', ...ONCE }]])
  })
})

describe('the care of a session', () => {
  it.each<[string, unknown]>([
    ['done', { status: 204 }],
    ['unknown', unknown],
    ['gone', problem('gone')],
    ['superseded', problem('unavailable')],
    ['too-long', problem('invalid')],
  ])('a rename is answered: %s', async (kind, answer) => {
    const body = { title: 'A word' }
    expect(
      await ask('put /v1/sessions/{id}/title', { body }, { session: { rename: { kind } } }),
    ).toEqual({ asked: [['rename', 'A word']], answer })
  })

  const advice =
    'Delete them first, or use `throughline purge` with `--forks keep` (they keep what they read) or `--forks purge`.'
  const forked = { kind: 'forked', forks: ['s2', 's3'] }

  it.each<[string, object, object, unknown]>([
    ['done', {}, { kind: 'purged' }, { status: 204 }],
    ['asked of its holder', {}, { kind: 'asked' }, { status: 202, body: { sessionId: 's1' } }],
    ['of none', {}, { kind: 'unknown' }, unknown],
    ['with forks', {}, forked, problem('has-forks', { forks: ['s2', 's3'] }, `s2, s3. ${advice}`)],
    [
      'with forks, one of which the token may see',
      { principal: { sessions: new Set(['s1', 's3']) } },
      forked,
      problem('has-forks', { forks: ['s3'] }, `s3. ${advice}`),
    ],
    [
      'with forks that the token may not see',
      { principal: { sessions: new Set(['s1']) } },
      forked,
      problem('has-forks', { forks: [] }, `This token may not see the forks. ${advice}`),
    ],
  ])('a deletion is answered: %s', async (_, request, purge, answer) => {
    expect(await ask('delete /v1/sessions/{id}', request, { session: { purge } })).toEqual({
      ...{ asked: [['purge', { entries: 'all', reason: 'deleted' }]], answer },
    })
  })

  it('exports 20,000 entries of a session at most, and none of a deleted one', async () => {
    const EXPORT = 'get /v1/sessions/{id}/export'
    const summary = (entries: number, state = 'idle') => ({ ...SUMMARY, entries, state })
    const detail = 'It has more than 20000 entries; use `throughline export`.'
    const of = async (session: Answers) => (await ask(EXPORT, {}, { session })).answer
    expect(await of({ summary: summary(20_001) })).toEqual(problem('too-large', {}, detail))
    expect(await of({ summary: summary(3, 'gone') })).toEqual(problem('gone'))
    expect(await of({ summary: undefined })).toEqual(unknown)
  })
})

describe('notes and reminders', () => {
  const note = { id: 's1', note: 'n1' }
  const PUT = 'put /v1/sessions/{id}/notes/{note}'
  const DELETE = 'delete /v1/sessions/{id}/notes/{note}'

  it.each<[object, unknown]>([
    [{ kind: 'done' }, { status: 204 }],
    [{ kind: 'unknown' }, problem('unknown-note')],
    [{ kind: 'gone' }, problem('gone')],
    [
      { kind: 'no-room', tokens: 9, limit: 5 },
      problem(
        'turned-down',
        { why: 'no-room', tokensAfter: 9, limit: 5 },
        'The notes would take 9 of 5 tokens.',
      ),
    ],
  ])('a change is answered: %j', async (change, answer) => {
    const changed: unknown[] = []
    const told = async (given: unknown) => {
      changed.push(given)
      return change
    }
    const run = async (route: string, body: object) => {
      const memory = {
        changeNote: told,
        removeNote: told,
      }
      return await askMemory(route, { params: note, body }, memory)
    }
    expect(await run(PUT, { text: 'x' })).toEqual(answer)
    expect(await run(DELETE, {})).toEqual(answer)
    expect(changed).toEqual([{ id: 'n1', text: 'x' }, 'n1'])
  })

  it('a reminder is cancelled, if it waits', async () => {
    const route = 'delete /v1/sessions/{id}/reminders/{reminder}'
    const params = { id: 's1', reminder: 'r1' }
    const cancelled: unknown[] = []
    const run = async (kind: string) => {
      const cancelReminder = async (given: unknown) => {
        cancelled.push(given)
        return { kind }
      }
      return await askMemory(route, { params }, { cancelReminder })
    }
    expect(await run('done')).toEqual({ status: 204 })
    expect(await run('unknown')).toEqual(problem('unknown-reminder'))
    expect(cancelled).toEqual(['r1', 'r1'])
  })

  it('a limited token reads all notes, but not in which other session one was made', async () => {
    const route = 'get /v1/sessions/{id}/memory'
    const made = (sessionId: string) => ({ id: 'n', origin: { sessionId, entry: 2 } })
    const notes = [made('s1'), made('s2'), { id: 'n', origin: null }]
    const read = async () => ({ notes, pins: [] })
    const limited = { principal: { sessions: new Set(['s1']) } }
    expect(await askMemory(route, {}, { read })).toEqual({ status: 200, body: { notes, pins: [] } })
    expect(await askMemory(route, limited, { read })).toEqual({
      status: 200,
      body: { notes: [made('s1'), { id: 'n', origin: null }, { id: 'n', origin: null }], pins: [] },
    })
    expect(await askMemory(route, {}, { read: async () => undefined })).toEqual(unknown)
  })

  async function askMemory(route: string, request: object, memory: object) {
    const [method, path] = route.split(' ')
    const endpoint = ENDPOINTS.find((each) => each.method === method && each.path === path)
    if (endpoint === undefined) throw new Error(`no ${route}`)
    const handle = { summary: async () => SUMMARY, memory }
    const whole = { params: { id: 's1' }, principal: OPEN, ...request }
    return await endpoint
      .run(whole as never, { runtime: { session: () => handle } } as never)
      .catch(({ code, detail, facts }: HttpProblem) => problem(code, facts, detail))
  }
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
    ['entries that are gone', T, { params }, { transcript: undefined }, [of(1, 9)], unknown],
    [
      'no such snapshot',
      T,
      { params: readable(4) },
      { snapshot: undefined },
      [['snapshot', 4]],
      unknown,
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
      unknown,
    ],
    [
      'its pins',
      'get /v1/sessions/{id}/pins',
      {},
      { pins: [1] },
      [['pins']],
      { status: 200, body: { pins: [1] } },
    ],
    ['pins of none', 'get /v1/sessions/{id}/pins', {}, { pins: undefined }, [['pins']], unknown],
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
    const endpoint = ENDPOINTS.find(
      ({ method, path }) => `${method} ${path}` === 'get /v1/sessions',
    )
    const runtime = { session: (id: string) => ({ summary: async () => all[id] }) }
    const principal = { sessions: new Set(['c', 'none', 'a', 'b']) }
    const answer = await endpoint?.run({ query, principal } as never, { runtime } as never)
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
