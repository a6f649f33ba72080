import { describe, expect, it } from 'vitest'
import { concernsIn, dayIn } from '../../packages/dashboard/data/overview.ts'
import type { SessionSummary } from '../../packages/server/src/runtime/runtime.ts'
import { DAY_MS } from '../../packages/server/src/runtime/usage.ts'

const NOW = 20_000 * DAY_MS + 3_600_000
const DAY_START = 20_000 * DAY_MS
const WELL = { problems: [], reason: null, routes: [] }

function session(changes: Partial<SessionSummary>): SessionSummary {
  const old = DAY_START - DAY_MS
  const times = { createdAt: old, activeAt: old, compactedAt: null }
  return { state: 'idle', lastTurn: 'answered', isCompacting: false, ...times, ...changes } as never
}

describe('concernsIn', () => {
  it('has none where sessions work, rest or wait for a compaction', () => {
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
    const route = { route: 'main', task: 'turn', model: 'm', failures: 3, retryAt: null }
    const report = {
      problems: ['The disk is full.'],
      reason: 'no-lease',
      routes: [
        { ...route, state: 'open' as const },
        { ...route, state: 'closed' as const },
      ],
    }
    const laws = [{ title: 'No message is lost', holds: false }] as never
    expect(concernsIn(report, { laws }, [], NOW)).toEqual([
      'The disk is full.',
      expect.stringMatching(/^This process lost contact/),
      'Broken: No message is lost.',
      'Model route main is paused after 3 failures (turn).',
    ])
  })
})

describe('dayIn', () => {
  const usage = { calls: 2, inputTokens: 1_500, outputTokens: 20, cachedTokens: 0, cost: 420_000 }

  it('counts what is from today, and what the calls took', () => {
    const sessions = [
      session({}),
      session({ activeAt: DAY_START }),
      session({ activeAt: NOW, createdAt: NOW, compactedAt: NOW }),
    ]
    expect(dayIn(sessions, DAY_START, { ...usage, unpricedCalls: 0 })).toEqual([
      '2 sessions were active today.',
      '1 session is new.',
      '1 session was compacted.',
      '2 model calls today: 1.5k in, 20 out, cost 0.42.',
    ])
  })

  it('says how many calls have no price, and nothing of calls that it does not know', () => {
    const sessions = [session({ activeAt: NOW })]
    expect(dayIn(sessions, DAY_START, { ...usage, unpricedCalls: 1 }).at(-1)).toBe(
      '2 model calls today: 1.5k in, 20 out, cost 0.42+; no price is known for 1 of them.',
    )
    expect(dayIn(sessions, DAY_START, null)).toEqual(['1 session was active today.'])
    expect(dayIn([session({})], DAY_START, null)).toEqual(['Nothing has happened today.'])
  })
})
