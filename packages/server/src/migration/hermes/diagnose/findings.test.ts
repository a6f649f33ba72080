import { describe, expect, it } from 'vitest'
import {
  type Given,
  NOW,
  row,
  surveyed,
  view,
} from '../../../../../../test/support/hermes-diagnosis.ts'
import type { Finding } from '../findings/finding.ts'
import { dropUngrounded } from '../findings/grounds.ts'
import { findIdentityFaults } from '../findings/identity.ts'
import { findRewrites } from '../findings/rewrite.ts'
import { findStateFaults } from '../findings/state.ts'
import { findStuck } from '../findings/stuck.ts'
import { findTranscriptFaults } from '../findings/transcript.ts'
import type { HermesSession } from '../read/rows.ts'
import type { SessionSurvey } from './survey.ts'

const kinds = (findings: readonly Finding[]) => findings.map(({ kind }) => kind)

describe('findStateFaults', () => {
  const found = (given: Given) => findStateFaults(view([surveyed('a', given)]))

  it('finds nothing in a session as Hermes leaves it', () => {
    expect(found({})).toEqual([])
    expect(found({ session: { endedAt: 300, endReason: 'session_reset' } })).toEqual([])
  })

  it.each<[string, Given, number]>([
    ['everything archived', { live: 0, archived: 3 }, 1],
    ['something live', { live: 1, archived: 3 }, 0],
    ['rows taken back', { live: 0, archived: 3, rewound: 1 }, 0],
    ['nothing at all', { live: 0, archived: 0 }, 0],
    ['an ended session', { live: 0, archived: 3, session: { endedAt: 300, endReason: 'idle' } }, 0],
  ])('notices an open session without a context: %s', (_, given, count) => {
    expect(kinds(found(given)).filter((kind) => kind === 'nothing-live')).toHaveLength(count)
  })

  it.each<[Partial<HermesSession>, RegExp | null]>([
    [{ endReason: 'idle' }, /an `end_reason` and no `ended_at`/],
    [{ endReason: '' }, /is not a word/],
    [{ endReason: '1dle', endedAt: 300 }, /is not a word/],
    [{ endReason: 'x'.repeat(65), endedAt: 300 }, /is not a word/],
    [{ endReason: 'x'.repeat(64), endedAt: 300 }, null],
    [{ endedAt: 300 }, /an `ended_at` and no `end_reason`/],
    [{ endReason: 'idle', endedAt: -1 }, /ended before 1970/],
    [{ endReason: 'idle', endedAt: 0 }, null],
    [{ endReason: 'compression' }, /closed for messages, and no continuation/],
  ])('notices a contradictory end: %j', (session, explanation) => {
    const [ending] = found({ session })
    if (explanation === null) expect(ending).toBeUndefined()
    else
      expect(ending).toMatchObject({
        kind: 'odd-ending',
        explanation: expect.stringMatching(explanation),
      })
  })

  it.each<[string, Given, RegExp | null]>([
    ['odd rows', { oddTimes: { count: 2, ids: [4] } as never }, /2 rows have no time/],
    ['a row a day ahead', { lastAt: NOW + 86_400 }, null],
    ['a row later than that', { lastAt: NOW + 86_401 }, /newest row lies in the future/],
    ['a start in the future', { session: { startedAt: NOW + 86_401 } }, /begins in the future/],
    ['no start', { session: { startedAt: null } }, /start time cannot be read/],
    ['a start before 1970', { session: { startedAt: -1 } }, /start time cannot be read/],
    ['a start in 1970', { session: { startedAt: 0 } }, null],
  ])('notices impossible times: %s', (_, given, explanation) => {
    const [time] = found(given)
    if (explanation === null) expect(time).toBeUndefined()
    else
      expect(time).toMatchObject({
        kind: 'impossible-time',
        explanation: expect.stringMatching(explanation),
      })
  })

  it('quotes the rows with odd times', () => {
    expect(found({ oddTimes: { count: 2, ids: [4] } as never })[0]).toMatchObject({
      ...{ rowCount: 2, rows: [{ id: 4, text: 'row 4' }], facts: { sessionId: 'a', rows: 2 } },
    })
  })
})

describe('findStuck', () => {
  const found = (
    session: Partial<HermesSession>,
    over: Given = {},
    locks: readonly object[] = [],
  ) =>
    findStuck({
      ...view([surveyed('a', { ...over, session: { sessionKey: 'k', ...session } })]),
      locks: locks as never,
      hygiene: new Map([['k', over.rows === 99 ? 2 : 1]]),
    })

  it.each<[string, Partial<HermesSession>, 'certain' | 'suspected' | null]>([
    ['nothing', {}, null],
    ['a pause that lasts', { cooldownUntil: NOW + 1 }, 'certain'],
    ['a pause that is over', { cooldownUntil: NOW }, 'suspected'],
    ['a pause after which rows were written', { cooldownUntil: 200 }, null],
    ['a pause after the last row', { cooldownUntil: 201 }, 'suspected'],
    ['one strike', { fallbackStreak: 1, ineffectiveCount: 1 }, null],
    ['two failed summaries', { fallbackStreak: 2 }, 'certain'],
    ['two compactions without effect', { ineffectiveCount: 2 }, 'certain'],
    ['an ended session', { fallbackStreak: 2, endedAt: 300 }, null],
  ])('judges %s', (_, session, certainty) => {
    expect(found(session).map((each) => each.certainty)).toEqual(
      certainty === null ? [] : [certainty],
    )
  })

  it('counts failures of the gateway by the key of the route', () => {
    expect(found({}, { rows: 99 })).toHaveLength(1)
    expect(found({ sessionKey: null }, { rows: 99 })).toEqual([])
    expect(found({ sessionKey: 'other' }, { rows: 99 })).toEqual([])
  })

  it('reports a lock that ends more than an hour from now as never released', () => {
    const lock = (until: number) => [{ name: 'a', until }]
    expect(found({}, {}, lock(NOW + 3_601))).toMatchObject([{ certainty: 'certain' }])
    expect(found({}, {}, lock(NOW + 3_600))).toEqual([])
    expect(found({}, {}, [...lock(NOW), ...lock(NOW + 9_999)])).toEqual([])
    expect(found({}, {}, [...lock(NOW + 9_999), ...lock(NOW)])).toHaveLength(1)
  })

  it('gives the last error and the remaining length of the pause', () => {
    const session = { cooldownUntil: NOW + 1.5, cooldownError: `E${'x'.repeat(300)}` }
    const [stuck] = found(session)
    expect(stuck?.explanation).toContain('lasts for another 2 s')
    expect(stuck?.explanation.endsWith(`The last error was: E${'x'.repeat(199)}`)).toBe(true)
    expect(stuck).toMatchObject({ from: 200, to: NOW + 1.5, facts: { hygieneStreak: 1 } })
  })
})

describe('dropUngrounded', () => {
  const all = (...names: readonly string[]) => {
    const columns = new Map<string, Set<string>>()
    for (const name of names) {
      const [table = '', column = ''] = name.split('.')
      columns.set(table, (columns.get(table) ?? new Set()).add(column))
    }
    return { columns } as never
  }
  const of = (kind: string) => [{ kind, certainty: 'certain' }] as unknown as readonly Finding[]

  it.each<[string, readonly string[], 'certain' | 'suspected' | null]>([
    ['broken-tool-pair', ['messages.tool_calls', 'messages.tool_call_id'], 'certain'],
    ['broken-tool-pair', ['messages.tool_calls'], null],
    ['broken-tool-pair', ['messages.tool_call_id'], null],
    ['orphaned-parent', [], null],
    ['orphaned-parent', ['sessions.parent_session_id'], 'certain'],
    ['rows-after-closing', [], 'suspected'],
    ['rows-after-closing', ['sessions.parent_session_id'], 'certain'],
    ['destructive-rewrite', ['sessions.parent_session_id'], null],
    ['destructive-rewrite', ['sessions.end_reason'], null],
    ['destructive-rewrite', ['sessions.parent_session_id', 'sessions.end_reason'], 'certain'],
    ['fork', ['sessions.model_config', 'sessions.source'], 'certain'],
    ['fork', ['sessions.model_config'], 'suspected'],
    ['fork', ['sessions.source'], 'suspected'],
    ['odd-ending', ['sessions.ended_at'], null],
    ['odd-ending', ['sessions.end_reason'], null],
    ['odd-ending', ['sessions.ended_at', 'sessions.end_reason'], 'certain'],
    ['hidden-continuation', ['sessions.ended_at'], null],
    ['hidden-continuation', ['sessions.parent_session_id'], null],
    ['hidden-continuation', ['sessions.ended_at', 'sessions.parent_session_id'], 'certain'],
    ['empty-shell', ['sessions.model_config', 'sessions.source'], 'certain'],
    ['empty-shell', ['sessions.source'], 'suspected'],
    ['empty-shell', ['sessions.model_config'], 'suspected'],
    ['doubled-rows', [], 'certain'],
  ])('judges %s by the columns %j', (kind, columns, certainty) => {
    const { findings } = dropUngrounded(of(kind), all(...columns))
    expect(findings.map((finding) => finding.certainty)).toEqual(
      certainty === null ? [] : [certainty],
    )
  })

  it('names each missing column once', () => {
    const { remarks } = dropUngrounded(
      [...of('fork'), ...of('empty-shell')],
      all('sessions.source'),
    )
    expect(remarks).toEqual([expect.stringContaining('no column sessions.model_config;')])
  })
})

const CLOSED = { endReason: 'compression', endedAt: 300 }
const child = (id: string, given: Given = {}) =>
  surveyed(id, { ...given, session: { parentId: 'a', startedAt: 300, ...given.session } })

describe('findIdentityFaults', () => {
  const closed = (given: Given = {}) =>
    surveyed('a', { ...given, session: { ...CLOSED, ...given.session } })

  it('asks nothing of a session that one other continues, or that is open', () => {
    expect(findIdentityFaults(view([closed(), child('b')]))).toEqual([])
    expect(
      findIdentityFaults(view([surveyed('a', { late: { count: 1, ids: [5] } as never })])),
    ).toEqual([])
  })

  it('notices that nothing continues a closed session, or several do', () => {
    expect(findIdentityFaults(view([closed()]))).toMatchObject([
      { kind: 'orphaned-parent', sessionIds: ['a'], from: 300, to: 300, facts: { rows: 3 } },
    ])
    const [fork] = findIdentityFaults(view([closed(), child('b'), child('c', { rows: 5 })]))
    expect(fork).toMatchObject({
      ...{
        kind: 'fork',
        sessionIds: ['a', 'b', 'c'],
        title: 'Compaction continued one session as 2',
      },
      facts: {
        children: [
          { id: 'b', rows: 3 },
          { id: 'c', rows: 5 },
        ],
      },
    })
  })

  it('notices an empty continuation', () => {
    const findings = findIdentityFaults(view([closed(), child('b', { rows: 0, live: 0 })]))
    expect(findings).toMatchObject([{ kind: 'empty-shell', sessionIds: ['a', 'b'], from: 300 }])
  })

  const late = { late: { count: 2, ids: [5, 6] } as never }

  it('notices rows after the closing, with the session that continues', () => {
    const [finding] = findIdentityFaults(view([closed(late), child('b')]))
    expect(finding).toMatchObject({
      ...{ kind: 'rows-after-closing', sessionIds: ['a', 'b'], from: 50, to: 60, rowCount: 2 },
      ...{ rows: [{ id: 5 }, { id: 6 }], facts: { parent: 'a', tip: 'b', closedAt: 300, rows: 2 } },
      explanation: expect.stringContaining('2 messages of people and programs never reached'),
    })
  })

  it('says that nothing continues the session if its only continuation is empty', () => {
    const findings = findIdentityFaults(view([closed(late), child('b', { rows: 0 })]))
    expect(findings[0]).toMatchObject({ kind: 'rows-after-closing', sessionIds: ['a'] })
    expect(findings[0]?.explanation).toContain('Nothing continues it')
  })

  it('counts messages of people apart from other rows, and rows that cannot be read as none', () => {
    const read = (id: number) =>
      id === 5 ? row(id, { role: 'assistant' }) : id === 6 ? row(id) : null
    const of = (ids: readonly number[], count = ids.length) =>
      findIdentityFaults(view([closed({ late: { count, ids } as never }), child('b')], { read }))
    expect(of([5, 6])[0]?.explanation).toContain('1 message of people')
    expect(of([7])).toEqual([])
    // A sample represents the rest.
    expect(of([5, 6], 40)[0]).toMatchObject({ rowCount: 40, facts: { rows: 40 } })
  })

  const route = (sessionId: string) => ({
    routes: [{ key: 'r', sessionId, from: 'routes.json', entry: {} }],
  })

  it('follows routes to sessions that are gone, ended or closed', () => {
    const one = (members: readonly SessionSurvey[], to: string) =>
      findIdentityFaults(view(members, route(to))).filter(({ kind }) => kind.startsWith('route-'))
    expect(one([surveyed('a')], 'a')).toEqual([])
    expect(one([surveyed('a')], 'b')).toMatchObject([{ kind: 'route-nowhere', sessionIds: ['b'] }])
    expect(one([closed(), child('b')], 'a')).toMatchObject([
      {
        kind: 'route-on-closed-parent',
        sessionIds: ['a', 'b'],
        facts: { tip: 'b', key: 'r' },
        from: 300,
      },
    ])
    expect(one([closed()], 'a')).toMatchObject([
      { kind: 'route-on-closed-parent', sessionIds: ['a'] },
    ])
    expect(one([closed(), child('b')], 'b')).toEqual([])
  })

  it.each([
    ...['session_reset', 'session_switch', 'idle', 'daily', 'suspended', 'resume_pending_expired'],
  ])('notices a route to a session that ended by %s', (endReason) => {
    const ended = (endedAt: number | null) =>
      kinds(
        findIdentityFaults(view([surveyed('a', { session: { endReason, endedAt } })], route('a'))),
      )
    expect(ended(300)).toEqual(['route-on-ended-session'])
    expect(ended(null)).toEqual([])
  })
})

describe('findTranscriptFaults', () => {
  const found = (given: Given, over: object = {}) =>
    findTranscriptFaults(view([surveyed('a', given)], over))
  const sample = (...ids: readonly number[]) => ({ count: ids.length, ids }) as never

  it('notices results without a call, unless the list of calls is unreadable', () => {
    expect(found({ strayResults: sample(4, 7) })).toMatchObject([
      {
        ...{
          kind: 'broken-tool-pair',
          title: 'The live context holds 2 tool results without a call',
        },
        ...{ from: 40, to: 70, rowCount: 2, facts: { strayResults: 2, openCalls: 0 } },
      },
    ])
    expect(found({ strayResults: sample(4), unreadableCalls: sample(3) })).toEqual([])
  })

  it('notices calls without a result once a later row is there', () => {
    const openCalls = new Map([
      ['c1', 4],
      ['c2', 4],
      ['c3', 9],
    ])
    expect(found({ openCalls, lastLiveId: 9 } as never)).toMatchObject([
      {
        title: 'The live context holds 1 tool call without a result',
        facts: { openCalls: 1 },
        rowCount: 1,
      },
    ])
    expect(found({ openCalls, lastLiveId: 4 } as never)).toEqual([])
    expect(found({ openCalls, lastLiveId: null } as never)).toEqual([])
    expect(
      found({
        openCalls,
        lastLiveId: 9,
        abandoned: sample(1),
        strayResults: sample(2),
      } as never)[0],
    ).toMatchObject({
      ...{
        title:
          'The live context holds 1 tool result without a call and 2 tool calls without a result',
      },
      ...{ rowCount: 3 },
    })
    const unreadable = { unreadableCalls: sample(3), strayResults: sample(2), abandoned: sample(1) }
    expect(found(unreadable as never)[0]).toMatchObject({
      rowCount: 1,
      facts: { strayResults: 0, openCalls: 1 },
    })
  })

  it('reports rows that occur twice, and rows without a session', () => {
    expect(found({ doubled: sample(4) })).toMatchObject([
      {
        ...{ kind: 'doubled-rows', title: '1 row stands twice in one live context', rowCount: 1 },
        ...{ sessionIds: ['a'], from: 40, to: 40, facts: { rows: 1 }, rows: [{ id: 4 }] },
      },
    ])
    const homeless = new Map([['gone', { count: 3, ids: [8] }]])
    expect(found({}, { survey: { homeless } })).toMatchObject([
      { kind: 'homeless-rows', sessionIds: ['gone'], rowCount: 3, from: 80, to: 80 },
    ])
  })

  it('notes copies in a session that continues another, and only there', () => {
    const carried = sample(4)
    expect(found({ carried })).toEqual([])
    const members = [surveyed('a', { session: CLOSED }), child('b', { carried })]
    expect(findTranscriptFaults(view(members))).toMatchObject([
      { kind: 'carried-over-rows', severity: 'note', sessionIds: ['b', 'a'], rowCount: 1 },
    ])
  })
})

describe('findRewrites', () => {
  const burst = {
    rows: 6,
    firstId: 20,
    lastId: 25,
    handoffId: 21,
    firstAt: 500,
    isAlone: true,
    hasTools: false,
  }
  const rewritten = (given: Given = {}, own: object = {}) =>
    surveyed('a', { firstId: 20, bornAfterId: 3, burst: { ...burst, ...own } as never, ...given })
  const found = (
    one: SessionSurvey,
    gone = 16,
    logged: readonly object[] = [],
    over: object = {},
  ) =>
    findRewrites(view([one], { ...over, survey: { missingBetween: () => gone } }), logged as never)

  it('notices a session that was deleted and written again', () => {
    expect(found(rewritten())).toMatchObject([
      {
        ...{ kind: 'destructive-rewrite', certainty: 'certain', from: 100, to: 500, rowCount: 6 },
        title: 'Up to 16 rows of a session were deleted, and 6 written in their place',
        rows: [{ id: 20 }, { id: 21 }, { id: 25 }],
        facts: {
          rowsGone: 16,
          isUpperBound: true,
          rowsGoneAtLeast: null,
          rowsWritten: 6,
          rewrittenAt: 500,
        },
      },
    ])
  })

  it.each<[string, SessionSurvey, number, 'certain' | 'suspected' | null]>([
    ['no run', surveyed('a'), 16, null],
    ['no missing ids', rewritten(), 0, 'suspected'],
    ['no missing ids and four rows', rewritten({}, { rows: 4 }), 0, null],
    ['no missing ids in a branch', rewritten({ session: { origin: 'branch' } }), 0, null],
    ['four rows', rewritten({}, { rows: 4 }), 16, 'suspected'],
    ['rows before it', rewritten({ firstId: 19 }), 16, 'suspected'],
    ['rows before it, and nothing missing', rewritten({ firstId: 19 }), 0, null],
    ['rows before it, and four in it', rewritten({ firstId: 19 }, { rows: 4 }), 16, null],
    ['one run of several', rewritten({}, { isAlone: false }), 16, null],
  ])('judges %s', (_, one, gone, certainty) => {
    expect(found(one, gone).map((each) => each.certainty)).toEqual(
      certainty === null ? [] : [certainty],
    )
  })

  it('finds none in an export', () => {
    expect(found(rewritten(), 16, [], { schema: { isExport: true } })).toEqual([])
  })

  it('reports a rewrite only in a continuation that started within 40 seconds', () => {
    const parent = surveyed('p', { session: { ...CLOSED, endedAt: 400 } })
    const of = (startedAt: number, gone = 16) => {
      const one = rewritten({ session: { parentId: 'p', startedAt } })
      return findRewrites(view([parent, one], { survey: { missingBetween: () => gone } }), [])
        .length
    }
    expect([of(440), of(441), of(440, 0)]).toEqual([1, 0, 0])
  })

  const logged = (changed: object = {}, at: number | null = 500) => [
    { done: { at, fact: { sessionId: 'a', after: 6, before: 10, ...changed } } },
  ]

  it.each<[string, readonly object[], number | null]>([
    ['the same moment', logged(), 10],
    ['a minute later', logged({}, 560), 10],
    ['more than a minute later', logged({}, 561), null],
    ['another time zone', logged({}, 500 + 2 * 3_600), 10],
    ['no time zone', logged({}, 500 + 15 * 3_600), null],
    ['an unknown time', logged({}, null), null],
    ['another session', logged({ sessionId: 'b' }), null],
    ['another size', logged({ after: 7 }), null],
    ['more messages than rows are gone', logged({ before: 17 }), null],
    ['as many messages as rows are gone', logged({ before: 16 }), 16],
  ])('takes the least number of deleted rows from the log: %s', (_, lines, atLeast) => {
    const [finding] = found(rewritten(), 16, lines)
    expect(finding?.facts).toMatchObject({ rowsGoneAtLeast: atLeast, isUpperBound: atLeast !== 16 })
    const title = atLeast === null ? 'Up to 16 rows' : atLeast === 16 ? '16 rows' : '10 to 16 rows'
    expect(finding?.title.startsWith(title)).toBe(true)
  })

  it('says when another session was rewritten meanwhile', () => {
    const other = (firstId: number, bornAfterId: number) =>
      surveyed('b', { firstId, bornAfterId, burst: { ...burst, firstId } as never })
    const isShared = (second: SessionSurvey) =>
      findRewrites(
        view([rewritten(), second], { survey: { missingBetween: () => 16 } }),
        [],
      )[0]?.explanation.includes('another session was rewritten meanwhile')
    expect([isShared(other(40, 19)), isShared(other(40, 20)), isShared(other(3, 1))]).toEqual([
      ...[true, false, false],
    ])
  })
})
