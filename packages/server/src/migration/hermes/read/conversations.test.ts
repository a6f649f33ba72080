import { describe, expect, it } from 'vitest'
import { finding, row, surveyed, view } from '../../../../../../test/support/hermes-diagnosis.ts'
import type { Finding } from '../findings/finding.ts'
import { findZone, gatherConversations } from './conversations.ts'

const CLOSED = { endReason: 'compression', endedAt: 300 }
const FIRST = surveyed('a', {
  ...{ archived: 2, handoffs: { count: 2, ids: [4, 5] } },
  session: { ...CLOSED, title: 'Pier' },
})
const SECOND = surveyed('b', {
  ...{ rows: 5, archived: 0, handoffs: { count: 1, ids: [6] } },
  session: { parentId: 'a', startedAt: 300 },
})
const { survey, lineage, read } = view([FIRST, SECOND, surveyed('c')])

const gather = (findings: readonly Finding[], zoneSeconds: number | null = null) =>
  gatherConversations({ survey, lineage, findings, zoneSeconds, read })
const logged = (over: Partial<Finding>) => finding({ clock: 'log', ...over })

describe('gatherConversations', () => {
  it('tells a conversation with its sessions, and everything in order of time', () => {
    const findings = [
      finding({ sessionIds: [] }),
      finding({ sessionIds: ['b'], from: 350, title: 'Later' }),
      finding({ sessionIds: ['a'], from: null, to: null, title: 'At some time' }),
      finding({ sessionIds: ['a', 'c'], from: null, to: 45, title: 'Until' }),
      finding({
        ...{ kind: 'destructive-rewrite', sessionIds: ['a'], from: 100, to: 400 },
        title: 'Written anew',
      }),
    ]
    const told = (at: number | null, sessionId: string, text: string, index: number | null) => ({
      ...{ at, sessionId, text, finding: index },
    })
    expect(gather(findings)).toEqual([
      {
        ...{ rootId: 'a', title: 'Pier', source: 'telegram' },
        sessions: [
          { id: 'a', startedAt: 100, endedAt: 300, endReason: 'compression', rows: 3 },
          { id: 'b', startedAt: 300, endedAt: null, endReason: null, rows: 5 },
        ],
        timeline: [
          told(40, 'a', 'a is compacted in place', null),
          told(45, 'a', 'Until', 3),
          told(50, 'a', 'a is compacted in place', null),
          told(100, 'a', 'a begins; it holds 3 rows today', null),
          told(300, 'a', 'a is closed (compression)', null),
          told(300, 'b', 'b begins, after a; it holds 5 rows today', null),
          told(350, 'b', 'Later', 1),
          told(400, 'a', 'Written anew', 4),
          told(null, 'a', 'At some time', 2),
        ],
      },
    ])
  })

  it('moves times of the log by its zone, and no others', () => {
    const findings = [
      logged({ sessionIds: ['x'], from: 9_000 }),
      finding({ sessionIds: ['x'], from: 9_000 }),
    ]
    const times = (zone: number | null) =>
      gather(findings, zone).map(({ timeline }) => timeline.map(({ at }) => at))
    expect([times(3_600), times(null)]).toEqual([[[5_400, 9_000]], [[9_000, 9_000]]])
  })

  it('joins sessions that only the log links, also in a circle', () => {
    const change = (from: string, to: string) =>
      logged({ kind: 'identity-changed', sessionIds: [from, to] })
    const roots = (...findings: readonly Finding[]) =>
      gather(findings).map(({ rootId, sessions }) => [rootId, sessions.length])
    const other = logged({ sessionIds: ['z'] })
    expect(roots(change('x', 'y'), change('y', 'z'), other)).toEqual([['x', 0]])
    expect(roots(logged({ sessionIds: ['x', 'z'] }), other)).toEqual([
      ['x', 0],
      ['z', 0],
    ])
    expect(roots(change('b', 'y'), logged({ sessionIds: ['y'] }))).toEqual([['a', 2]])
    expect(roots(change('x', 'y'), change('y', 'x'))).toHaveLength(2)
  })

  it('knows nothing of sessions without a store', () => {
    const findings = [logged({ sessionIds: ['x'], from: 9, title: 'Told' })]
    const without = { survey: null, lineage: null, findings, zoneSeconds: null, read: row }
    expect(gatherConversations(without)).toEqual([
      {
        ...{ rootId: 'x', title: null, source: null, sessions: [] },
        timeline: [{ at: 9, sessionId: 'x', text: 'Told', finding: 0 }],
      },
    ])
  })
})

describe('findZone', () => {
  /** Sessions that began at nine in UTC, named by their local time. */
  const NINE = Date.UTC(2026, 2, 1, 9) / 1_000
  const zoneOf = (...locals: readonly string[]) =>
    findZone(
      view(
        locals.map((local, at) =>
          surveyed(`${local}_${at}`, { session: { startedAt: local === 'x' ? null : NINE } }),
        ),
      ).survey,
    )

  it.each<[readonly string[], number | null]>([
    [[], null],
    [['20260301_090000'], 0],
    [['20260301_110007'], 7_200],
    [['20260301_033000'], -19_800],
    [['20260302_000000'], 54_000],
    [['20260302_001500'], null],
    [['20260228_180000'], -54_000],
    [['20260228_174500'], null],
    [['20260301_110000', '20260301_110700', 'other', '20260301_090000'], 7_200],
    [['20260301_110000', '20260301_090000'], null],
    [['20260301_090000', '20260301_110000', '20260301_110000'], 7_200],
    [['20260301_110000', '20260303_090000'], null],
  ])('by ids from %j is %s', (locals, zone) => {
    expect(zoneOf(...locals)).toBe(zone)
  })
})
