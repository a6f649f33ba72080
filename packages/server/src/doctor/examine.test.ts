import { describe, expect, it } from 'vitest'
import type { Reads } from '#core/store/contract'
import { type Examination, examineStore } from './examine.ts'

const NOW = 100_000_000
const MINUTE = 60_000
const SESSION = {
  ...{ id: 's1', agent: 'main', state: 'open', runner: null, operation: null, tail: 3, fence: 4 },
  ...{
    turnState: 'idle',
    pending: { user: 0, notification: 0, control: 0 },
    owed: [],
    by: 'model',
  },
  ...{ delivered: { user: 2, notification: 1 }, settled: { user: 2, notification: 1 } },
}
const RUNNER = { id: 'r1', process: 77, startedAt: NOW, beat: 9 }

/** What is found in a store that reads like this. */
async function find(reads: object, more: Partial<Examination> = {}) {
  const store = {
    verify: async () => [],
    listRunners: async () => [],
    listSessions: async () => [],
    listReplies: async () => [],
    readStore: async () => ({ commits: 0 }),
    readAudit: async () => [],
    readEntries: async () => [],
    findOperation: async () => undefined,
    ...reads,
  } as unknown as Reads
  const terms = { now: NOW, isGone: () => false, agents: null, ...more }
  return await examineStore({ reads: store, ...terms })
}

const sessions = (...fields: readonly object[]) => ({
  listSessions: async () => fields.map((each) => ({ ...SESSION, ...each })),
})
const lastEntry = (agoMs: number) => ({ readEntries: async () => [{ at: NOW - agoMs }] })
const found = async (reads: object, more: Partial<Examination> = {}) =>
  (await find(reads, more)).findings

describe('what is found of sessions', () => {
  it('is nothing if all is well', async () => {
    expect(await find(sessions({}, { id: 's2', state: 'gone' }))).toEqual({
      ...{ sessions: 2, findings: [] },
    })
  })

  const unsettled = (since: number | null) => ({
    ...{ kind: 'unsettled-mail', severity: 'fault', sessionIds: ['s1'], since },
    what: 'Session s1 has taken messages in and rests without having answered them.',
    advice: 'Send it a message: the next turn sees all of them.',
  })

  it.each<[object, readonly object[]]>([
    [{ settled: { user: 1, notification: 1 } }, [unsettled(NOW - 5)]],
    [{ settled: { user: 2, notification: 0 } }, [unsettled(NOW - 5)]],
    [{ settled: { user: 1, notification: 1 }, tail: 0 }, [unsettled(null)]],
    [{ settled: { user: 1, notification: 1 }, turnState: 'running' }, []],
  ])('mail without an answer: %j', async (fields, findings) => {
    expect(await found({ ...sessions(fields), ...lastEntry(5) })).toEqual(findings)
  })

  const turnLeft = (agoMs: number) => ({
    ...{ kind: 'turn-left', severity: 'warning', sessionIds: ['s1'], since: NOW - agoMs },
    what: 'Session s1 is in the middle of a turn, but no process holds it.',
    advice: 'Run `throughline serve` with its agent; the turn is taken up or closed by itself.',
  })

  it('a turn that nobody holds, after ten minutes', async () => {
    const running = sessions({ turnState: 'running' })
    expect(await found({ ...running, ...lastEntry(10 * MINUTE) })).toEqual([])
    expect(await found({ ...running, ...lastEntry(10 * MINUTE + 1) })).toEqual([
      turnLeft(10 * MINUTE + 1),
    ])
    const held = sessions({ turnState: 'running', runner: 'r1' })
    const late = { ...held, ...lastEntry(20 * MINUTE), listRunners: async () => [RUNNER] }
    expect(await found(late)).toEqual([])
    expect(await found({ ...late, listRunners: async () => [] })).toEqual([turnLeft(20 * MINUTE)])
  })

  const claim = (more: object) => ({
    ...{ kind: 'orphaned-claim', severity: 'warning', sessionIds: ['s1'] },
    what: 'Session s1 has an unfinished compaction that no process is writing.',
    advice: 'The next holder gives it up by itself; --fix does it now. Nothing was changed by it.',
    ...more,
  })

  it.each<[object | undefined, object]>([
    [undefined, { since: null }],
    [{ id: 'o1', state: 'failed', startedAt: 5 }, { since: 5 }],
    [
      { id: 'o1', state: 'running', startedAt: 5 },
      { since: 5, fix: { kind: 'fail-operation', operation: 'o1', fence: 4 } },
    ],
  ])('a compaction that nobody writes: %j', async (operation, more) => {
    const findOperation = async () => operation
    expect(await found({ ...sessions({ operation: 'o1' }), findOperation })).toEqual([claim(more)])
  })

  const left = (since: number | null) => ({
    ...{ kind: 'erasure-left', severity: 'warning', sessionIds: ['s1'], since },
    what: 'Session s1 was to be removed for good, and some of what it holds is still there.',
    advice: 'A process that serves the store finishes it by itself; --fix does it now.',
    fix: { kind: 'finish-erasure', sessionId: 's1' },
  })

  it('a removal that was not finished, after ten minutes', async () => {
    const erasing = sessions({ state: 'erasing' })
    const deleted = (agoMs: number) => ({
      ...erasing,
      readAudit: async ({ sessionId }: { sessionId?: string }) =>
        sessionId === undefined
          ? []
          : [
              { kind: 'other', at: 1, cursor: 1 },
              { kind: 'session deleted', at: NOW - agoMs, cursor: 2 },
            ],
    })
    expect(await found(deleted(10 * MINUTE))).toEqual([])
    expect(await found(deleted(10 * MINUTE + 1))).toEqual([left(NOW - 10 * MINUTE - 1)])
    expect(await found(erasing)).toEqual([left(null)])
  })

  it('agents that are not configured, with what their sessions have to do', async () => {
    const waiting = { pending: { user: 1, notification: 0, control: 0 } }
    const own = sessions(
      ...[{ agent: 'old' }, { id: 's2', agent: 'old', ...waiting }, { id: 's3', agent: 'idle' }],
      ...[
        { id: 's4', agent: 'main' },
        { id: 's5', agent: 'gone', state: 'gone' },
      ],
    )
    const unserved = (agent: string, count: string, more: object) => ({
      ...{ kind: 'unserved-agent', since: null },
      what: `Agent ${agent} has ${count} and is not configured`,
      advice: `Add \`agents.${agent}\` to the configuration, or leave them: nothing is lost.`,
      ...more,
    })
    expect(await found(own)).toEqual([])
    expect(await found(own, { agents: ['main'] })).toEqual([
      unserved('old', '2 sessions', {
        what: 'Agent old has 2 sessions and is not configured; 1 of them have something to do.',
        ...{ severity: 'warning', sessionIds: ['s2'] },
      }),
      unserved('idle', '1 session', {
        what: 'Agent idle has 1 session and is not configured.',
        ...{ severity: 'note', sessionIds: [] },
      }),
    ])
  })

  it('reads page after page, and says how far it is', async () => {
    const counts: number[] = []
    const asked: unknown[] = []
    const listSessions = async (query: { after?: string }) => {
      asked.push(query)
      const from = query.after === undefined ? 0 : Number(query.after.slice(1)) + 1
      return Array.from({ length: from === 0 ? 500 : 3 }, (_, at) => ({
        ...{ ...SESSION, id: `s${from + at}` },
      }))
    }
    const onSession = (count: number) => counts.push(count)
    expect(await find({ listSessions }, { onSession })).toEqual({ sessions: 503, findings: [] })
    expect([asked, counts]).toEqual([[{ limit: 500 }, { limit: 500, after: 's499' }], [500]])
  })
})

describe('what is found of processes', () => {
  const listRunners = async () => [RUNNER]

  it('is one that has ended, and one that began in the future', async () => {
    expect(await found({ listRunners })).toEqual([])
    expect(await found({ listRunners }, { isGone: ({ id }) => id === 'r1' })).toEqual([
      {
        ...{ kind: 'dead-runner', severity: 'warning', sessionIds: [], since: NOW },
        what: 'Process 77 ended without a farewell and still counts as holder (r1).',
        advice: 'A process that serves the store takes over by itself; --fix dismisses it now.',
        fix: { kind: 'dismiss-runner', runner: 'r1', beat: 9 },
      },
    ])
    const started = (startedAt: number) => ({ listRunners: async () => [{ ...RUNNER, startedAt }] })
    expect(await found(started(NOW + MINUTE))).toEqual([])
    expect(await found(started(NOW + MINUTE + 1))).toEqual([
      {
        ...{ kind: 'lease-from-the-future', severity: 'warning', sessionIds: [] },
        since: NOW + MINUTE + 1,
        what: 'Process 77 says that it began in the future (r1).',
        advice: 'The clocks of two hosts disagree. Leases do not depend on it; times shown do.',
      },
    ])
  })
})

describe('what is found of replies and of the clock', () => {
  const reply = (sessionId: string, edge: string, agoMs: number) => ({
    ...{ sessionId, edge, at: NOW - agoMs },
  })

  it('is what waits for more than ten minutes, and what was given up', async () => {
    const waiting = [
      reply('s1', 'chat', 10 * MINUTE),
      reply('s2', 'chat', 10 * MINUTE + 1),
      reply('s2', 'mail', 20 * MINUTE),
      reply('s3', 'chat', 11 * MINUTE),
    ]
    const dead = [reply('s4', 'chat', 3), reply('s4', 'chat', 5)]
    const asked: unknown[] = []
    const listReplies = async (query: { state: string }) => {
      asked.push(query)
      return query.state === 'waiting' ? waiting : dead
    }
    expect(await found({ listReplies })).toEqual([
      {
        ...{ kind: 'outbox-stuck', severity: 'warning', sessionIds: ['s2', 's3'] },
        ...{ since: NOW - 20 * MINUTE, what: '3 answers wait to be sent by chat, mail.' },
        advice: 'Run the process that serves this edge, and look into its log.',
      },
      {
        ...{ kind: 'outbox-dead', severity: 'fault', sessionIds: ['s4'], since: NOW - 5 },
        what: '2 answers could not be sent by chat and were given up.',
        advice: 'They are in the transcripts; `throughline show` prints them.',
      },
    ])
    expect(asked).toEqual([
      { state: 'waiting', limit: 500 },
      { state: 'dead', limit: 500 },
    ])
  })

  it('is a commit of the future', async () => {
    const commits = (aheadMs: number) => ({
      readStore: async () => ({ commits: 8 }),
      readAudit: async ({ after, limit }: { after: number; limit: number }) =>
        after === 7 && limit === 1 ? [{ at: NOW + aheadMs }] : [],
    })
    expect(await found(commits(MINUTE))).toEqual([])
    expect(await found(commits(MINUTE + 1))).toEqual([
      {
        ...{ kind: 'clock', severity: 'warning', sessionIds: [], since: NOW + MINUTE + 1 },
        what: 'The newest commit was made in the future, as this host counts.',
        advice: 'Set the clock. Order and leases do not depend on it; timers and times shown do.',
      },
    ])
  })
})

describe('what cannot be read', () => {
  it('is a finding, and the rest is examined', async () => {
    const fail = async () => {
      throw new Error('It is torn.')
    }
    const running = { ...sessions({ turnState: 'running' }), ...lastEntry(20 * MINUTE) }
    const unreadable = (what: string, sessionIds: readonly string[] = []) => ({
      ...{ kind: 'unreadable', severity: 'fault', since: null, sessionIds, what },
      advice: 'Restore a backup; what can still be read, `throughline export` saves.',
    })
    const findings = await found({ ...running, verify: fail, listReplies: fail })
    expect(findings.map(({ kind }) => kind)).toEqual(['unreadable', 'turn-left'])
    expect(findings[0]).toEqual(unreadable('The store cannot be read: It is torn.'))
    expect(await found({ ...sessions({}), readEntries: fail })).toEqual([
      unreadable('Session s1 cannot be read: It is torn.', ['s1']),
    ])
  })
})
