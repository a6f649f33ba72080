import { describe, expect, it } from 'vitest'
import {
  acquired,
  admitted,
  compaction,
  created,
  delivered,
  judge,
  released,
  START,
  type Told,
  turn,
} from '../../../../../test/support/audit-lines.ts'
import { Prover, type Vouching } from './prover.ts'

describe('a whole log', () => {
  it('breaks no law, and its lines are counted', () => {
    const { broken, unproven, figures } = judge([
      ...START,
      admitted(1, 2),
      admitted(3, 3, 'notification'),
      admitted(4, 4, 'control'),
      delivered(3, 1, { to: 2 }),
      delivered(4, 3, { reason: 'notification' }),
      turn('started', 1, 4),
      turn('ended', 1, 5),
      compaction('started', { entry: 5 }),
      admitted(5),
      compaction('committed', { entry: 6, mailbox: { from: 5, to: 5 } }),
      delivered(7, 5),
      turn('started', 2, 7),
      turn('ended', 2, 8),
      released(),
      admitted(6, 8),
    ])
    expect([broken, unproven]).toEqual([[], []])
    expect(figures).toEqual({
      ...{ lines: 17, sessions: 1, compactions: 1, messages: 8, meanwhile: 1, waiting: 3 },
    })
  })
})

it('counts nothing before it has read a line', () => {
  expect(new Prover().figures).toEqual({
    ...{ lines: 0, sessions: 0, compactions: 0, messages: 0, meanwhile: 0, waiting: 0 },
  })
})

describe('births', () => {
  it.each<[string, readonly Told[], readonly string[]]>([
    ['none', [acquired()], ['births: no line records its creation [0:1]']],
    ['two', [created, created], ['births: it was born twice [0:1 0:2]']],
    [
      'many',
      [created, created, created, created],
      ['0:1 0:2', '0:1 0:2 0:3', '0:1 0:2 0:4'].map(
        (places) => `births: it was born twice [${places}]`,
      ),
    ],
    [
      'of another session',
      [created, ['lease acquired', { sessionId: 't', fence: 1, entry: 1 }]],
      ['births (t): no line records its creation [0:2]'],
    ],
    [
      'an unknown one',
      [['session created', { reason: 'found', entry: 1 }]],
      ['births: it was born in a way that does not exist [0:1]'],
    ],
    ...['created', 'afresh', 'imported', 'forked'].map(
      (reason) =>
        [reason, [['session created', { reason, entry: 1 }]], []] as [string, Told[], string[]],
    ),
  ])('%s', (_, lines, broken) => {
    expect(judge(lines).broken).toEqual(broken)
  })

  it('need no line if the store confirms them', () => {
    const store = (born: string): Vouching => ({
      isBorn: (id) => id === born,
      withdrawnFrom: () => [],
    })
    expect(judge([acquired()], store('s')).broken).toEqual([])
    expect(judge([acquired()], store('t')).broken).toHaveLength(1)
  })
})

describe('fences', () => {
  const other = { log: 'b' } as const

  it.each<[string, readonly Told[], readonly string[]]>([
    [
      'acquired twice',
      [created, acquired(), acquired(1, 1, other)],
      ['fences: fence 1 was acquired twice [0:2 1:3]'],
    ],
    [
      'acquired again and again',
      [created, acquired(), acquired(1, 1, other), acquired()],
      [
        'fences: fence 1 was acquired twice [0:2 1:3]',
        'fences: fence 1 was acquired twice [0:2 0:4]',
      ],
    ],
    [
      'between two acquisitions of another process',
      [...[...START, released(), acquired(2), released(2), acquired(3)], acquired(2, 1, other)],
      ['fences: fence 2 had two holders [1:7 0:2]'],
    ],
    [
      'at the first of two acquisitions of another process',
      [created, acquired(2), released(2), acquired(3), acquired(2, 1, other)],
      ['fences: fence 2 had two holders [1:5 0:2]'],
    ],
    [
      'given up again and used again',
      [...START, released(), acquired(2), released(2), turn('started', 1, 2, { fence: 2 })],
      ['fences: fence 2 was given up, and then used again [0:5 0:6]'],
    ],
    [
      'that go back in one log',
      [created, acquired(2), acquired(1)],
      ['fences: fence 1 was acquired after fence 2 [0:3]'],
    ],
    [
      'used after a newer one',
      [created, acquired(), acquired(3), turn('started', 1, 1)],
      ['fences: fence 1 was used after fence 3 was acquired [0:4]'],
    ],
    [
      'given up and used again',
      [...START, released(), turn('started', 1, 2)],
      ['fences: fence 1 was given up, and then used again [0:3 0:4]'],
    ],
    [
      'of another process',
      [...START, turn('started', 1, 2, other)],
      ['isolation: written by a process that never acquired it under fence 1 [1:3]'],
    ],
    [
      'that were never acquired',
      [created, turn('started', 1, 2)],
      ['isolation: written by a process that never acquired it under fence 1 [0:2]'],
    ],
    [
      'taken up again',
      [...START, released(), acquired(2), turn('started', 1, 2, { fence: 2 })],
      [],
    ],
  ])('%s', (_, lines, broken) => {
    expect(judge(lines).broken).toEqual(broken)
  })

  it('of one process share a summary if nothing happened in between, those of two never do', () => {
    const spans = (...lines: readonly Told[]) => [
      ...(judge(lines).prover.sessions.get('s')?.spans.keys() ?? []),
    ]
    expect(spans(...START, released(), acquired(2))).toEqual([2])
    expect(spans(...START, acquired(2))).toEqual([1, 2])
    expect(spans(...START, released(1, 'closing'), acquired(2))).toEqual([1, 2])
    expect(spans(...START, released(), acquired(2, 1, { log: 'b' }))).toEqual([1, 2])
    expect(spans(...START, turn('started', 1, 1), released(), acquired(2))).toEqual([1, 2])
    expect(spans(...START, compaction('started'), released(), acquired(2))).toEqual([1, 2])
    expect(spans(...START, released(), acquired(3))).toEqual([1, 3])
  })
})

describe('entries and bases', () => {
  it.each<[string, readonly Told[], readonly string[]]>([
    [
      'an entry that goes back',
      [created, acquired(1, 5), turn('started', 1, 4)],
      ['entries: entry 4 comes after entry 5 [0:2 0:3]'],
    ],
    [
      'an entry that two lines claim',
      [...START, delivered(2, 1), delivered(2, 2)],
      ['entries: entry 2 occurs twice [0:3 0:4]'],
    ],
    [
      'mail that takes more entries than there are',
      [...START, delivered(2, 1, { to: 2 })],
      ['entries: entry 1 occurs twice [0:2 0:3]'],
    ],
    ['mail that takes just as many', [...START, delivered(3, 1, { to: 2 })], []],
    [
      'a turn that starts at the entry before',
      [...START, delivered(2, 1), turn('started', 1, 2)],
      [],
    ],
    [
      'a new holder that begins before the last entry',
      [created, acquired(1, 5), acquired(2, 4, { log: 'b' })],
      ['entries: fence 2 begins at entry 4, fence 1 was at 5 [0:2 1:3]'],
    ],
    [
      'the same holder that begins before its last entry',
      [created, acquired(1, 5), released(), acquired(2, 4)],
      ['entries: entry 4 comes after 5 [0:3 0:4]'],
    ],
    [
      'the same holder that begins before where it had begun again',
      [created, acquired(1, 5), released(), acquired(2, 7), released(2), acquired(3, 6)],
      ['entries: entry 6 comes after 7 [0:5 0:6]'],
    ],
    [
      'entries that go back twice',
      [
        ...START,
        turn('started', 1, 5),
        compaction('started', { entry: 3 }),
        compaction('failed', { entry: 4 }),
      ],
      [
        'entries: entry 3 comes after entry 5 [0:3 0:4]',
        'entries: entry 4 comes after entry 5 [0:4 0:5]',
      ],
    ],
    [
      'an entry before where the same holder began again',
      [...START, released(), acquired(2, 5), turn('started', 1, 4, { fence: 2 })],
      ['entries: entry 4 comes after entry 5 [0:4 0:5]'],
    ],
    [
      'an entry that was there when the same holder began again',
      [...START, released(), acquired(2, 7), delivered(7, 1, { fence: 2 })],
      ['entries: entry 7 occurs twice [0:4 0:5]'],
    ],
    [
      'a base that the same holder found when it began again',
      [
        ...[created, acquired(1, 9, { base: 3 }), released(), acquired(2, 9, { base: 5 })],
        compaction('started', { base: 4, entry: 9, fence: 2 }),
      ],
      ['bases: c1 starts from entry 4, but entry 5 is newer [0:5]'],
    ],
    [
      'a compaction from the base before the last one',
      [
        ...[...START, compaction('started'), compaction('committed', { entry: 5 })],
        compaction('started', { operationId: 'c2', base: 4, entry: 5 }),
      ],
      ['bases: c2 starts from entry 4, but entry 5 is newer [0:5]'],
    ],
    [
      'a compaction from the base that a failed one left',
      [
        ...[...START, compaction('started'), compaction('failed', { entry: 5 })],
        compaction('started', { operationId: 'c2', base: 0, entry: 5 }),
      ],
      [],
    ],
    [
      'a base that the next holder does not know',
      [created, acquired(1, 1, { base: 3 }), acquired(2, 1, { base: 2, log: 'b' })],
      ['bases: entry 3 was the base, then 2 [0:2 1:3]'],
    ],
    [
      'a base that the same holder forgot',
      [created, acquired(1, 1, { base: 3 }), released(), acquired(2, 1, { base: 2 })],
      ['bases: entry 3 was the base, then 2 [0:3 0:4]'],
    ],
    [
      'a compaction from an older base',
      [created, acquired(1, 9, { base: 4 }), compaction('started', { base: 3, entry: 9 })],
      ['bases: c1 starts from entry 3, but entry 4 is newer [0:3]'],
    ],
    [
      'a compaction from the base that was reverted to',
      [
        created,
        acquired(1, 9, { base: 4 }),
        ['compaction reverted', { entry: 10, fence: 1 }],
        compaction('started', { base: 9, entry: 10 }),
      ],
      ['bases: c1 starts from entry 9, but entry 10 is newer [0:4]'],
    ],
  ])('%s', (_, lines, broken) => {
    expect(judge(lines).broken.filter((each) => /^(?:entries|bases)/.test(each))).toEqual(broken)
  })
})

describe('compactions', () => {
  it.each<[string, readonly Told[], readonly string[]]>([
    [
      'that overlap',
      [
        ...START,
        compaction('started'),
        compaction('started', { operationId: 'c2' }),
        compaction('failed'),
        compaction('failed', { operationId: 'c2' }),
      ],
      ['overlap: c2 started while c1 ran [0:3 0:4]'],
    ],
    [
      'that another one replaces',
      [
        ...[...START, compaction('started'), compaction('started', { operationId: 'c2' })],
        compaction('failed', { operationId: 'c2' }),
      ],
      ['endings: c1 never ended [0:3]', 'overlap: c2 started while c1 ran [0:3 0:4]'],
    ],
    [
      'that start while one runs, after the end of another',
      [
        ...[...START, compaction('started'), compaction('failed', { operationId: 'c2' })],
        compaction('started', { operationId: 'c3' }),
      ],
      [
        'endings: c1 never ended [0:3]',
        'endings: c2 ended without having started [0:4]',
        'overlap: c3 started while c1 ran [0:3 0:5]',
      ],
    ],
    [
      'under another fence',
      [...START, compaction('started'), acquired(2), compaction('failed', { fence: 2 })],
      ['identity: the fence of c1 was 1 and then 2 [0:3 0:5]'],
    ],
    [
      'of two bases that only end',
      [...START, compaction('failed'), compaction('failed', { base: 1 })],
      [
        'identity: the base of c1 was 0 and then 1 [0:3 0:4]',
        'endings: c1 ended twice [0:3 0:4]',
        'endings: c1 ended without having started [0:3]',
      ],
    ],
    [
      'that start twice',
      [...START, compaction('started'), compaction('failed'), compaction('started')],
      ['endings: c1 started twice [0:3 0:5]'],
    ],
    [
      'that end twice',
      [...START, compaction('started'), compaction('failed'), compaction('superseded')],
      ['endings: c1 ended twice [0:4 0:5]'],
    ],
    [
      'that only end',
      [...START, compaction('failed')],
      ['endings: c1 ended without having started [0:3]'],
    ],
    [
      'that never end before a release',
      [...START, compaction('started'), released()],
      ['endings: c1 never ended [0:3]'],
    ],
    ['that still run', [...START, compaction('started')], []],
    [
      'of another session',
      [
        ...START,
        compaction('started'),
        ['session created', { sessionId: 't', reason: 'created', entry: 1 }],
        acquired(1, 1, { sessionId: 't' }),
        compaction('committed', { sessionId: 't', entry: 2 }),
      ],
      ['identity: the session of c1 was s and then t [0:3 0:6]'],
    ],
    [
      'under another base',
      [...START, compaction('started', { base: 1 }), compaction('failed', { base: 0 })],
      ['identity: the base of c1 was 1 and then 0 [0:3 0:4]'],
    ],
  ])('%s', (_, lines, broken) => {
    expect(judge(lines).broken).toEqual(broken)
  })

  it('of two holders do not overlap', () => {
    const lines = [
      created,
      acquired(),
      compaction('started', { entry: 1 }),
      compaction('committed', { entry: 4 }),
      acquired(2, 4, { log: 'b', base: 4 }),
    ]
    const second = (entry: number) =>
      compaction('started', { operationId: 'c2', entry, base: 4, fence: 2, log: 'b' })
    const overlaps = (...told: readonly Told[]) =>
      judge(told).broken.filter((each) => each.startsWith('overlap'))
    expect(overlaps(...lines, second(4))).toEqual([])
    expect(overlaps(...lines, second(3))).toEqual([
      'overlap: compactions under fences 1 and 2 [0:4 1:5]',
    ])
  })

  it.each([
    ['preflight', 'model', true],
    ['preflight', 'rewrite', true],
    ['reactive', 'model', true],
    ['reactive', 'digest', false],
    ['preflight', 'clearing', false],
    ['background', 'model', false],
    ['idle', 'rewrite', false],
  ] as const)('started as %s and written by %s: the turn waits: %s', (trigger, by, waits) => {
    const started = (reason: string) =>
      judge([...START, compaction('started', { trigger, by, reason })])
    const broken = waits ? ['prompt: a turn waited for the model of c1 [0:3]'] : []
    expect(started('the next step does not fit')).toMatchObject({ broken, unproven: [] })
    expect(started('the next step does not fit; waiting for a model is configured').broken).toEqual(
      [],
    )
    expect(
      judge([...START, compaction('started'), compaction('failed', { trigger, by })]).broken,
    ).toEqual([])
  })

  it('are unproven if a process died', () => {
    const next = acquired(2, 1, { log: 'b' })
    expect(judge([...START, compaction('started'), next])).toMatchObject({
      ...{ broken: [], unproven: ['endings 1 the end of c1'] },
    })
    const abandoned = compaction('abandoned', { log: 'b', fence: 1 })
    expect(judge([...START, next, abandoned])).toMatchObject({
      ...{ broken: [], unproven: ['endings 1 the start of c1'] },
    })
    expect(judge([...START, released(), next, abandoned]).broken).toEqual([
      'endings: c1 ended without having started [1:5]',
    ])
    expect(judge([...START, compaction('started'), next, abandoned])).toMatchObject({
      ...{ broken: [], unproven: [] },
    })
  })
})

describe('turns', () => {
  const next = (entry = 1) => acquired(2, entry, { log: 'b' })
  const own = { log: 'b', fence: 2 } as const

  it.each<[string, readonly Told[], readonly string[], readonly string[]]>([
    [
      'that start before the last ended',
      [...START, turn('started', 1, 1), turn('started', 2, 1)],
      ['endings: turn-1 never ended, and turn-2 started [0:3 0:4]'],
      [],
    ],
    [
      'that end as another one',
      [...START, turn('started', 1, 1), turn('ended', 2, 2)],
      ['identity: turn-1 started, and turn-2 ended [0:3 0:4]'],
      [],
    ],
    [
      'that end a second time',
      [...START, turn('started', 1, 1), turn('ended', 1, 2), turn('ended', 1, 3)],
      ['endings: turn-1 ended without having started [0:5]'],
      [],
    ],
    [
      'that only end',
      [...START, turn('ended', 1, 2)],
      ['endings: turn-1 ended without having started [0:3]'],
      [],
    ],
    [
      'that only end, twice',
      [...START, turn('ended', 1, 2), turn('ended', 2, 3)],
      [
        'endings: turn-2 ended without having started [0:4]',
        'endings: turn-1 ended without having started [0:3]',
      ],
      [],
    ],
    [
      'that the holder after the next one ends',
      [
        ...[...START, turn('started', 1, 1), next(), acquired(3, 1, { log: 'c' })],
        turn('ended', 1, 2, { log: 'c', fence: 3 }),
      ],
      [],
      [],
    ],
    [
      'that only end, after a holder that ended its own',
      [
        ...[...START, next(), turn('started', 1, 1, own), turn('ended', 1, 2, own)],
        ...[released(2, 'released', { log: 'b' }), acquired(3, 2, { log: 'c' })],
        turn('ended', 5, 3, { log: 'c', fence: 3 }),
      ],
      ['endings: turn-5 ended without having started [1:8]'],
      [],
    ],
    [
      'that the next holder ends',
      [...START, turn('started', 1, 1), next(), turn('ended', 1, 2, own)],
      [],
      [],
    ],
    [
      'that the next holder ends, without a line for their start',
      [...START, next(), turn('ended', 1, 2, own)],
      [],
      ['endings 1 the start of turn-1'],
    ],
    [
      'that the next holder leaves behind',
      [...START, turn('started', 1, 1), next(), turn('started', 2, 2, own)],
      [],
      ['endings 1 the end of turn-1'],
    ],
    [
      'that were left behind at a release',
      [...START, turn('started', 1, 1), released(), next(), turn('started', 2, 2, own)],
      ['endings: turn-1 never ended [0:3 1:6]'],
      [],
    ],
  ])('%s', (_, lines, broken, unproven) => {
    expect(judge(lines)).toMatchObject({ broken, unproven })
  })
})
