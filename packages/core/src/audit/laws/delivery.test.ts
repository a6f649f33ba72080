import { describe, expect, it } from 'vitest'
import {
  acquired,
  admitted,
  compaction,
  created,
  delivered,
  type Facts,
  judge,
  released,
  START,
  type Told,
  turn,
} from '../../../../../test/support/audit-lines.ts'

describe('delivery', () => {
  const other = { log: 'b', fence: 2 } as const
  const next = (entry: number) => acquired(2, entry, { log: 'b' })

  it.each<[string, readonly Told[], readonly string[]]>([
    [
      'of mail admitted twice',
      [...START, admitted(1), admitted(1)],
      ['delivery: message 1 was admitted twice [] of 1'],
    ],
    [
      'of mail admitted in two lanes',
      [...START, admitted(1, 2), admitted(2, 2, 'control')],
      ['delivery: message 2 was admitted twice [] of 2'],
    ],
    [
      'that passes over a message',
      [...START, admitted(1, 2), delivered(2, 2)],
      ['delivery: message 1 (user) was passed over: 2 was delivered [] of 1'],
    ],
    [
      'that passes over one that was withdrawn',
      [
        ...START,
        admitted(1, 2),
        ['message withdrawn', { mailbox: { from: 1, to: 1 } }],
        delivered(2, 2),
      ],
      [],
    ],
    [
      'that comes again',
      [...START, admitted(1), delivered(2, 1), delivered(3, 1)],
      ['delivery: message 1 comes after message 1, or twice [0:5]'],
    ],
    [
      'that another holder repeats',
      [...START, admitted(1, 2), delivered(3, 1, { to: 2 }), next(3), delivered(4, 2, other)],
      ['delivery: message 2 comes after message 2, or twice [1:6]'],
    ],
    [
      'that another holder continues',
      [...START, admitted(1, 2), delivered(2, 1), next(2), delivered(3, 2, other)],
      [],
    ],
    [
      'of a lane that is never delivered',
      [...START, delivered(2, 1, { reason: 'control' })],
      ['delivery: mail of a lane that is never delivered [0:3]'],
    ],
  ])('%s', (_, lines, broken) => {
    expect(judge(lines).broken).toEqual(broken)
  })

  it('may pass over a message that the store knows as withdrawn', () => {
    const store = { isBorn: () => true, withdrawnFrom: () => [{ from: 1, to: 1 }] }
    expect(judge([...START, admitted(1, 2), delivered(2, 2)], store).broken).toEqual([])
  })

  it('is unproven if a process died between a commit and its line', () => {
    const lines = (grown: number) => [
      ...[...START, admitted(1, 2)],
      ...[next(grown), delivered(grown + 1, 2, other)],
    ]
    expect(judge(lines(2))).toMatchObject({
      ...{ broken: [], unproven: ['delivery 1 message 1 of s'] },
    })
    const passed = ['delivery: message 1 (user) was passed over: 2 was delivered [] of 1']
    expect(judge(lines(1)).broken).toEqual(passed)
    const clean = [...START, admitted(1, 2), released(), next(2), delivered(3, 2, other)]
    expect(judge(clean).broken).toEqual(passed)
  })

  it('is not excused by a death if a later holder delivered an earlier message', () => {
    const lines = [
      ...[...START, admitted(1, 3), next(2), delivered(3, 1, other)],
      released(2, 'released', { log: 'b' }),
      acquired(3, 3, { log: 'c' }),
      delivered(4, 3, { log: 'c', fence: 3 }),
    ]
    expect(judge(lines).broken).toEqual([
      'delivery: message 2 (user) was passed over: 3 was delivered [] of 2',
    ])
  })

  it('is excused by a death that clean holders followed, and by none within one holder', () => {
    const dead = [...START, admitted(1, 3)]
    const [b, c] = [{ log: 'b' } as const, { log: 'c', fence: 3 } as const]
    const clean = [next(2), released(2, 'released', b), acquired(3, 2, { log: 'c' })]
    const unproven = ['delivery 1 message 1 of s']
    expect(judge([...dead, ...clean, delivered(3, 2, c)])).toMatchObject({ broken: [], unproven })
    const both = [next(2), delivered(3, 1, other), delivered(4, 3, other)]
    expect(judge([...dead, ...both]).broken).toEqual([
      'delivery: message 2 (user) was passed over: 3 was delivered [] of 2',
    ])
  })

  it('counts the messages that wait after the last delivered one', () => {
    const waiting = (...lines: readonly Told[]) => judge([...START, ...lines]).figures.waiting
    expect(waiting(admitted(1, 3))).toBe(3)
    expect(waiting(admitted(1, 3), delivered(2, 1))).toBe(2)
    expect(waiting(admitted(1, 3), delivered(4, 1, { to: 3 }))).toBe(0)
    expect(waiting(admitted(1, 3), ['message withdrawn', { mailbox: { from: 3, to: 3 } }])).toBe(2)
    expect(waiting(admitted(1, 2), admitted(3, 4, 'notification'))).toBe(4)
    expect(waiting(admitted(1, 2, 'control'))).toBe(0)
    expect(waiting(admitted(1, 2, 'of no lane'))).toBe(0)
    expect(waiting(admitted(1, 4), delivered(2, 2), delivered(3, 4))).toBe(0)
  })

  const compacted = [
    ...START,
    admitted(1),
    delivered(2, 1),
    turn('started', 1, 2),
    turn('ended', 1, 3),
    compaction('started', { entry: 3 }),
    admitted(2, 3),
    compaction('committed', { entry: 4, mailbox: { from: 2, to: 3 } }),
  ]

  it('requires the next turn to take a message that arrived during a compaction', () => {
    const left = 'arrived during a compaction, and the next turn did not take it'
    const answered = (...lines: readonly Told[]) => judge([...compacted, ...lines]).broken
    expect(answered(turn('started', 2, 4), turn('ended', 2, 5))).toEqual([
      `delivery: message 2 ${left} [0:9 0:11] of 2`,
    ])
    const both = delivered(6, 2, { to: 3 })
    expect(answered(both, turn('started', 2, 6), turn('ended', 2, 7))).toEqual([])
    // Delivering some of it is enough: the rest may not have fitted.
    expect(answered(delivered(5, 2), turn('started', 2, 5), turn('ended', 2, 6))).toEqual([])
    const failed = turn('ended', 2, 5, { reason: 'failed' })
    expect(answered(turn('started', 2, 4), failed)).toEqual([])
    const gone: Told = ['message withdrawn', { mailbox: { from: 2, to: 3 } }]
    expect(answered(gone, turn('started', 2, 4), turn('ended', 2, 5))).toEqual([])
    const withdrawn: Told = ['message withdrawn', { mailbox: { from: 2, to: 2 } }]
    expect(answered(withdrawn, turn('started', 2, 4), turn('ended', 2, 5))).toEqual([
      `delivery: message 3 ${left} [0:9 0:12] of 3`,
    ])
  })
})

describe('mail that arrived during a compaction', () => {
  const during = (mailbox: Facts['mailbox'], entry = 2) =>
    compaction('committed', { entry, ...(mailbox !== undefined && { mailbox }) })
  const left = (number: number, places: string) =>
    `delivery: message ${number} arrived during a compaction, and the next turn did not take it [${places}] of ${number}`
  const answers = (number: number, entry: number) => [
    turn('started', number, entry),
    turn('ended', number, entry + 1),
  ]
  const first = [...START, compaction('started')]
  const second = { from: 2, to: 3 }
  const running = [
    ...[...START, admitted(1), delivered(2, 1), turn('started', 1, 2)],
    ...[compaction('started', { entry: 2 }), admitted(2, 3)],
  ]

  it.each<[string, readonly Told[], readonly string[]]>([
    [
      'is due in the first turn of a holder, too',
      [...first, admitted(1), during({ from: 1, to: 1 }), ...answers(1, 2)],
      [left(1, '0:5 0:7')],
    ],
    ['may be none', [...first, during(undefined), ...answers(1, 2)], []],
    [
      'may be notifications, which can wait',
      [...first, admitted(1, 1, 'notification'), during({ from: 1, to: 1 }), ...answers(1, 2)],
      [],
    ],
    [
      'is due in the turn after the one that runs',
      [...running, during(second, 3), turn('ended', 1, 4), ...answers(2, 5)],
      [left(2, '0:8 0:11')],
    ],
    [
      'is not due in the turn that begins with the end of the one before',
      [...running, during(second, 3), turn('ended', 1, 4), ...answers(2, 4), ...answers(3, 6)],
      [left(2, '0:8 0:13')],
    ],
    [
      'may have been taken by the turn that ran',
      [
        ...[...running, delivered(4, 2, { to: 3 }), during(second, 5)],
        ...[turn('ended', 1, 6), ...answers(2, 7)],
      ],
      [],
    ],
    [
      'may have been taken in part by the turn that ran',
      [
        ...[...running, delivered(3, 2), during(second, 4)],
        ...[turn('ended', 1, 5), ...answers(2, 6)],
      ],
      [left(3, '0:9 0:12')],
    ],
  ])('%s', (_, lines, broken) => {
    expect(judge(lines).broken).toEqual(broken)
  })
})

describe('an unanswered message', () => {
  const shown = (entry: number, facts: Facts): Told => [
    'context shown',
    { operationId: 'turn-1', entry, base: 0, fence: 1, ...facts },
  ]
  const open = [...START, admitted(1, 2), delivered(3, 1, { to: 2 }), turn('started', 1, 3)]
  const unanswered = (lines: readonly Told[]) =>
    judge(lines).broken.filter((each) => each.startsWith('unanswered'))
  const lacks = (number: number) =>
    `unanswered: message ${number} is unanswered, and a context of turn-1 lacks it [0:6]`

  it.each<[string, number, Facts, readonly string[]]>([
    ['whole', 3, { whole: [{ from: 1, to: 2 }] }, []],
    ['missing', 3, { whole: [{ from: 1, to: 1 }] }, [lacks(2)]],
    ['missing at the start', 3, { whole: [{ from: 2, to: 2 }] }, [lacks(1)]],
    ['of which the context says nothing', 3, {}, []],
    ['that is not in the context yet', 2, { whole: [{ from: 1, to: 1 }] }, []],
    [
      'shortened beside others',
      3,
      { whole: [{ from: 1, to: 1 }], clipped: [{ from: 2, to: 2 }] },
      [
        'unanswered: message 2 is unanswered and was shortened although other messages were present [0:6]',
      ],
    ],
    [
      'shortened beside another one that was',
      3,
      { whole: [], clipped: [{ from: 1, to: 2 }] },
      [
        'unanswered: message 1 is unanswered and was shortened although other messages were present [0:6]',
      ],
    ],
    ['shortened and alone', 2, { whole: [], clipped: [{ from: 1, to: 1 }] }, []],
  ])('%s', (_, entry, facts, broken) => {
    expect(unanswered([...open, shown(entry, facts)])).toEqual(broken)
  })

  it('counts as answered only by a turn whose context contained it', () => {
    const later = (upto: number, reason = 'answered') =>
      unanswered([
        ...open,
        shown(upto, { whole: [{ from: 1, to: upto - 1 }] }),
        turn('ended', 1, 4, { reason }),
        turn('started', 2, 4),
        shown(4, { operationId: 'turn-2', whole: [] }),
      ])
    expect(later(3)).toEqual([])
    expect(later(2)).toEqual([
      'unanswered: message 1 is unanswered, and a context of turn-2 lacks it [0:9]',
    ])
    expect(later(2, 'failed')).toEqual([])
    const unseen = [
      ...[created, acquired(1, 0), admitted(1), delivered(1, 1), turn('started', 1, 1)],
      ...[turn('ended', 1, 2), turn('started', 2, 2)],
      shown(2, { operationId: 'turn-2', whole: [] }),
    ]
    expect(unanswered(unseen)).toEqual([
      'unanswered: message 1 is unanswered, and a context of turn-2 lacks it [0:8]',
    ])
  })
})
