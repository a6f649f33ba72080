import { describe, expect, it } from 'vitest'
import type { NewAuditLine } from './log/line.ts'
import {
  type OperationFacts,
  type PictureFacts,
  type SessionFacts,
  SessionTrail,
} from './session-audit-writer.ts'

const IDLE: SessionFacts = {
  ...{ tail: 4, base: 2, effective: 2, mail: 3, turn: 1, turnState: 'idle' },
  delivered: { user: 1, notification: 0 },
}
const view = (session: Partial<SessionFacts> = {}, rest: Partial<PictureFacts> = {}) => ({
  ...{ session: { ...IDLE, ...session }, waiting: [], operations: [] },
  ...rest,
})
const compaction = (facts: Partial<OperationFacts> = {}): OperationFacts => ({
  ...{ id: 'c1', fence: 7, base: 2, trigger: 'background', by: 'model', reason: 'over the limit' },
  ...{ state: 'running', result: {} },
  ...facts,
})
const waiting = (lane: string, ...numbers: number[]) => numbers.map((number) => ({ number, lane }))

/** The lines that these calls write. */
function written(acts: (trail: SessionTrail) => void, abandoned: string | null = null) {
  const lines: NewAuditLine[] = []
  acts(new SessionTrail({ write: (line) => lines.push(line) }, LEASE, abandoned))
  return lines
}
const LEASE = { sessionId: 's', fence: 7 }
const ACQUIRED = { kind: 'lease acquired', ...LEASE, entry: 4, base: 2 }

/** The lines that the second view of two leads to. */
function between(
  before: PictureFacts,
  now: PictureFacts,
  act: (trail: SessionTrail) => void = () => {},
) {
  const [acquired, ...lines] = written((trail) => {
    trail.looked(before)
    act(trail)
    trail.looked(now)
  })
  expect(acquired).toMatchObject({ kind: 'lease acquired' })
  return lines
}

describe('the lines of one holder', () => {
  it('say under which fence it acquired and lost the session, and nothing after that', () => {
    const all = (trail: SessionTrail) => {
      trail.looked(view())
      trail.lost('shutdown')
      trail.lost('lost')
      trail.looked(view({ turn: 2, turnState: 'running' }))
      trail.shows(2, 4, { whole: [1], clipped: [] })
    }
    const lost = { kind: 'lease lost', ...LEASE, reason: 'shutdown' }
    expect(written(all)).toEqual([ACQUIRED, lost])
    expect(written((trail) => trail.lost('crashed'))).toEqual([])
  })

  it('say first how the compaction of the holder before ended, once', () => {
    const old = (result: OperationFacts['result']) =>
      compaction({ id: 'old', fence: 5, base: 1, state: 'abandoned', result })
    const after = (result: OperationFacts['result'], abandoned: string) =>
      written((trail) => {
        trail.looked(view({}, { operations: [compaction({ fence: 6 }), old(result)] }))
        trail.looked(view({}, { operations: [compaction({ fence: 6 }), old(result)] }))
      }, abandoned)
    const line = (reason: string) => ({
      ...{ kind: 'compaction abandoned', operationId: 'old', sessionId: 's', fence: 5, base: 1 },
      ...{ entry: 4, reason },
    })
    expect(after({ reason: 'its process ended' }, 'old')).toEqual([
      line('its process ended'),
      ACQUIRED,
    ])
    expect(after({ reason: 5 }, 'old')).toEqual([line('owner gone'), ACQUIRED])
    expect(after({}, 'unknown')).toEqual([ACQUIRED])
  })

  it('say which mail was delivered, by lane and in runs', () => {
    const mail = [
      ...[...waiting('user', 1, 2, 3), ...waiting('user', 5), ...waiting('user', 6, 7)],
      ...[...waiting('notification', 4, 8), ...waiting('control', 9)],
    ]
    const delivered = (user: number, notification: number) =>
      between(view({}, { waiting: mail }), view({ tail: 20, delivered: { user, notification } }))
    const line = (entry: number, from: number, to: number, reason: string) => ({
      ...{ kind: 'message delivered', ...LEASE, entry, mailbox: { from, to }, reason },
    })
    // Message 1 is before the cursor of its lane already.
    expect(delivered(6, 4)).toEqual([
      line(6, 2, 3, 'user'),
      line(8, 5, 6, 'user'),
      line(9, 4, 4, 'notification'),
    ])
    expect(delivered(1, 8)).toEqual([line(5, 4, 4, 'notification'), line(6, 8, 8, 'notification')])
    expect(delivered(1, 0)).toEqual([])
  })

  it.each<[string, Partial<SessionFacts>, Partial<SessionFacts>, readonly object[]]>([
    [
      'that starts',
      {},
      { turn: 2, turnState: 'running', tail: 5 },
      [{ kind: 'turn started', ...LEASE, operationId: 'turn-2', entry: 5, base: 2 }],
    ],
    ['that runs on', { turnState: 'running' }, { turnState: 'running', tail: 5 }, []],
    [
      'that ends',
      { turnState: 'running' },
      { tail: 6 },
      [
        {
          kind: 'turn ended',
          ...LEASE,
          operationId: 'turn-1',
          entry: 6,
          base: 2,
          reason: 'stopped',
        },
      ],
    ],
    [
      'that ends where the next one starts',
      { turnState: 'running' },
      { turn: 2, turnState: 'running', tail: 7, base: 3 },
      [
        {
          kind: 'turn ended',
          ...LEASE,
          operationId: 'turn-1',
          entry: 7,
          base: 3,
          reason: 'stopped',
        },
        { kind: 'turn started', ...LEASE, operationId: 'turn-2', entry: 7, base: 3 },
      ],
    ],
    ['that started and ended unseen', {}, { turn: 2 }, []],
    ['that rests', {}, { tail: 5 }, []],
  ])('say of a turn %s when and how', (_, before, now, lines) => {
    expect(between(view(before), view(now), (trail) => trail.endsTurn('stopped'))).toEqual(lines)
  })

  it('say that the end of a turn is unknown unless it was told before this very view', () => {
    const ended = (act: (trail: SessionTrail) => void) =>
      between(view({ turnState: 'running' }), view(), act).map(({ reason }) => reason)
    expect(ended(() => {})).toEqual(['unknown'])
    expect(ended((trail) => trail.endsTurn('answered'))).toEqual(['answered'])
    const late = (trail: SessionTrail) => {
      trail.endsTurn('answered')
      trail.looked(view({ turnState: 'running' }))
    }
    expect(ended(late)).toEqual(['unknown'])
  })

  it('say what was compacted, for how much waiting mail, and how it ended', () => {
    const ends = (state: OperationFacts['state'], result: OperationFacts['result']) =>
      written((trail) => {
        const context = { tokens: 900 }
        const mail = [...waiting('user', 5, 2), ...waiting('notification', 4)]
        trail.looked(view({}, { operations: [compaction()], waiting: mail, context }))
        trail.looked(view({ mail: 3 }, { operations: [compaction()], waiting: mail }))
        const [mails, tail] = [state === 'failed' ? 3 : 6, 8]
        const now = view({ mail: mails, tail }, { operations: [compaction({ state, result })] })
        trail.looked(now)
        trail.looked(now)
      }).slice(1)
    const identity = { operationId: 'c1', sessionId: 's', fence: 7, base: 2 }
    const started = {
      ...{ kind: 'compaction started', ...identity, entry: 4, mailbox: { from: 2, to: 5 } },
      ...{ trigger: 'background', by: 'model', tokensBefore: 900, reason: 'over the limit' },
    }
    const figures = { tokensBefore: 900, tokensAfter: 90, messagesBefore: 40, messagesAfter: 4 }
    const mailbox = { from: 4, to: 6 }
    expect(ends('committed', { entry: 7, ...figures })).toEqual([
      started,
      { kind: 'compaction committed', ...identity, entry: 7, mailbox, ...figures },
    ])
    expect(ends('committed', { tokensAfter: 'few' })).toEqual([
      started,
      { kind: 'compaction committed', ...identity, entry: 8, mailbox },
    ])
    const reason = 'the model was not reached'
    expect(ends('failed', { reason })).toEqual([
      started,
      { kind: 'compaction failed', ...identity, entry: 8, reason },
    ])
    expect(ends('superseded', {})).toEqual([
      started,
      { kind: 'compaction superseded', ...identity, entry: 8, mailbox, reason: 'superseded' },
    ])
    expect(ends('abandoned', {})).toEqual([started])
  })

  it('say the older of two compactions first, and nothing of those of other holders', () => {
    const operations = [
      compaction({ id: 'c3', trigger: 'manual' }),
      compaction({ id: 'c2', state: 'failed', result: { reason: 'late' } }),
      compaction({ id: 'c1', fence: 6 }),
    ]
    const lines = written((trail) => {
      for (let at = 0; at < 3; at++)
        trail.looked(view({}, { operations, waiting: waiting('user', 5) }))
    })
    const mailbox = { from: 5, to: 5 }
    expect(lines.map(({ kind, operationId, mailbox }) => [kind, operationId, mailbox])).toEqual([
      ['lease acquired', undefined, undefined],
      ['compaction started', 'c2', mailbox],
      ['compaction failed', 'c2', undefined],
      ['compaction started', 'c3', mailbox],
    ])
  })

  it('say which compaction was undone, after its end', () => {
    const operations = (state: OperationFacts['state']) => [compaction({ state })]
    const lines = between(
      view({ effective: 4, base: 4 }, { operations: operations('running') }),
      view({ effective: 2, base: 9, tail: 9 }, { operations: operations('superseded') }),
    )
    expect(lines.slice(1)).toEqual([
      expect.objectContaining({ kind: 'compaction superseded' }),
      { kind: 'compaction reverted', ...LEASE, entry: 9, base: 4 },
    ])
    expect(between(view({ effective: 4 }), view({ effective: 4, base: 9 }))).toEqual([])
    expect(between(view({ effective: 4 }), view({ effective: 9, base: 9 }))).toEqual([])
  })

  it('say what a context showed of unanswered mail, again only when that differs', () => {
    const lines = written((trail) => {
      trail.looked(view({ base: 2 }))
      trail.shows(1, 4, { whole: [3, 1, 2, 6], clipped: [] })
      trail.shows(1, 5, { whole: [1, 2, 3, 6], clipped: [] })
      trail.shows(1, 6, { whole: [1, 2, 3], clipped: [6] })
      trail.shows(2, 7, { whole: [1, 2, 3], clipped: [6] })
      trail.looked(view({ base: 5 }))
      trail.shows(2, 8, { whole: [1, 2, 3], clipped: [6] })
    })
    const whole = [{ from: 1, to: 3 }]
    const six = { from: 6, to: 6 }
    const line = (turn: number, entry: number, base: number, facts: object) => ({
      ...{ kind: 'context shown', ...LEASE, operationId: `turn-${turn}`, entry, base, ...facts },
    })
    expect(lines.slice(1)).toEqual([
      line(1, 4, 2, { whole: [...whole, six], clipped: [] }),
      line(1, 6, 2, { whole, clipped: [six] }),
      line(2, 7, 2, { whole, clipped: [six] }),
      line(2, 8, 5, { whole, clipped: [six] }),
    ])
    expect(written((trail) => trail.shows(1, 4, { whole: [], clipped: [] }))).toEqual([
      line(1, 4, 0, { whole: [], clipped: [] }),
    ])
  })
})
