import { describe, expect, it } from 'vitest'
import {
  ACCEPTED,
  ADMITTED,
  type Answers,
  ask,
  ONCE,
  problem,
  UNKNOWN_SESSION,
} from '../../../../../../test/gateways/endpoint-answers.ts'

describe('a compaction', () => {
  const POST = 'post /v1/sessions/{id}/compactions'
  const REVERT = 'post /v1/sessions/{id}/compactions/{number}/revert'
  const params = { id: 's1', number: 5 }
  const revert = ['revert', { ...ONCE, compaction: 5 }]
  const outcome = ['controlOutcome', 3]

  it.each<[string, string, object, Answers, unknown[], unknown]>([
    ['asked for', POST, {}, { compact: ADMITTED }, [['compact', ONCE]], ACCEPTED],
    [
      'with a focus',
      POST,
      { body: { focus: 'harbour' } },
      { compact: ADMITTED },
      [['compact', { ...ONCE, focus: 'harbour' }]],
      ACCEPTED,
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
      UNKNOWN_SESSION,
    ],
    [
      'as it was looked at',
      POST,
      { body: { install: { a: 1 } } },
      { install: ADMITTED, controlOutcome: { kind: 'done' } },
      [['install', { ...ONCE, preview: { a: 1 } }], outcome],
      ACCEPTED,
    ],
    [
      'as it was looked at too long ago',
      POST,
      { body: { install: { a: 1 } } },
      { install: ADMITTED, controlOutcome: { kind: 'turned-down', why: 'out-of-date' } },
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
      { undoForClient: null, revert: ADMITTED, controlOutcome: null },
      [['undoForClient', 5], revert, outcome],
      ACCEPTED,
    ],
    [
      'that is not undone',
      REVERT,
      { params },
      {
        ...{ undoForClient: null, revert: ADMITTED, transcript: undefined },
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
      UNKNOWN_SESSION,
    ],
  ])('is asked for and answered: %s', async (_, route, request, session, asked, answer) => {
    expect(await ask(route, request, { session })).toEqual({ asked, answer })
  })
})
