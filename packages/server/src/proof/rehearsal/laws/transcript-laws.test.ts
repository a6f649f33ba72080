import { describe, expect, it } from 'vitest'
import { Findings, type LawName } from './laws.ts'
import { judgeReplies, judgeSends, judgeStored, type RehearsedSession } from './transcript-laws.ts'

describe('judgeStored and judgeReplies', () => {
  it('finds nothing broken in a session that was compacted and answered', () => {
    expect(lawsOf(stored())).toEqual([])
  })

  it('accepts a model’s rewrite that is longer than the digest', () => {
    const { operations, ...rest } = stored()
    const longer = operations.map((each) => ({
      ...each,
      by: 'rewrite' as const,
      result: { tokensBefore: 5, tokensAfter: 9 },
    }))
    expect(lawsOf({ ...rest, operations: longer })).toEqual([])
  })

  it.each<[string, LawName, (sound: RehearsedSession) => Partial<RehearsedSession>]>([
    [
      'two writers under one fence',
      'written',
      ({ entries }) => ({
        entries: entries.map((entry) =>
          entry.number === 3 ? { ...entry, operation: id('b-3') } : entry,
        ),
      }),
    ],
    [
      'a writer under two fences',
      'written',
      ({ entries }) => ({
        entries: entries.map((entry) => (entry.number === 7 ? { ...entry, fence: 2 } : entry)),
      }),
    ],
    [
      'a reply that stands there twice',
      'written',
      ({ entries }) => ({
        entries: entries.map((entry) =>
          entry.number === 4 ? { ...entry, operation: id('a-2') } : entry,
        ),
      }),
    ],
    [
      'a call without a result',
      'written',
      ({ entries }) => ({
        entries: entries.filter(({ kind }) => kind !== 'result'),
      }),
    ],
    [
      'a message between a call and its result',
      'written',
      ({ entries }) => ({
        entries: [...entries.slice(0, 2), input(20, 3, 'user', 10), ...entries.slice(2)],
      }),
    ],
    [
      'a person who waits for a notification',
      'bounded',
      ({ entries }) => ({
        entries: [input(1, 5, 'notification', 10), ...entries],
      }),
    ],
    [
      'more unanswered input than there is room for',
      'bounded',
      ({ entries }) => ({
        entries: [input(1, 5, 'user', 950), ...entries],
      }),
    ],
    [
      'a message that was withdrawn',
      'mailed',
      ({ mail }) => ({
        mail: mail.map((item) => ({ ...item, state: 'withdrawn' as const })),
      }),
    ],
    [
      'a message that is delivered twice',
      'mailed',
      ({ entries }) => ({ entries: [input(1, 1, 'user', 10), ...entries] }),
    ],
    [
      'a turn that nobody stopped',
      'stopped',
      ({ entries }) => ({
        entries: entries.map((entry) =>
          entry.kind === 'turn'
            ? { ...entry, meta: { turn: 1, ended: 'stopped' as const } }
            : entry,
        ),
      }),
    ],
    [
      'a compaction of what no model has had',
      'founded',
      ({ entries }) => ({
        entries: entries.map((entry) =>
          entry.kind === 'compaction' ? { ...entry, meta: { ...entry.meta, covers: 9 } } : entry,
        ),
      }),
    ],
    [
      'a compaction on an old base',
      'founded',
      ({ operations }) => ({
        operations: operations.map((each) => ({ ...each, base: 3 }) as typeof each),
      }),
    ],
    [
      'a compaction that made it larger',
      'founded',
      ({ operations }) => ({
        operations: operations.map((each) => ({
          ...each,
          result: { tokensBefore: 5, tokensAfter: 9 },
        })),
      }),
    ],
    [
      'an operation that never ended',
      'founded',
      ({ operations }) => ({
        operations: [
          ...operations,
          { ...operations[0], id: id('a-99'), state: 'running' } as never,
        ],
      }),
    ],
    [
      'a turn that waited for a model',
      'prompt',
      ({ operations }) => ({
        operations: operations.map((each) => ({ ...each, by: 'model', trigger: 'preflight' })),
      }),
    ],
    ['a base that no entry made', 'founded', ({ row }) => ({ row: { ...row, base: 8 } as never })],
    ['an answer that was to be sent and is not there', 'sent', () => ({ replies: [] })],
    [
      'a reply that waits for ever',
      'sent',
      ({ replies }) => ({
        replies: replies.map((each) => ({ ...each, state: 'waiting' as const })),
      }),
    ],
  ])('finds %s', (_what, law, change) => {
    const sound = stored()
    expect(lawsOf({ ...sound, ...change(sound) })).toContain(law)
  })
})

describe('judgeSends', () => {
  it.each([
    ['in order, once more behind a crash', ['s 1 1 a', 's 2 1 a', 's 2 2 b'], []],
    ['the newest first', ['s 2 1 a', 's 1 1 a'], ['sent']],
    ['twice without a claim', ['s 1 1 a', 's 1 1 b'], ['sent']],
  ])('%s', (_what, lines, laws) => {
    const findings = new Findings()
    judgeSends(lines, findings)
    expect(brokenIn(findings)).toEqual(laws)
  })
})

function lawsOf(session: RehearsedSession): readonly string[] {
  const findings = new Findings()
  judgeStored(session, findings)
  judgeReplies(session, findings)
  return brokenIn(findings)
}

function brokenIn(findings: Findings): readonly string[] {
  return findings.verdicts().flatMap(({ law, holds }) => (holds ? [] : [law]))
}

const id = (text: string) => text as never

function entry(number: number, operation: string, rest: object) {
  return { number, operation, fence: 1, at: 0, tokens: 10, body: '{}', ...rest } as never
}

function input(number: number, mail: number, lane: string, tokens: number) {
  return entry(number, 'a-1', { kind: 'input', tokens, meta: { lane, mail, blobs: [] } })
}

/** One message, a call and its result, an answer, a compaction of it all. */
function stored(): RehearsedSession {
  const step = { turn: 1, renderer: '', blobs: [] }
  return {
    row: {
      ...{ id: 's', state: 'open', base: 7, turnState: 'idle', operation: null, policy: 'queue' },
      limits: { inputTokens: 900, handoffTokens: 100 },
    } as never,
    entries: [
      input(1, 1, 'user', 20),
      entry(2, 'a-2', { kind: 'assistant', meta: { ...step, upto: 1, calls: ['c'] } }),
      entry(3, 'a-3', { kind: 'result', meta: { call: 'c', outcome: 'ok', blobs: [] } }),
      entry(4, 'a-4', { kind: 'assistant', meta: { ...step, upto: 3, calls: [] } }),
      entry(5, 'a-4', { kind: 'turn', meta: { turn: 1, ended: 'answered' } }),
      entry(7, 'a-5', { kind: 'compaction', meta: { covers: 3, previous: 0, by: 'model' } }),
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
