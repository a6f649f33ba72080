import { describe, expect, it } from 'vitest'
import type { Survey } from '../diagnose/survey.ts'
import type { HermesSession } from '../read/rows.ts'
import { findCircles } from './circles.ts'
import { counted } from './finding.ts'
import { chosen, type FollowRule, followRule, isFollowed } from './follow.ts'
import { relationOf } from './lineage.ts'

function session(id: string, over: Partial<HermesSession> = {}): HermesSession {
  return {
    ...{ id, parentId: null, source: 'telegram', startedAt: 100, endedAt: null, endReason: null },
    ...{ lastActivityAt: null, origin: null, model: null, title: null, sessionKey: null },
    ...{ toolCallCount: null, cooldownUntil: null, cooldownError: null },
    ...{ fallbackStreak: 0, ineffectiveCount: 0 },
    ...over,
  }
}

const RULES: readonly FollowRule[] = ['newest', 'ranked', 'ranked-without-resets']
const parent = session('p', { startedAt: 0, endedAt: 100, endReason: 'compression' })

describe('the rule of a version', () => {
  const columns = (...names: string[]) => new Map([['sessions', new Set(names)]])

  it.each<[number | null, Map<string, Set<string>>, FollowRule]>([
    [4, columns(), 'newest'],
    [16, columns('last_activity_at'), 'newest'],
    [17, columns(), 'ranked'],
    [26, columns(), 'ranked'],
    [27, columns(), 'ranked-without-resets'],
    [null, columns('id'), 'newest'],
    [null, columns('last_activity_at'), 'ranked'],
    [null, new Map([['gateway_routing', new Set<string>()]]), 'ranked'],
  ])('%s is taken', (version, known, rule) => {
    expect(followRule({ version, columns: known })).toBe(rule)
  })
})

describe('a session that is followed', () => {
  it.each<[string, Partial<HermesSession>, readonly FollowRule[]]>([
    ['opened at the closing', { startedAt: 100 }, RULES],
    ['opened before it', { startedAt: 99 }, ['ranked', 'ranked-without-resets']],
    ['opened at no known time', { startedAt: null }, ['ranked', 'ranked-without-resets']],
    ['a branch', { origin: 'branch' }, ['newest']],
    ['a delegate', { origin: 'delegate' }, ['newest']],
    ['a reset', { origin: 'reset' }, ['newest', 'ranked']],
    ['of a tool', { source: 'tool' }, ['newest']],
  ])('%s', (_, over, rules) => {
    expect(RULES.filter((rule) => isFollowed(session('c', over), parent, rule))).toEqual(rules)
  })

  it('comes after another one, which compaction closed', () => {
    const open = { ...parent, endReason: 'reset' }
    for (const rule of RULES) {
      expect(isFollowed(session('c'), open, rule)).toBe(false)
      expect(isFollowed(session('p'), parent, rule)).toBe(false)
    }
    expect(isFollowed(session('c'), { ...parent, endedAt: null }, 'newest')).toBe(false)
  })
})

describe('the session that Hermes takes of several', () => {
  const take = (
    rule: FollowRule,
    sessions: readonly HermesSession[],
    lastRowAt: (id: string) => number | null = () => null,
  ) => {
    const candidates = sessions.map((each) => ({ session: each, rows: 1 }))
    return chosen(candidates, rule, ({ session: { id } }) => lastRowAt(id))
  }

  it('is the only one', () => {
    expect(take('ranked', [])).toBeUndefined()
    expect(take('ranked', [session('a')])).toBe('a')
  })

  it('is the one that began last, up to 0.17', () => {
    const sessions = [
      session('a', { startedAt: 1, endReason: 'compression' }),
      session('b', { startedAt: 3 }),
      session('c', { startedAt: 2 }),
      session('d', { startedAt: null }),
    ]
    expect(take('newest', sessions, (id) => (id === 'c' ? 99 : null))).toBe('b')
    expect(take('newest', sessions.toReversed())).toBe('b')
  })

  it.each<[string, Partial<HermesSession>, Partial<HermesSession>]>([
    ['was compacted itself', { endReason: 'compression', endedAt: 1 }, {}],
    ['is open', {}, { endedAt: 1, endReason: 'reset', lastActivityAt: 999 }],
    ['was active last', { lastActivityAt: 8 }, { lastActivityAt: 7, startedAt: 999 }],
    ['began last', { startedAt: 8 }, { startedAt: 7 }],
    [
      'began last of those active at once',
      { startedAt: 8, lastActivityAt: 9 },
      { startedAt: 7, lastActivityAt: 9 },
    ],
  ])('is later the one that %s', (_, winner, loser) => {
    // Its id is the smaller one, so ordering by id would decide otherwise.
    const [won, lost] = [session('a', winner), session('b', loser)]
    expect(take('ranked', [won, lost])).toBe('a')
    expect(take('ranked', [lost, won])).toBe('a')
  })

  it('is the one with the newest row, or the highest id if they are equal', () => {
    const [one, other] = [session('a', { lastActivityAt: 5 }), session('b', { lastActivityAt: 6 })]
    expect(take('ranked', [one, other], (id) => (id === 'a' ? 7 : null))).toBe('a')
    expect(take('ranked', [session('a'), session('b')])).toBe('b')
    expect(take('ranked', [session('b'), session('a')])).toBe('b')
  })
})

describe('relationOf', () => {
  const relation = (
    over: Partial<HermesSession>,
    {
      of = {},
      rule = 'ranked',
      anyEnd = false,
    }: { of?: Partial<HermesSession>; rule?: FollowRule; anyEnd?: boolean } = {},
  ) => relationOf(session('c', over), { ...parent, ...of }, { rule, anyEnd })

  it.each<[string, () => ReturnType<typeof relation>, ReturnType<typeof relation>]>([
    ['a child of the closing', () => relation({}), 'continues'],
    ['a child five seconds early', () => relation({ startedAt: 95 }), 'continues'],
    ['a child earlier still', () => relation({ startedAt: 94 }), 'open'],
    [
      'an early child of an older version',
      () => relation({ startedAt: 99 }, { rule: 'newest' }),
      'open',
    ],
    ['one at the closing', () => relation({ startedAt: 100 }, { rule: 'newest' }), 'continues'],
    ['a child without a time', () => relation({ startedAt: null }), 'continues'],
    [
      'a parent without a time',
      () => relation({ startedAt: 1 }, { of: { endedAt: null } }),
      'continues',
    ],
    ['a branch', () => relation({ origin: 'branch' }), 'none'],
    ['a reset', () => relation({ origin: 'reset' }), 'none'],
    ['a tool', () => relation({ source: 'tool' }), 'none'],
    ['a subagent', () => relation({ source: 'subagent' }), 'none'],
    ['itself', () => relation({}, { of: { id: 'c' } }), 'none'],
    ['a parent that was branched', () => relation({}, { of: { endReason: 'branched' } }), 'none'],
    ['a parent that was reset', () => relation({}, { of: { endReason: 'reset' } }), 'none'],
    [
      'a parent of any end',
      () => relation({}, { of: { endReason: 'reset' }, anyEnd: true }),
      'open',
    ],
  ])('of %s', (_, found, expected) => {
    expect(found()).toBe(expected)
  })
})

describe('circles of parents', () => {
  const circles = (...pairs: readonly [string, string | null, (number | null)?][]) =>
    findCircles(
      new Map(
        pairs.map(([id, parentId, startedAt = 1]) => [
          id,
          { session: session(id, { parentId, startedAt }) },
        ]),
      ) as unknown as Survey['sessions'],
    )

  it('are broken at the session that began first', () => {
    expect(circles(['a', 'b', 5], ['b', 'c', 3], ['c', 'a', 4])).toEqual([
      { sessionId: 'b', parentId: 'c' },
    ])
    expect(circles(['a', 'b', null], ['b', 'a', 9])).toEqual([{ sessionId: 'b', parentId: 'a' }])
  })

  it('are found once each, without the sessions that only lead into one', () => {
    expect(circles(['in', 'a', 0], ['a', 'b', 2], ['b', 'a', 3], ['self', 'self'])).toEqual([
      { sessionId: 'a', parentId: 'b' },
      { sessionId: 'self', parentId: 'self' },
    ])
  })

  it('are not found if a parent is missing or each session has another parent', () => {
    expect(circles(['a', null], ['b', 'a'], ['c', 'b'], ['d', 'gone'])).toEqual([])
  })
})

it('counts one thing in the singular, and none or several in the plural', () => {
  expect([0, 1, 2].map((count) => counted(count, 'row'))).toEqual(['0 rows', '1 row', '2 rows'])
  expect(counted(2, 'reply', 'replies')).toBe('2 replies')
})
