import { describe, expect, it } from 'vitest'
import {
  type Answers,
  ask,
  ONCE,
  problem,
  SUMMARY,
  UNKNOWN_SESSION,
} from '../../../../../../test/gateways/endpoint-answers.ts'

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
    [{ kind: 'unknown' }, UNKNOWN_SESSION],
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
    ['unknown', UNKNOWN_SESSION],
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
    ['of none', {}, { kind: 'unknown' }, UNKNOWN_SESSION],
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
    expect(await of({ summary: undefined })).toEqual(UNKNOWN_SESSION)
  })
})
