import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../../packages/core/src/base/clock.ts'
import { concernsIn, lastDayIn, pastTroubleIn } from '../../../packages/dashboard/data/overview.ts'
import type { SessionSummary } from '../../../packages/server/src/runtime/runtime.ts'

const NOW = 20_000 * DAY_MS + 3_600_000
const DAY_START = 20_000 * DAY_MS
const WELL = { problems: [], reason: null, routes: [] }

const ROUTE = {
  ...{ route: 'main', task: 'title', model: 'm', failures: 3, retryAt: null },
  ...{ failuresInHour: 3, failedAt: NOW, answeredAt: null },
}

function session(changes: Partial<SessionSummary>): SessionSummary {
  const old = DAY_START - DAY_MS
  const times = { createdAt: old, activeAt: old, compactedAt: null }
  return {
    state: 'idle',
    left: null,
    lastTurn: 'answered',
    isCompacting: false,
    ...times,
    ...changes,
  } as never
}

describe('concernsIn', () => {
  it('returns none for sessions that are busy, idle or waiting for a compaction', () => {
    const sessions = (['idle', 'turn', 'waiting-for-compaction', 'gone'] as const).map((state) =>
      session({ state }),
    )
    expect(concernsIn(WELL, { laws: [] }, sessions, NOW)).toEqual([])
  })

  it('counts sessions that wait, are paused or failed within a day', () => {
    const failed = { state: 'idle', lastTurn: 'failed' } as const
    const sessions = [
      session({ state: 'waiting-for-model' }),
      session({ state: 'waiting-for-model' }),
      session({ state: 'waiting-for-approval' }),
      session({ ...failed, activeAt: NOW - DAY_MS + 1 }),
      session({ ...failed, activeAt: NOW - DAY_MS }),
    ]
    expect(concernsIn(WELL, null, sessions, NOW)).toEqual([
      '2 sessions wait for a model.',
      '1 session is paused at a spending limit.',
      '1 session failed in its last turn.',
    ])
  })

  it('names problems, broken laws and paused routes', () => {
    const route = { ...ROUTE, failedAt: NOW - 1_000 }
    const report = {
      problems: ['The disk is full.'],
      reason: 'no-lease',
      routes: [
        { ...route, state: 'open' as const },
        { ...route, task: 'turn', state: 'failing' as const },
        { ...route, state: 'closed' as const },
      ],
    }
    const laws = [{ title: 'No message is lost', holds: false }] as never
    expect(concernsIn(report, { laws }, [], NOW)).toEqual([
      'The disk is full.',
      expect.stringMatching(/^This process lost contact/),
      'Broken: No message is lost.',
      'The last 3 calls of turns on model route main failed; each session tries again by itself.',
      'Model route main is paused after 3 failures (title).',
    ])
  })
})

describe('trouble that is over', () => {
  const HOUR = 3_600_000
  const at = new Date(NOW - HOUR).toTimeString().slice(0, 8)
  const later = new Date(NOW - HOUR / 2).toTimeString().slice(0, 8)
  const seen = (routes: readonly object[], sessions: readonly SessionSummary[]) => {
    const report = { ...WELL, routes: routes as never }
    return {
      now: concernsIn(report, null, sessions, NOW),
      past: pastTroubleIn(report, sessions, NOW),
    }
  }

  it('is listed as past, with its time, once the route has answered', () => {
    const turn = { ...ROUTE, task: 'turn', failedAt: NOW - HOUR, answeredAt: NOW - HOUR / 2 }
    expect(seen([{ ...turn, state: 'closed', failures: 0 }], [])).toEqual({
      now: [],
      past: [
        `3 calls on model route main failed (turn), the last at ${at}; it answered at ${later}.`,
      ],
    })
    // Two failures are normal.
    expect(seen([{ ...turn, state: 'closed', failuresInHour: 2 }], []).past).toEqual([])
    // Titles are still paused, but turns are answered on the same route.
    const title = { ...ROUTE, state: 'open', failedAt: NOW - HOUR, retryAt: NOW - HOUR / 2 }
    const both = seen([title, { ...turn, state: 'closed', failuresInHour: 0 }], [])
    expect(both.now).toEqual([])
    expect(both.past).toEqual([
      `3 calls on model route main failed (title), the last at ${at}; it answered at ${later}; title calls are tried again at ${later}.`,
    ])
    expect(seen([title], []).now).toHaveLength(1)
  })

  it('is listed as past if no turn waits and the last failure is long ago', () => {
    const turn = { ...ROUTE, task: 'turn', state: 'failing', failedAt: NOW - HOUR }
    expect(seen([turn], [])).toEqual({
      now: [],
      past: [`3 calls on model route main failed (turn), the last at ${at}; no turn tries it now.`],
    })
    const waits = [session({ state: 'waiting-for-model' })]
    expect(seen([turn], waits).now).toHaveLength(2)
    expect(seen([turn], waits).past).toEqual([])
    expect(seen([{ ...turn, failedAt: NOW - 60_000 }], []).now).toHaveLength(1)
  })

  it('is a failed turn of an agent that has answered another session since', () => {
    const failed = session({ agent: 'a', lastTurn: 'failed', activeAt: NOW - HOUR })
    const answered = session({ agent: 'a', activeAt: NOW - 1 })
    const past = [
      `1 session failed in the last turn, at ${at}; later turns of the agent were answered.`,
    ]
    expect(seen([], [failed, answered])).toEqual({ now: [], past })
    for (const other of [
      { ...answered, agent: 'b' },
      { ...answered, activeAt: NOW - 2 * HOUR },
      { ...answered, state: 'turn' as const },
    ]) {
      expect(seen([], [failed, other])).toEqual({
        now: ['1 session failed in its last turn.'],
        past: [],
      })
    }
  })
})

describe('lastDayIn', () => {
  const none = { calls: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost: 0 }
  const quiet = { turns: 0, failedTurns: 0, compactions: 0, failedCompactions: 0, unpricedCalls: 0 }
  const hour = { at: DAY_START, ...none, ...quiet }
  const usage = { calls: 2, inputTokens: 1_500, outputTokens: 20, cost: 420_000 }

  it('adds up the hours, with failures and durations of calls', () => {
    const sessions = [
      session({}),
      session({ activeAt: DAY_START }),
      session({ activeAt: NOW, createdAt: NOW }),
    ]
    const hours = [
      { ...hour, turns: 2, failedTurns: 1, compactions: 1, failedCompactions: 1 },
      { ...hour, at: NOW, turns: 1, ...usage },
    ]
    expect(lastDayIn({ hours }, sessions)).toEqual([
      '2 sessions were active in the last 24 hours, 1 of them new.',
      '3 turns ended, 1 of them failed.',
      '1 compaction was made.',
      '1 compaction failed.',
      '2 model calls took 1.5k in, 20 out, cost 0.42.',
    ])
  })

  it('says how many calls have no price, and nothing of what did not happen', () => {
    const sessions = [session({ activeAt: NOW })]
    const hours = [{ ...hour, ...usage, unpricedCalls: 1 }]
    expect(lastDayIn({ hours }, sessions).at(-1)).toBe(
      '2 model calls took 1.5k in, 20 out, cost 0.42+; no price is known for 1 of them.',
    )
    expect(lastDayIn({ hours: [hour] }, sessions)).toEqual([
      '1 session was active in the last 24 hours.',
    ])
    expect(lastDayIn({ hours: [hour] }, [session({})])).toEqual([
      'Nothing happened in the last 24 hours.',
    ])
  })
})
