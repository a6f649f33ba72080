import { describe, expect, it } from 'vitest'
import type { Entry } from '#core/store/tables/rows'
import { Findings } from './laws.ts'
import { judgeReplies, judgeSends, judgeStored, type RehearsedSession } from './transcript-laws.ts'

describe('judgeStored and judgeReplies', () => {
  it.each<[string, (sound: RehearsedSession) => Partial<RehearsedSession>]>([
    ['a session that was compacted and answered', () => ({})],
    [
      'a rewrite that is longer than the digest',
      ({ operations }) => ({ operations: changed(operations, { by: 'rewrite', ...LARGER }) }),
    ],
    [
      'a failed compaction whose handoff was longer',
      () => operationsToo({ state: 'failed', ...LARGER }),
    ],
    [
      'a compaction that says nothing of its size',
      ({ operations }) => ({ operations: changed(operations, { result: {} }) }),
    ],
    [
      'a claim by a model before its step',
      ({ operations }) => ({
        operations: changed(operations, { by: 'model', trigger: 'threshold' }),
      }),
    ],
    [
      'a turn that waited for a digest',
      ({ operations }) => ({
        operations: changed(operations, { by: 'digest', trigger: 'preflight' }),
      }),
    ],
    [
      'another writer under another fence',
      ({ entries }) => ({ entries: [...entries, entry(8, 'b-1', { kind: 'settings', fence: 2 })] }),
    ],
    [
      'a call whose turn runs',
      ({ entries, row }) => ({
        entries: [...entries, answer(8, 7, { turn: 2, calls: ['d'] })],
        row: { ...row, turnState: 'running' } as never,
      }),
    ],
    [
      'two results of one reply in another order',
      () => ({
        entries: [
          ...[input(1, 1, 'user', 20), answer(2, 1, { calls: ['c', 'd'] })],
          ...[result(3, 'd'), result(4, 'c'), answer(5, 4), end(6)],
        ],
        row: { ...stored().row, base: 0 } as never,
      }),
    ],
    [
      'a person behind a notification of an earlier operation',
      () => taken([input(1, 5, 'notification', 10), input(2, 6, 'user', 10, 'a-2')]),
    ],
    [
      'a notification behind a person, and a second one behind it',
      () =>
        taken([
          input(1, 5, 'user', 1),
          input(2, 6, 'notification', 1),
          input(3, 7, 'notification', 1),
        ]),
    ],
    [
      'unanswered input that fills the room',
      () => taken([input(1, 5, 'user', 450), input(2, 6, 'user', 450)]),
    ],
    ['one input that is larger than the room', () => taken([input(1, 5, 'user', 901)])],
    [
      'input behind a turn that has answered what filled the room',
      () =>
        taken([input(1, 5, 'user', 800), answer(2, 1), end(3), input(4, 6, 'user', 800, 'a-9')]),
    ],
    [
      'input behind a turn that was given up',
      () => taken([input(1, 5, 'user', 800), end(2, 'failed'), input(3, 6, 'user', 800, 'a-9')]),
    ],
    [
      'a turn that its stop ended',
      () => ({
        ...taken([input(1, 5, 'user', 1), end(2, 'stopped')]),
        mail: [{ number: 6, control: 'stop', turnAt: 1 } as never],
      }),
    ],
    [
      'a turn that a message interrupted',
      () => {
        const history = taken([input(1, 5, 'user', 1), end(2, 'stopped')])
        return { ...history, row: { ...history.row, policy: 'interrupt' } as never }
      },
    ],
    [
      'a compaction of what was given up',
      () => given(answer(1, 0), end(2, 'failed'), compaction(3, 2)),
    ],
    [
      'a compaction of all that models have had',
      () => given(answer(1, 5), answer(2, 3), compaction(3, 5)),
    ],
    [
      'a handoff of a clearing beyond the budget',
      () => given(answer(1, 5), compaction(3, 5, { by: 'clearing' }, 101)),
    ],
    ['a handoff that fills its budget', () => given(answer(1, 5), compaction(3, 5, {}, 100))],
    ['a base that a revert made', () => based('revert')],
    ['a base that an erasure made', () => based('erasure')],
    [
      'a base of a closed session',
      ({ row }) => ({ row: { ...row, base: 1, state: 'closed' } as never }),
    ],
    [
      'an operation that runs',
      ({ row }) => ({
        ...operationsToo({ id: 'a-9', state: 'running' }),
        row: { ...row, operation: 'a-9' } as never,
      }),
    ],
    [
      'a closed session without its reply',
      ({ row }) => ({ row: { ...row, state: 'closed' } as never, replies: [] }),
    ],
    [
      'a question without an address',
      ({ mail }) => ({ mail: changed(mail, { body: '{}' }), replies: [] }),
    ],
    ['a question whose mail is gone', () => ({ mail: [], replies: [] })],
    [
      'a turn that was stopped before its reply',
      ({ entries }) => ({
        entries: entries.map((each) => (each.kind === 'turn' ? end(5, 'stopped') : each)),
        mail: [...stored().mail, { number: 2, control: 'stop', turnAt: 1 } as never],
        replies: [],
      }),
    ],
    [
      'a second turn without a question that had an address',
      ({ entries }) => ({
        entries: [...entries, answer(8, 7, { turn: 2 }, 'a-8'), end(9, 'answered', 2)],
      }),
    ],
  ])('accepts %s', (_what, change) => {
    const sound = stored()
    expect(offencesOf({ ...sound, ...change(sound) })).toEqual([])
  })

  it.each<[string, readonly string[], (sound: RehearsedSession) => Partial<RehearsedSession>]>([
    [
      'two writers under one fence',
      ['written: s: entry 3 and others before it have two writers'],
      ({ entries }) => ({ entries: replaced(entries, 3, { operation: 'b-3' }) }),
    ],
    [
      'a writer under two fences',
      [
        'written: s: entry 7 is by a holder of fence 1',
        'founded: s: a-5 was claimed and committed by different holders',
      ],
      ({ entries }) => ({ entries: replaced(entries, 7, { fence: 2 }) }),
    ],
    [
      'a reply that stands there twice',
      ['written: s: the reply of a-2 stands there twice'],
      ({ entries }) => ({ entries: replaced(entries, 4, { operation: 'a-2' }) }),
    ],
    [
      'a call without a result',
      ['written: s: entry 4 stands between a call and its result'],
      ({ entries }) => ({ entries: entries.filter(({ kind }) => kind !== 'result') }),
    ],
    [
      'a message between a call and its result',
      ['written: s: entry 20 stands between a call and its result'],
      ({ entries }) => ({
        entries: [...entries.slice(0, 2), input(20, 3, 'user', 10), ...entries.slice(2)],
      }),
    ],
    [
      'the end of a turn between a call and its result',
      ['written: s: entry 3 stands between a call and its result'],
      () => taken([input(1, 5, 'user', 1), answer(2, 1, { calls: ['c'] }), end(3), result(4, 'c')]),
    ],
    [
      'the result of no call',
      ['written: s: entry 2 is the result of no open call'],
      () => taken([input(1, 5, 'user', 1), result(2, 'c')]),
    ],
    [
      'a result that stands there twice',
      ['written: s: entry 4 is the result of no open call'],
      () =>
        taken([
          answer(1, 0, { calls: ['c', 'd'] }),
          result(2, 'c'),
          result(3, 'd'),
          result(4, 'c'),
        ]),
    ],
    [
      'a reply of a turn that is over',
      ['written: s: entry 3 is of turn 1, long over'],
      () => taken([input(1, 5, 'user', 1), end(2, 'failed'), answer(3, 1)]),
    ],
    [
      'a turn that ends twice',
      ['written: s: turn 1 ended twice'],
      () => taken([input(1, 5, 'user', 1), end(2, 'failed'), end(3, 'failed')]),
    ],
    [
      'calls of an idle session that have no result',
      ['written: s: 2 calls have no result'],
      () => taken([answer(1, 0, { calls: ['c', 'd'] })]),
    ],
    [
      'a person who waits for a notification',
      ['bounded: s: entry 2 waited for a notification'],
      () => taken([input(1, 5, 'notification', 10), input(2, 6, 'user', 10)]),
    ],
    [
      'more unanswered input than there is room for',
      ['bounded: s: 901 tokens of unanswered input, room for 900'],
      () => taken([input(1, 5, 'user', 450), input(2, 6, 'user', 451)]),
    ],
    [
      'more input than there is room for beside what a turn has not answered',
      ['bounded: s: 1001 tokens of unanswered input, room for 900'],
      () =>
        taken([
          ...[
            input(1, 5, 'user', 100),
            input(2, 6, 'user', 500),
            answer(3, 1),
            answer(4, 0, {}, 'a-8'),
          ],
          ...[end(5), input(6, 7, 'user', 501, 'a-9')],
        ]),
    ],
    [
      'a message that was withdrawn',
      ['mailed: s: mail 1 was withdrawn and is delivered'],
      ({ mail }) => ({ mail: changed(mail, { state: 'withdrawn' }) }),
    ],
    [
      'a message that is delivered twice',
      ['mailed: s: mail 1 is delivered twice'],
      ({ entries }) => ({ entries: [input(1, 1, 'user', 10), ...entries] }),
    ],
    [
      'a turn that nobody stopped',
      ['stopped: s: turn 1 was stopped, by no stop'],
      () => ({
        ...taken([input(1, 5, 'user', 1), end(2, 'stopped')]),
        mail: [
          { number: 6, control: 'stop', turnAt: 2 } as never,
          { number: 7, control: 'compact', turnAt: 1 } as never,
        ],
      }),
    ],
    [
      'a compaction of what no model has had',
      ['founded: s: compaction 7 covers 4, a model has had 3'],
      ({ entries }) => ({ entries: replaced(entries, 7, { meta: { covers: 4, by: 'model' } }) }),
    ],
    [
      'a compaction that nobody claimed',
      ['founded: s: compaction 7 was never claimed'],
      () => ({ operations: [] }),
    ],
    [
      'a compaction on an old base',
      ['founded: s: a-5 was claimed on 3, stands on 0'],
      ({ operations }) => ({ operations: changed(operations, { base: 3 }) }),
    ],
    [
      'a handoff of an operation that failed',
      ['founded: s: a-5 stands there and is failed'],
      ({ operations }) => ({ operations: changed(operations, { state: 'failed' }) }),
    ],
    [
      'a handoff beyond its budget',
      ['founded: s: handoff 7 is over its budget'],
      ({ entries }) => ({ entries: replaced(entries, 7, { tokens: 101 }) }),
    ],
    [
      'a compaction that made it no smaller',
      ['founded: s: a-5 made 9 tokens into 9'],
      ({ operations }) => ({
        operations: changed(operations, { result: { tokensBefore: 9, tokensAfter: 9 } }),
      }),
    ],
    [
      'an operation that never ended',
      ['founded: s: a-99 never ended'],
      () => operationsToo({ id: 'a-99', state: 'running' }),
    ],
    [
      'turns that waited for a model',
      [
        'prompt: s: a turn waited for the model of a-6',
        'prompt: s: a turn waited for the model of a-7',
      ],
      ({ operations }) => ({
        operations: [
          ...operations,
          ...changed(operations, { id: 'a-6', by: 'model', trigger: 'preflight' }),
          ...changed(operations, { id: 'a-7', by: 'rewrite', trigger: 'reactive' }),
        ],
      }),
    ],
    [
      'a base that no entry made',
      ['founded: s: its base is 8, not 7'],
      ({ row }) => ({ row: { ...row, base: 8 } as never }),
    ],
    [
      'an answer that was to be sent and is not there',
      ['sent: s: turn 1 was answered and nothing was to be sent'],
      ({ replies }) => ({ replies: changed(replies, { key: 's-2' }) }),
    ],
    [
      'a reply that waits for ever',
      ['sent: s: reply 1 was never sent'],
      ({ replies }) => ({ replies: changed(replies, { state: 'waiting' }) }),
    ],
  ])('finds %s', (_what, offences, change) => {
    const sound = stored()
    expect(offencesOf({ ...sound, ...change(sound) })).toEqual(offences)
  })
})

describe('judgeSends', () => {
  it.each([
    [
      'accepts replies in order, sent once more behind a crash',
      ['s 1 1 a', 's 2 1 a', 't 1 1 a', 's 1 2 b'],
      [],
    ],
    [
      'finds the newest first',
      ['s 3 1 a', 's 1 1 a', 's 2 1 a', 't 1 1 a'],
      ['sent: s reply 1 was sent behind reply 3', 'sent: s reply 2 was sent behind reply 3'],
    ],
    [
      'finds two sends of one attempt',
      ['s 1 1 a', 's 1 1 b'],
      ['sent: s reply 1 was sent twice, in attempts 1, 1'],
    ],
    [
      'finds two sends of one claimant',
      ['s 1 1 a', 's 1 2 a'],
      ['sent: s reply 1 was sent twice, in attempts 1, 2'],
    ],
    [
      'finds a third send that repeats the second',
      ['s 1 1 a', 's 1 2 b', 's 1 2 a'],
      ['sent: s reply 1 was sent twice, in attempts 2, 2'],
    ],
  ])('%s', (_what, lines, offences) => {
    const findings = new Findings()
    judgeSends(lines, findings)
    expect(brokenIn(findings)).toEqual(offences)
  })
})

function offencesOf(session: RehearsedSession): readonly string[] {
  const findings = new Findings()
  judgeStored(session, findings)
  judgeReplies(session, findings)
  return brokenIn(findings)
}

function brokenIn(findings: Findings): readonly string[] {
  return findings
    .verdicts()
    .flatMap(({ law, offences }) => offences.map((offence) => `${law}: ${offence}`))
}

const LARGER = { result: { tokensBefore: 5, tokensAfter: 9 } }

function changed<Row>(rows: readonly Row[], change: object): readonly Row[] {
  return rows.map((row) => ({ ...row, ...change }))
}

function replaced(entries: RehearsedSession['entries'], number: number, change: object) {
  return entries.map((each) => (each.number === number ? { ...each, ...change } : each)) as never
}

/** One more operation. */
function operationsToo(change: object): Partial<RehearsedSession> {
  const { operations } = stored()
  return { operations: [...operations, ...changed(operations, change)] }
}

/** A session with these entries and no compaction. */
function taken(entries: readonly Entry[]): Pick<RehearsedSession, 'entries' | 'row' | 'mail'> {
  return { entries, row: { ...stored().row, base: 0 } as never, mail: [] }
}

/** A session whose compaction is entry 3. */
function given(...entries: readonly Entry[]): Partial<RehearsedSession> {
  return { ...taken(entries), row: { ...stored().row, base: 3 } as never }
}

/** A second compaction stands on what this entry left. */
function based(kind: 'revert' | 'erasure'): Partial<RehearsedSession> {
  const { entries, row, operations } = stored()
  const own = entry(9, 'a-9', { kind, meta: { previous: 0 } })
  const second = changed(operations, { id: 'a-10', base: 9 })
  return {
    entries: [...entries, own, compaction(10, 3, {}, 10, 'a-10')],
    operations: [...operations, ...second],
    row: { ...row, base: 10 } as never,
  }
}

function answer(number: number, upto: number, meta: object = {}, operation = `a-${number}`): Entry {
  const step = { turn: 1, renderer: '', blobs: [], calls: [], upto }
  return entry(number, operation, { kind: 'assistant', meta: { ...step, ...meta } })
}

function result(number: number, call: string): Entry {
  return entry(number, `a-${number}`, { kind: 'result', meta: { call, outcome: 'ok', blobs: [] } })
}

function end(number: number, ended = 'answered', turn = 1): Entry {
  return entry(number, `a-${number}`, { kind: 'turn', meta: { turn, ended } })
}

function compaction(
  number: number,
  covers: number,
  meta: object = {},
  tokens = 10,
  operation = 'a-5',
): Entry {
  const told = { covers, previous: 0, by: 'model', ...meta }
  return entry(number, operation, { kind: 'compaction', tokens, meta: told })
}

function entry(number: number, operation: string, rest: object): Entry {
  return { number, operation, fence: 1, at: 0, tokens: 10, body: '{}', ...rest } as never
}

function input(
  number: number,
  mail: number,
  lane: string,
  tokens: number,
  operation = 'a-1',
): Entry {
  return entry(number, operation, { kind: 'input', tokens, meta: { lane, mail, blobs: [] } })
}

/** One message, a call and its result, an answer, a compaction of it all. */
function stored(): RehearsedSession {
  return {
    row: {
      ...{ id: 's', state: 'open', base: 7, turnState: 'idle', operation: null, policy: 'queue' },
      limits: { inputTokens: 900, handoffTokens: 100 },
    } as never,
    entries: [
      input(1, 1, 'user', 20),
      answer(2, 1, { calls: ['c'] }),
      result(3, 'c'),
      answer(4, 3),
      end(5),
      compaction(7, 3),
    ],
    mail: [{ number: 1, control: null, state: 'settled', body: '{"replyTo":{}}' } as never],
    operations: [
      {
        ...{ id: 'a-5', state: 'committed', base: 0, fence: 1 },
        result: { tokensBefore: 90, tokensAfter: 40 },
      } as never,
    ],
    replies: [{ number: 1, key: 's-1', state: 'sent' } as never],
  }
}
