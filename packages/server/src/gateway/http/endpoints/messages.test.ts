import { describe, expect, it } from 'vitest'
import {
  ACCEPTED,
  ADMITTED,
  type Answers,
  ask,
  MAIL,
  ONCE,
  problem,
  SUMMARY,
  UNKNOWN_SESSION,
} from '../../../../../../test/gateways/endpoint-answers.ts'

describe('what is sent to a session', () => {
  const M = 'post /v1/sessions/{id}/messages'
  const body = { parts: [{ type: 'text', text: 'Hello.' }], lane: 'user' }
  const late = async (_: unknown, deadline: AbortSignal) => {
    await new Promise((end) => deadline.addEventListener('abort', end, { once: true }))
    return { admission: ADMITTED, reply: null }
  }

  it.each<[string, string, object, Answers, unknown[], unknown]>([
    ['a message', M, { body }, { admit: ADMITTED }, [['admit', { ...ONCE, ...body }]], ACCEPTED],
    [
      'a message that waits for its reply',
      M,
      { body, query: { wait: 'reply' } },
      { ask: { admission: ADMITTED, reply: { text: 'Good day.' } } },
      [['ask', { ...ONCE, ...body }]],
      { status: 200, body: { ...ACCEPTED.body, reply: { text: 'Good day.' } } },
    ],
    [
      'a message that gets no reply',
      M,
      { body, query: { wait: 'reply' } },
      { ask: { admission: { ...ADMITTED, kind: 'duplicate' }, reply: null } },
      [['ask', { ...ONCE, ...body }]],
      { status: 200, body: { ...MAIL, duplicate: true, reply: null } },
    ],
    [
      'a message that a client no longer waits for',
      M,
      { body, query: { wait: 'reply' }, signal: AbortSignal.abort() },
      { ask: { admission: ADMITTED, reply: null } },
      [['ask', { ...ONCE, ...body }]],
      ACCEPTED,
    ],
    [
      'a message to none',
      M,
      { body, query: { wait: 'reply' } },
      { ask: { admission: { kind: 'unknown' }, reply: null } },
      [['ask', { ...ONCE, ...body }]],
      UNKNOWN_SESSION,
    ],
    ['a stop', 'post /v1/sessions/{id}/stop', {}, { stop: ADMITTED }, [['stop', ONCE]], ACCEPTED],
    [
      'going on',
      'post /v1/sessions/{id}/continue',
      { principal: { may: () => false } },
      { continue: ADMITTED },
      [['continue', { ...ONCE, pastLimit: false }]],
      ACCEPTED,
    ],
    [
      'going on past a limit',
      'post /v1/sessions/{id}/continue',
      { principal: { may: (scope: string) => scope === 'operate' } },
      { summary: { ...SUMMARY, state: 'waiting-for-approval' }, continue: ADMITTED },
      [['continue', { ...ONCE, pastLimit: true }]],
      ACCEPTED,
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
      { pin: ADMITTED, controlOutcome: { kind: 'done' } },
      [
        ['pin', { ...ONCE, name: 'a', text: 'x' }],
        ['controlOutcome', 3],
      ],
      ACCEPTED,
    ],
    [
      'a pin too many',
      'put /v1/sessions/{id}/pins/{name}',
      { params: { id: 's1', name: 'a' }, body: { text: 'x' } },
      {
        pin: ADMITTED,
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
      { pin: ADMITTED, controlOutcome: { kind: 'turned-down', why: 'unknown-pin' } },
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
    expect((await answered).answer).toEqual(ACCEPTED)
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
