import { beforeAll, describe, expect, it } from 'vitest'
import { auditedStore } from '../../../../test/support/audit/audited.ts'
import {
  acquired,
  admitted,
  compaction,
  created,
  delivered,
  type Facts,
  released,
  START,
  type Told,
} from '../../../../test/support/audit-lines.ts'
import { mailNumber } from '../base/ids.ts'
import { StoreFixture } from '../store/contract-suite/bench.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import type { AuditRow, SessionRow } from '../store/tables/rows.ts'
import { STORE_LAWS } from './laws/laws.ts'
import { Prover } from './laws/prover.ts'
import type { AuditLine, NewAuditLine } from './log/line.ts'
import { EvidenceCheck, type StoreEvidence } from './store-evidence.ts'

interface Life {
  readonly lines: readonly NewAuditLine[]
  readonly rows: readonly AuditRow[]
  readonly sessions: readonly SessionRow[]
}

/** Two messages, an answer, a compaction: the log that the process wrote, and the store's rows. */
async function liveOnce(): Promise<Life> {
  const lines: NewAuditLine[] = []
  const store = auditedStore(openMemoryStore(), { write: (line) => lines.push(line) })
  const fixture = await StoreFixture.open(store)
  const look = async () => {
    await store.findSession(fixture.id)
    for (const lane of ['user', 'notification'] as const) {
      await store.listMail({ sessionId: fixture.id, lane, state: 'pending', limit: 100 })
    }
  }
  await look()
  await fixture.admit('one')
  await fixture.admit('two')
  await look()
  await fixture.deliver(mailNumber(1), mailNumber(2))
  await look()
  await fixture.reply('said', { ends: 'answered' })
  await look()
  const operation = await fixture.claim(2)
  await look()
  await fixture.commit(operation)
  await look()
  const rows = await store.readAudit({ after: 0, limit: 100 })
  return { lines, rows, sessions: await store.listSessions({ limit: 10 }) }
}

interface Held extends Omit<Life, 'lines'> {
  readonly lines: readonly AuditLine[]
  readonly problems?: Awaited<ReturnType<StoreEvidence['verify']>>
}

/** Every finding, if the store holds this and the logs that, and how far the reading was told. */
async function check({ lines, rows, sessions, problems = [] }: Held) {
  const prover = new Prover()
  for (const line of lines) {
    prover.read({ line, mark: { file: line.log === 'a' ? 0 : 1, line: line.line } })
  }
  const progress: number[] = []
  const evidence = new EvidenceCheck(
    {
      readAudit: async ({ after, limit }) =>
        rows.filter(({ cursor }) => cursor > after).slice(0, limit),
      // A page may hold fewer than were asked for.
      listSessions: async ({ after, limit }) => {
        const next = sessions.findIndex(({ id }) => id === after) + 1
        return sessions.slice(next, next + Math.min(limit, 1))
      },
      verify: async () => problems,
    },
    prover,
  )
  await evidence.run((read) => progress.push(read))
  const { findings } = prover
  const broken = STORE_LAWS.flatMap((law) =>
    findings.kept(law).map(({ problem, sessionId, marks, mail }) => {
      const places = marks.map(({ file, line }) => `${file}:${line}`).join(' ')
      const of = mail === undefined ? '' : ` of ${mail}`
      return `${law} (${sessionId}): ${problem} [${places}]${of}`
    }),
  )
  const open = [...findings.unproven].map(([law, { count, first }]) => `${law} ${count} ${first}`)
  return { broken, open, progress, evidence, prover }
}

/** The same of a life, with plain names for its session and compaction. */
async function findingsOf({ lines, rows, sessions }: Life) {
  const numbered = lines.map((facts, at) => ({ ...facts, log: 'a', line: at + 1, time: '' }))
  const { broken, open } = await check({ lines: numbered, rows, sessions })
  const [{ sessionId } = expect.fail('no row')] = life.rows
  const operation = life.rows.find(({ kind }) => kind === 'compaction started')?.operation ?? ''
  const plain = (text: string) => text.replaceAll(sessionId, 's').replaceAll(operation, 'c1')
  return { broken: broken.map(plain), open: open.map(plain) }
}

let life: Life
beforeAll(async () => {
  life = await liveOnce()
})

const without = (kind: string) => (each: { readonly kind: string }) => each.kind !== kind

describe('a store compared with its logs', () => {
  it('has no findings if both agree', async () => {
    expect(await findingsOf(life)).toEqual({ broken: [], open: [] })
  })

  it('has no findings while a compaction runs', async () => {
    const isBefore = without('compaction committed')
    const sessions = life.sessions.map((row) => ({ ...row, tail: 4 as never }))
    const running = { rows: life.rows.filter(isBefore), lines: life.lines.filter(isBefore) }
    expect(await findingsOf({ ...running, sessions })).toEqual({ broken: [], open: [] })
  })

  it.each(['compaction started', 'compaction committed'])(
    'leaves a law unproven if a process may have died before it wrote “%s”',
    async (kind) => {
      const lines = life.lines.filter(without(kind))
      const state = kind.slice('compaction '.length)
      const unproven = [`store-operations 1 c1 ${state}`]
      expect(await findingsOf({ ...life, lines })).toEqual({ broken: [], open: unproven })
    },
  )

  const changes: readonly (readonly [string, readonly string[], (life: Life) => Partial<Life>])[] =
    [
      [
        'an older fence',
        ['store-sessions (s): its fence is 1 in the log and 0 in the store [0:2]'],
        ({ sessions }) => ({ sessions: sessions.map((row) => ({ ...row, fence: 0 as never })) }),
      ],
      [
        'fewer entries',
        ['store-transcript (s): its newest entry is 5 in the log and 2 in the store [0:9]'],
        ({ sessions }) => ({ sessions: sessions.map((row) => ({ ...row, tail: 2 as never })) }),
      ],
      [
        'no such session',
        ['store-sessions (s): it is not in the store [0:1]'],
        () => ({ sessions: [] }),
      ],
      [
        'no birth of the session',
        ['store-sessions (s): the store has no row for its creation []'],
        ({ rows }) => ({ rows: rows.filter(without('session created')) }),
      ],
      [
        'no start of a compaction',
        [
          'store-operations (s): the store has no start of c1 [0:8]',
          'store-operations (null): c1 ended in the store without a start []',
        ],
        ({ rows }) => ({ rows: rows.filter(without('compaction started')) }),
      ],
      [
        'no end of a compaction',
        ['store-operations (s): the store has no end of c1 [0:9]'],
        ({ rows }) => ({ rows: rows.filter(without('compaction committed')) }),
      ],
      [
        'no acknowledged message',
        ['store-messages (s): message 1 was acknowledged and is not in the store [] of 1'],
        ({ rows }) => ({ rows: rows.filter(without('message admitted')) }),
      ],
      [
        'no delivery',
        ['store-messages (s): message 1 was delivered by the log and not by the store [] of 1'],
        ({ rows }) => ({ rows: rows.filter(without('message delivered')) }),
      ],
      [
        'a message that was passed over',
        ['store-messages (s): message 1 (user) was passed over in the store [] of 1'],
        ({ rows, lines }) => ({
          lines: lines.filter(without('message delivered')),
          rows: rows.map((row) =>
            row.kind === 'message delivered' ? { ...row, facts: { ...row.facts, mail: [2] } } : row,
          ),
        }),
      ],
    ]
  it.each(changes)('is found to have %s', async (_, broken, change) => {
    expect(await findingsOf({ ...life, ...change(life) })).toEqual({ broken, open: [] })
  })
})

describe('rows of a store that no process would write, or that only some logs know', () => {
  type Row = readonly [kind: AuditRow['kind'], facts?: AuditRow['facts'], id?: string | null]

  /** The rows of session s, in this order, and lines about it. */
  async function compare(
    rows: readonly Row[],
    lines: readonly Told[],
    {
      ids = ['s'],
      tail = 99,
      ...others
    }: { ids?: readonly string[]; tail?: number } & Partial<Pick<Held, 'problems'>> = {},
  ) {
    return await check({
      ...others,
      lines: lines.map(([kind, facts = {}], at) => ({
        ...{ log: 'a', line: at + 1, time: '', kind, sessionId: 's', ...facts },
      })),
      rows: rows.map(([kind, facts = {}, id = null], at) => ({
        ...{ cursor: at + 1, at: 0, kind, facts, operation: id, phase: null, hash: '' },
        sessionId: facts['of'] ?? 's',
      })) as unknown as readonly AuditRow[],
      sessions: ids.map((id) => ({ id, fence: 9, tail })) as unknown as readonly SessionRow[],
    })
  }

  const born: Row = ['session created', { birth: 'created', entry: 0 }]
  const starts = (id: string, facts: AuditRow['facts'] = {}): Row => [
    'compaction started',
    { fence: 1, base: 0, ...facts },
    id,
  ]
  const ends = (id: string, state: string, facts: AuditRow['facts'] = {}): Row => [
    `compaction ${state}` as AuditRow['kind'],
    { fence: 1, base: 0, ...facts },
    id,
  ]
  const ran = [...START, compaction('started'), compaction('failed', { entry: 2 })] as const
  const committed = (facts: Facts = {}) => compaction('committed', { entry: 5, ...facts })
  const seen = (upto: number): Row => ['step committed', { upto }]

  it.each<[string, readonly Row[], readonly Told[], readonly string[], readonly string[]]>([
    [
      'two compactions at once',
      [born, starts('c1'), starts('c2'), ends('c2', 'failed'), ends('c1', 'failed')],
      [
        ...ran,
        compaction('started', { operationId: 'c2' }),
        compaction('failed', { operationId: 'c2' }),
      ],
      ['store-operations (s): c2 started in the store while c1 ran []'],
      [],
    ],
    [
      'a compaction that ran on under the next fence',
      [born, starts('c1'), ['lease acquired', { fence: 2 }], starts('c2'), ends('c2', 'failed')],
      [
        ...[...START, compaction('started')],
        compaction('started', { operationId: 'c2' }),
        compaction('failed', { operationId: 'c2' }),
      ],
      ['store-operations (s): c1 ran on when fence 2 was acquired []'],
      [],
    ],
    [
      'another fence, base and end than the log',
      [born, starts('c1', { fence: 2, base: 3 }), ends('c1', 'superseded')],
      ran,
      [
        'store-operations (s): the fence of c1 is 1 in the log and 2 in the store [0:3]',
        'store-operations (s): the base of c1 is 0 in the log and 3 in the store [0:3]',
        'store-operations (s): the end of c1 is failed in the log and superseded in the store [0:4]',
      ],
      [],
    ],
    [
      'another session and entry than the log',
      [
        born,
        ['session created', { of: 't', birth: 'created' }],
        seen(4),
        starts('c1'),
        ends('c1', 'committed', { covers: 4, entry: 6, of: 't' }),
      ],
      [...START, compaction('started'), committed()],
      [
        'store-operations (t): the session of c1 is s in the log and t in the store [0:4]',
        'store-operations (t): the entry of c1 is 5 in the log and 6 in the store [0:4]',
        'store-messages (t): c1 covers entry 4, and no step has seen more than 0 []',
      ],
      [],
    ],
    [
      'rows of a compaction after a clean release',
      [born, starts('c1'), ends('c1', 'failed')],
      [...START, released()],
      [
        'store-operations (s): no log records that c1 started []',
        'store-operations (s): no log records that c1 was failed []',
      ],
      [],
    ],
    [
      'rows of a compaction, when the process may have died',
      [born, starts('c1'), ends('c1', 'failed')],
      START,
      [],
      ['store-operations 2 c1 started'],
    ],
    [
      'rows of a compaction of a session that no log knows',
      [born, starts('c1', { fence: 3 }), ends('c1', 'abandoned', { fence: 3 })],
      [created],
      [
        'store-operations (s): no log records that c1 started []',
        'store-operations (s): no log records that c1 was abandoned []',
      ],
      [],
    ],
    [
      'a compaction that the removal of its session ended',
      [born, starts('c1'), ends('c1', 'failed'), ['session deleted']],
      [...START, compaction('started'), released()],
      [],
      [],
    ],
    [
      'a compaction that another row than the removal follows',
      [born, starts('c1'), ends('c1', 'failed'), ['turn started']],
      [...START, compaction('started'), released()],
      ['store-operations (s): no log records that c1 was failed []'],
      [],
    ],
    [
      'a row of a compaction without its id',
      [born, ['compaction started', {}, null]],
      START,
      [],
      [],
    ],
  ])('%s', async (_, rows, lines, broken, open) => {
    const ids = rows.some(([, facts]) => facts?.['of'] === 't') ? ['s', 't'] : ['s']
    expect(await compare(rows, lines, { ids })).toMatchObject({ broken, open })
  })

  const compacted: readonly Told[] = [...START, compaction('started'), committed()]
  const covering: readonly Row[] = [starts('c1'), ends('c1', 'committed', { covers: 4, entry: 5 })]

  it.each<[string, readonly Row[], number | null]>([
    ['a step', [born, seen(4)], null],
    ['an older step after it', [born, seen(4), seen(2)], null],
    ['a step that ended before', [born, seen(3)], 3],
    ['a turn that was given up', [born, ['turn ended', { ended: 'failed', entry: 4 }]], null],
    ['a turn that was given up before', [born, ['turn ended', { ended: 'failed', entry: 2 }]], 2],
    [
      'an older turn that was given up',
      [born, seen(4), ['turn ended', { ended: 'failed', entry: 1 }]],
      null,
    ],
    ['no turn that was stopped', [born, ['turn ended', { ended: 'stopped', entry: 4 }]], 0],
    ['a turn that was adopted', [born, ['entries adopted', { turn: 1, to: 4 }]], null],
    [
      'one of two turns that were adopted',
      [born, ['entries adopted', { turn: 1, to: 4 }], ['entries adopted', { turn: 2, to: 3 }]],
      null,
    ],
    ['no entries that were adopted without a turn', [born, ['entries adopted', { to: 4 }]], 0],
    [
      'the entries at which a fork begins',
      [['session created', { birth: 'forked', entry: 4 }]],
      null,
    ],
    [
      'no entries of a session that was created',
      [['session created', { birth: 'created', entry: 4 }]],
      0,
    ],
    ['whatever was imported', [['session created', { birth: 'imported' }]], null],
  ])('a compaction covers what has been seen: by %s', async (_, rows, most) => {
    const problem = `store-messages (s): c1 covers entry 4, and no step has seen more than ${most} []`
    const broken = most === null ? [] : [problem]
    expect(await compare([...rows, ...covering], compacted)).toMatchObject({ broken, open: [] })
  })

  const mail = (kind: 'admitted' | 'withdrawn', number: number, lane = 'user'): Row => [
    `message ${kind}`,
    { mail: number, lane },
  ]
  const taken = (...mail: number[]): Row => ['message delivered', { mail }]

  it.each<[string, readonly Row[], readonly Told[], readonly string[]]>([
    [
      'in every lane, acknowledged and lost',
      [born],
      [...START, admitted(1), admitted(2, 3, 'notification'), admitted(4, 4, 'control')],
      [1, 2, 4].map(
        (n) =>
          `store-messages (s): message ${n} was acknowledged and is not in the store [] of ${n}`,
      ),
    ],
    [
      'of an import, which another store admitted',
      [['session created', { birth: 'imported' }]],
      [...START, admitted(1)],
      [],
    ],
    [
      'withdrawn, before one that was delivered',
      [born, mail('admitted', 1), mail('admitted', 2), mail('withdrawn', 1), taken(2)],
      [...START, admitted(1, 2), delivered(2, 2)],
      [],
    ],
    [
      'passed over in either lane',
      [
        ...[born, mail('admitted', 1), mail('admitted', 2)],
        ...[mail('admitted', 3, 'notification'), mail('admitted', 4, 'notification'), taken(2, 4)],
      ],
      START,
      [
        'store-messages (s): message 1 (user) was passed over in the store [] of 1',
        'store-messages (s): message 3 (notification) was passed over in the store [] of 3',
      ],
    ],
    [
      'waiting, while the other lane goes on',
      [
        born,
        mail('admitted', 1, 'notification'),
        mail('admitted', 2),
        mail('admitted', 3),
        taken(2),
      ],
      START,
      [],
    ],
    [
      'for the holder alone, before a delivered one',
      [born, mail('admitted', 1, 'control'), mail('admitted', 2), taken(2, 'x' as never)],
      START,
      [],
    ],
    [
      'delivered by the log and in no row',
      [born, mail('admitted', 1), mail('admitted', 2, 'notification')],
      [...START, delivered(2, 1), delivered(3, 2, { reason: 'notification' })],
      [
        'store-messages (s): message 1 was delivered by the log and not by the store [] of 1',
        'store-messages (s): message 2 was delivered by the log and not by the store [] of 2',
      ],
    ],
  ])('messages: %s', async (_, rows, lines, broken) => {
    expect(await compare(rows, lines)).toMatchObject({ broken, open: [] })
  })

  it('compares the ends of each session, and repeats what the store finds in itself', async () => {
    const lines: readonly Told[] = [created, acquired(9, 7)]
    const of = async (tail: number) => (await compare([born], lines, { tail })).broken
    expect(await of(7)).toEqual([])
    expect(await of(6)).toEqual([
      'store-transcript (s): its newest entry is 7 in the log and 6 in the store [0:2]',
    ])
    const later: readonly Told[] = [...lines, acquired(10, 7, { log: 'b' })]
    expect((await compare([born], later)).broken).toEqual([
      'store-sessions (s): its fence is 10 in the log and 9 in the store [1:3]',
    ])
    const problems = [
      { sessionId: 's', entry: 3, problem: 'it is changed' },
      { sessionId: null, entry: null, problem: 'a table is missing' },
    ] as never
    expect((await compare([born], [created], { problems })).broken).toEqual([
      'store-transcript (s): it is changed (entry 3) []',
      'store-transcript (null): a table is missing []',
    ])
    expect((await compare([born], [], { ids: ['s', 'unborn'] })).broken).toEqual([
      'store-sessions (unborn): the store has no row for its creation []',
    ])
  })

  it('vouches for what the rows say, read by the page', async () => {
    const many = Array.from({ length: 500 }, (_, at) => mail('admitted', at + 1))
    const rows = [born, ...many, mail('withdrawn', 2), mail('withdrawn', 3)]
    const { progress, evidence } = await compare(rows, [created])
    expect(progress).toEqual([500, 503, 503])
    expect([evidence.isBorn('s'), evidence.isBorn('t')]).toEqual([true, false])
    expect([...evidence.withdrawnFrom('s')]).toEqual([{ from: 2, to: 3 }])
    expect([...evidence.withdrawnFrom('t')]).toEqual([])
    const unborn = await compare([mail('admitted', 1)], [], { ids: [] })
    expect(unborn.evidence.isBorn('s')).toBe(false)
  })
})
