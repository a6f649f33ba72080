import { describe, expect, it } from 'vitest'
import { traceLineage } from '../findings/lineage.ts'
import { findTranscriptFaults } from '../findings/transcript.ts'
import type { HermesRow, HermesSession } from '../read/rows.ts'
import { Surveyor } from './survey.ts'

const SESSION: HermesSession = {
  ...{
    id: 's',
    source: 'telegram',
    parentId: null,
    startedAt: 0,
    endedAt: null,
    lastActivityAt: null,
    endReason: null,
  },
  ...{ origin: null, model: null, title: null, sessionKey: null },
  ...{ toolCallCount: null, cooldownUntil: null, cooldownError: null },
  ...{ fallbackStreak: 0, ineffectiveCount: 0 },
}

function row(id: number, more: Partial<HermesRow>): HermesRow {
  return {
    ...{ id, sessionId: 's', role: 'assistant', text: '', contentBytes: 0, at: id, state: 'live' },
    ...{ isSummary: false, toolCallId: null, callIds: [], otherNames: null },
    ...more,
  }
}

describe('Surveyor', () => {
  it('counts every call that is never answered and holds only a few', () => {
    const calls = 150_000
    const surveyor = new Surveyor([SESSION])
    const read = (id: number) => row(id, { callIds: [`a${id}`, `b${id}`] })
    for (let id = 1; id <= calls; id++) surveyor.take(read(id))
    surveyor.take(row(calls + 1, { role: 'user' }))
    const survey = surveyor.end()
    expect(survey.sessions.get('s')?.openCalls?.size).toBeLessThanOrEqual(1_000)
    const view = {
      survey,
      lineage: traceLineage({ ...survey, rule: 'ranked' }),
      routes: [],
      read,
      schema: { version: 26, columns: new Map(), remarks: [], isExport: false },
      condition: {} as never,
      now: 0,
    }
    const [fault] = findTranscriptFaults(view)
    expect(fault).toMatchObject({ kind: 'broken-tool-pair', rowCount: calls })
    expect(fault?.rows.length).toBeLessThan(1_000)
  })

  it('matches any number of calls by either name, and keeps only a few names', () => {
    const surveyor = new Surveyor([SESSION])
    for (let round = 0; round < 2_000; round++) {
      const calls = [`a${round}`, `b${round}`]
      const otherNames = new Map(calls.map((call) => [`other-${call}`, call]))
      surveyor.take(row(3 * round + 1, { callIds: calls, otherNames }))
      calls.forEach((call, at) => {
        const answer = { role: 'tool', toolCallId: `other-${call}` }
        surveyor.take(row(3 * round + 2 + at, answer))
      })
    }
    const { strayResults, openCalls, otherNames } = surveyor.end().sessions.get('s') ?? {}
    expect([strayResults?.count, openCalls]).toEqual([0, null])
    expect(otherNames?.size).toBe(1_000)
  })

  it('keeps no text of rows', () => {
    const closed = { ...SESSION, endReason: 'compression', endedAt: 0.5 }
    const surveyor = new Surveyor([closed, { ...SESSION, id: 'child', parentId: 's' }])
    const words = 'I have no record of the words that nobody may hold'
    const said = (id: number, more: Partial<HermesRow> = {}) =>
      surveyor.take(row(id, { text: `${words} ${id}`, ...more }))
    said(1, { role: 'user' })
    said(2)
    said(3, {
      at: 2 + 1e-6,
      text: `[CONTEXT COMPACTION] Summary generation was unavailable ${words}`,
    })
    said(4, { callIds: ['a'] })
    said(5, { role: 'tool', toolCallId: 'b' })
    said(6, { callIds: null })
    said(7, { at: 2, text: `${words} 2` })
    said(8, { sessionId: 'child', at: 2, text: `${words} 2` })
    said(9, { sessionId: 'nobody' })
    const { sessions, homeless } = surveyor.end()
    const kept = sessions.get('s')
    // Each exists, so that the checks below are not vacuous.
    const { late, handoffs, torn, strayResults, unreadableCalls, doubled } = kept ?? {}
    const samples = [late, handoffs, torn, strayResults, unreadableCalls, doubled]
    expect(samples.map((one) => one?.ids[0])).toEqual([1, 3, 3, 5, 6, 7])
    expect(kept?.denials[0]).toEqual({ id: 2, askedId: 1 })
    expect(kept?.burst).toMatchObject({ firstId: 2, lastId: 3, handoffId: 3 })
    expect(sessions.get('child')?.carried.ids).toEqual([8])
    expect([...stringsIn([...sessions.values(), ...homeless.values()])].join()).not.toContain(
      'words',
    )
  })

  it('counts the ids that are missing between two', () => {
    const surveyor = new Surveyor([SESSION])
    for (const id of [3, 4, 7, 8, 10]) surveyor.take(row(id, {}))
    const { missingBetween } = surveyor.end()
    const between = [
      ...([
        [0, 2, 0],
        [0, 3, 2],
        [3, 4, 0],
        [4, 7, 2],
        [3, 8, 2],
        [7, 8, 0],
      ] as const),
      ...([
        [8, 10, 1],
        [4, 10, 3],
        [0, 10, 5],
        [0, 99, 5],
        [10, 99, 0],
      ] as const),
    ]
    const counted = between.map(([after, before]) => [after, before, missingBetween(after, before)])
    expect(counted).toEqual(between)
  })

  it('records times by the minute, and counts a session from its start time', () => {
    const later = (id: string, startedAt: number | null) => ({ ...SESSION, id, startedAt })
    const sessions = [
      SESSION,
      later('b', 130),
      later('a', 70),
      later('never', 999),
      later('?', null),
    ]
    const surveyor = new Surveyor(sessions)
    const times = [10, 69, 70, 60, null, 129, 130, 100]
    for (const [index, at] of times.entries()) surveyor.take(row(index + 1, { at }))
    const survey = surveyor.end()
    expect([0, 1, 2, 3, 6, 7].map((id) => survey.clockAt(id))).toEqual([null, 10, 10, 70, 70, 130])
    expect(survey.lastAt).toBe(130)
    const born = [...survey.sessions].map(([id, { bornAfterId }]) => [id, bornAfterId])
    const open = Number.POSITIVE_INFINITY
    expect(born).toEqual([
      ['s', 0],
      ['b', 6],
      ['a', 2],
      ['never', open],
      ['?', open],
    ])
    expect(new Surveyor([SESSION]).end().lastAt).toBeNull()
  })

  const HANDOFF = { text: '[CONTEXT COMPACTION] Earlier turns.' }
  it.each([
    [
      'led by its handoff',
      [
        [5, HANDOFF],
        [5.000001, {}],
      ],
      [1, 2, 1, true],
    ],
    [
      'with the handoff behind',
      [
        [5, {}],
        [5.000001, {}],
        [5.000002, HANDOFF],
      ],
      [1, 3, 3, true],
    ],
    [
      'behind what was taken back',
      [
        [1, { state: 'rewound' }],
        [5, HANDOFF],
        [5.000001, {}],
      ],
      [2, 3, 2, true],
    ],
    [
      'behind other rows',
      [
        [1, {}],
        [5, HANDOFF],
        [5.000001, {}],
      ],
      [2, 3, 2, false],
    ],
    [
      'of the last two',
      [
        [5, HANDOFF],
        [5.000001, {}],
        [6, HANDOFF],
        [6.000001, {}],
      ],
      [3, 4, 3, false],
    ],
    [
      'that another without a handoff follows',
      [
        [5, HANDOFF],
        [5.000001, {}],
        [6, {}],
        [6.000001, {}],
      ],
      [1, 2, 1, true],
    ],
    [
      'without a handoff',
      [
        [5, {}],
        [5.000001, {}],
      ],
      null,
    ],
    [
      'that begins a second behind the handoff',
      [
        [5, HANDOFF],
        [6, {}],
        [6.000001, {}],
      ],
      null,
    ],
    [
      'of rows three microseconds apart',
      [
        [0, HANDOFF],
        [3e-6, {}],
      ],
      null,
    ],
    [
      'of rows at one time',
      [
        [5, HANDOFF],
        [5, {}],
      ],
      null,
    ],
    ['of one row', [[1e-6, HANDOFF]], null],
  ] as const)('knows a run of rows %s', (_, rows, found) => {
    const surveyor = new Surveyor([SESSION])
    for (const [index, [at, more]] of rows.entries()) {
      surveyor.take(row(index + 1, { at, ...more }))
    }
    const burst = surveyor.end().sessions.get('s')?.burst
    expect(burst && [burst.firstId, burst.lastId, burst.handoffId, burst.isAlone]).toEqual(found)
    if (burst) expect(burst.rows).toBe(burst.lastId - burst.firstId + 1)
  })
})

function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  if (typeof value !== 'object' || value === null) return
  const items = value instanceof Map || value instanceof Set ? [...value] : Object.values(value)
  for (const item of items) yield* stringsIn(item)
}
