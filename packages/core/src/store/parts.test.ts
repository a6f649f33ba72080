import { describe, expect, it } from 'vitest'
import { entryNumber, sessionId } from '../base/ids.ts'
import { conditionsOf } from './conditions.ts'
import { limitsAt, onPath } from './context.ts'
import {
  DamagedRowError,
  InvalidBodyError,
  InvalidRequestError,
  OutcomeUnknownError,
  StoreBusyError,
  StoreClosedError,
  StoreDamagedError,
  type StoreError,
  StoreFullError,
  StoreReadOnlyError,
  StoreRefusedError,
  UnknownSessionError,
} from './errors.ts'
import { compactionMetaOf, fold, pathTo } from './fold.ts'
import { keeperOf, lineOf, ownAfter, storedRanges } from './lineage.ts'
import { planLook } from './look.ts'
import { mailState } from './mail-state.ts'
import { bytesOver, checkName, isCount } from './measure.ts'
import { pinBudget } from './pins.ts'
import type { EntryHead, Lane, MailRow, SessionRow } from './tables/rows.ts'

const path = '/a/store.db'
const problem = 'it is torn'
const RESTORE = 'Restore a backup; `throughline doctor` lists all damage.'

it.each<[StoreError, string, string, boolean, string]>([
  [
    new InvalidBodyError({ problem: 'holds NaN' }),
    ...(['InvalidBodyError', 'invalid-body', false] as const),
    'A body must be plain JSON, but this one holds NaN.',
  ],
  [
    new InvalidRequestError({ problem: 'No.' }),
    ...(['InvalidRequestError', 'invalid-request', false, 'No.'] as const),
  ],
  [
    new UnknownSessionError({ sessionId: `"${'x'.repeat(90)}` }),
    ...(['UnknownSessionError', 'unknown-session', false] as const),
    `No session "\\"${'x'.repeat(79)}" in this store.`,
  ],
  [
    new StoreBusyError({ waitedMs: 12.6, problem }),
    ...(['StoreBusyError', 'store-busy', true] as const),
    'The store cannot be used now: it is torn (waited 13 ms).',
  ],
  [
    new StoreFullError({ path }),
    ...(['StoreFullError', 'store-full', true] as const),
    'No space left for /a/store.db. Nothing was written; free some space and try again.',
  ],
  [
    new StoreReadOnlyError({ path, problem }),
    ...(['StoreReadOnlyError', 'store-read-only', false] as const),
    '/a/store.db cannot be opened or written (it is torn). The user that runs this must be allowed to read and write it.',
  ],
  [
    new StoreDamagedError({ path, problem }),
    ...(['StoreDamagedError', 'store-damaged', false] as const),
    '/a/store.db is not in order: it is torn',
  ],
  [
    new DamagedRowError({ row: 'entry 7', problem: 'is torn' }),
    ...(['DamagedRowError', 'damaged-row', false] as const),
    `The row of entry 7 is damaged: it is torn. Nothing was written, and other data is not affected. ${RESTORE}`,
  ],
  [
    new DamagedRowError({ row: 'entry 7', problem: 'is torn', column: 'body', remedy: 'Wait.' }),
    ...(['DamagedRowError', 'damaged-row', false] as const),
    'The row of entry 7 is damaged: its column body is torn. Nothing was written, and other data is not affected. Wait.',
  ],
  [
    new DamagedRowError({ row: 's1', problem: 'entry 7 is torn', foundBy: 'verify' }),
    ...(['DamagedRowError', 'damaged-row', false] as const),
    `The data of s1 is damaged: entry 7 is torn. Nothing was written, and other data is not affected. ${RESTORE}`,
  ],
  [
    new StoreRefusedError({ path, problem }),
    ...(['StoreRefusedError', 'store-refused', false] as const),
    'Will not open /a/store.db: it is torn',
  ],
  [
    new StoreClosedError({ verb: 'admit' }),
    ...(['StoreClosedError', 'store-closed', false] as const),
    'The store is closed; admit was not carried out.',
  ],
  [
    new OutcomeUnknownError({ verb: 'admit', problem }),
    ...(['OutcomeUnknownError', 'outcome-unknown', false] as const),
    'Whether admit was committed is unknown: it is torn',
  ],
])('an error of the store says all it knows: %s', (error, name, code, retryable, message) => {
  expect([error.name, error.code, error.retryable, error.message]).toEqual([
    ...[name, code, retryable, message],
  ])
})

it('the facts of an error are those that it was given', () => {
  expect(new StoreFullError({ path }).facts).toEqual({ path })
  expect(new StoreBusyError({ waitedMs: 1, problem }).facts).toEqual({ waitedMs: 1, problem })
  expect(new UnknownSessionError({ sessionId: 's' }).facts).toEqual({ sessionId: 's' })
  expect(new InvalidBodyError({ problem }).facts).toEqual({ problem })
  expect(new InvalidRequestError({ problem }).facts).toEqual({ problem })
  expect(new StoreReadOnlyError({ path, problem }).facts).toEqual({ path, problem })
  expect(new StoreDamagedError({ path, problem }).facts).toEqual({ path, problem })
  expect(new StoreClosedError({ verb: 'admit' }).facts).toEqual({ verb: 'admit' })
  expect(new OutcomeUnknownError({ verb: 'admit', problem }).facts).toEqual({
    ...{ verb: 'admit', problem },
  })
  const row = { row: 'r', problem, sessionId: 's', column: 'c' }
  expect(new DamagedRowError(row).facts).toEqual(row)
  const cause = new Error('inner')
  const refused = new StoreRefusedError({ path, problem }, { cause })
  expect([refused.facts, refused.cause]).toEqual([{ path, problem }, cause])
})

it('conditions are those with a value, in their order', () => {
  expect(conditionsOf([])).toEqual({ text: 'true', values: [] })
  expect(conditionsOf([['a = ?', undefined]])).toEqual({ text: 'true', values: [] })
  const asked = [['a = ?', 1], ['b is null'], ['c = ?', undefined], ['d = ?', 0]] as const
  expect(conditionsOf(asked)).toEqual({ text: 'a = ? and b is null and d = ?', values: [1, 0] })
  expect(conditionsOf(asked, (nth) => `$${nth}`)).toEqual({
    ...{ text: 'a = $1 and b is null and d = $2', values: [1, 0] },
  })
})

describe('the line of a fork', () => {
  const row = (id: string, origin: string | null = null, forkedAt = 0) =>
    ({ id: sessionId(id), origin: origin && sessionId(origin), forkedAt }) as Pick<
      SessionRow,
      'id' | 'origin' | 'forkedAt'
    >
  const [a, b, c] = [row('a'), row('b', 'a', 5), row('c', 'b', 8)]
  const find = (id: string) => [a, b, c].find((each) => each.id === id)

  it('leads to the first session, while the numbers of the forks fall', () => {
    expect([a, b, c].map(ownAfter)).toEqual([0, 5, 8])
    expect(lineOf(c, find)).toEqual([c, b, a])
    expect(lineOf(a, find)).toEqual([a])
    const lost = row('d', 'lost', 3)
    expect(lineOf(lost, find)).toEqual([lost])
    const same = row('d', 'c', 8)
    expect(lineOf(same, find)).toEqual([same])
    const circle = row('d', 'd', 3)
    expect(lineOf(circle, () => circle)).toEqual([circle])
  })

  it.each<[number, number, string]>([
    [1, 12, 'a 1-5, b 6-8, c 9-12'],
    [5, 9, 'a 5-5, b 6-8, c 9-9'],
    [6, 8, 'b 6-8'],
    [7, 8, 'b 7-8'],
    [8, 9, 'b 8-8, c 9-9'],
    [9, 9, 'c 9-9'],
    [1, 5, 'a 1-5'],
    [3, 2, ''],
  ])('stores the entries from %i to %i in %s', (from, to, stored) => {
    const ranges = storedRanges([c, b, a], from, to)
    expect(ranges.map((each) => `${each.sessionId} ${each.from}-${each.to}`).join(', ')).toBe(
      stored,
    )
  })

  it('has one keeper for each entry', () => {
    const keepers = [0, 1, 5, 6, 8, 9].map((number) => keeperOf([c, b, a], number)?.id)
    expect(keepers).toEqual([undefined, 'a', 'a', 'b', 'b', 'c'])
  })
})

it('mail is as far as the cursors of its session say', () => {
  const session = {
    ...{ delivered: { user: 5, notification: 2 }, settled: { user: 3, notification: 2 } },
  } as Pick<SessionRow, 'delivered' | 'settled'>
  const states = (lane: Lane, numbers: readonly number[], state: MailRow['state'] = 'admitted') =>
    numbers.map((number) => mailState(session, { lane, number: number as never, state }))
  expect(states('user', [3, 4, 5, 6])).toEqual(['settled', 'delivered', 'delivered', 'pending'])
  expect(states('notification', [2, 3])).toEqual(['settled', 'pending'])
  expect(states('user', [1, 9], 'withdrawn')).toEqual(['withdrawn', 'withdrawn'])
  expect(states('control', [1])).toEqual(['pending'])
  expect(states('control', [9], 'settled')).toEqual(['settled'])
})

it('a pin fits beside the settings and 63 others', () => {
  const budget = (count: number, tokens: number, name = 'new') =>
    pinBudget(
      {
        pins: Array.from({ length: count }, (_, at) => [`p${at}`, 10] as const),
        ...{ settingsTokens: 7, limits: { pinTokens: 1_000 } },
      },
      { name, tokens },
    )
  expect(budget(0, 993)).toEqual({ fits: true, tokensAfter: 1_000, limit: 1_000 })
  expect(budget(0, 994)).toEqual({ fits: false, tokensAfter: 1_001, limit: 1_000 })
  expect(budget(63, 1)).toEqual({ fits: true, tokensAfter: 638, limit: 1_000 })
  expect(budget(64, 1)).toEqual({ fits: false, tokensAfter: 648, limit: 1_000 })
  expect(budget(64, 1, 'p3')).toEqual({ fits: true, tokensAfter: 638, limit: 1_000 })
})

it('names, counts and sizes have their limits', () => {
  expect([0, 1, 2 ** 53 - 1, 2 ** 53, -1, 0.5, Number.NaN].map(isCount)).toEqual([
    ...[true, true, true, false, false, false, false],
  ])
  expect(bytesOver('aé', 3)).toBeNull()
  expect(bytesOver('aé', 2)).toEqual({ kind: 'too-large', bytes: 3, limit: 2 })
  expect(() => checkName('a-1_B', 'A note')).not.toThrow()
  for (const id of ['', 'a b', 'x'.repeat(65), 7 as never]) {
    expect(() => checkName(id, 'A note')).toThrow(
      'A note needs an id of 1 to 64 letters, digits, _ or -.',
    )
  }
})

describe('a look at a session', () => {
  const session = {
    ...{ id: sessionId('s'), tail: entryNumber(9), operation: 'o1', base: entryNumber(4) },
    pending: { control: 0, user: 0, notification: 0 },
    delivered: { user: 3, notification: 6 },
  } as unknown as SessionRow
  const look = (known: object | null, more: object = {}) =>
    planLook({ known, limit: 20 } as never, { ...session, ...more } as SessionRow)
  const none = { control: null, user: null, notification: null }
  const operations = { sessionId: 's', limit: 20 }

  it('reads what was added, and operations after any change', () => {
    expect(look(null)).toEqual({ added: null, mail: none, operations })
    const known = { tail: 9, operation: 'o1', base: 4 }
    expect(look(known)).toEqual({ added: null, mail: none, operations: null })
    const added = { sessionId: 's', from: 8, to: 9 }
    expect(look({ ...known, tail: 7 })).toEqual({ added, mail: none, operations: null })
    expect(look({ ...known, operation: 'o0' })).toEqual({ added: null, mail: none, operations })
    expect(look({ ...known, base: 3 })).toEqual({ added: null, mail: none, operations })
  })

  it('reads the lanes in which mail waits, from where it was delivered', () => {
    const waiting = { sessionId: 's', state: 'pending', limit: 20 }
    expect(look(null, { pending: { control: 1, user: 2, notification: 1 } }).mail).toEqual({
      control: { ...waiting, lane: 'control' },
      user: { ...waiting, lane: 'user', after: 3 },
      notification: { ...waiting, lane: 'notification', after: 6 },
    })
  })
})

describe('the fold of heads', () => {
  const head = (number: number, kind: string, meta: object = {}, tokens = 0) =>
    ({ number: entryNumber(number), kind, meta, tokens }) as EntryHead
  const heads = [
    head(1, 'settings', { limits: 'l1', replaces: 'l0' }),
    head(2, 'pin', { name: 'a', change: 'set' }, 10),
    head(3, 'pin', { name: 'b', change: 'set' }, 20),
    head(5, 'compaction', { covers: 4, by: 'model', carries: [3, 4] }),
    head(6, 'task'),
    head(7, 'pin', { name: 'a', change: 'removed' }),
    head(8, 'input'),
    head(9, 'compaction', { covers: 8, by: 'digest' }),
    head(10, 'revert', { previous: 5 }),
    head(11, 'settings', { limits: 'l2', replaces: 'l1' }),
    head(12, 'erasure', {}),
    head(13, 'erasure', { replaces: { covers: 6, by: 'given' } }),
  ]
  const nothing = {
    ...{ effective: 0, covers: 0, carries: [], by: null, base: 0, pins: {}, settings: 0, tasks: 0 },
  }
  const [a, b] = [
    { entry: 2, tokens: 10 },
    { entry: 3, tokens: 20 },
  ]

  it.each<[number, object]>([
    [0, {}],
    [2, { settings: 1, pins: { a } }],
    [
      5,
      {
        settings: 1,
        pins: { a, b },
        effective: 5,
        covers: 4,
        carries: [3, 4],
        by: 'model',
        base: 5,
      },
    ],
    [9, { settings: 1, tasks: 6, pins: { b }, effective: 9, covers: 8, by: 'digest', base: 9 }],
    [
      10,
      {
        ...{ settings: 1, tasks: 6, pins: { b }, effective: 5, covers: 4, carries: [3, 4] },
        ...{ by: 'model', base: 10 },
      },
    ],
    [
      12,
      {
        ...{ settings: 11, tasks: 6, pins: { b }, effective: 5, covers: 4, carries: [3, 4] },
        ...{ by: 'model', base: 12 },
      },
    ],
    [13, { settings: 11, tasks: 6, pins: { b }, effective: 13, covers: 6, by: 'given', base: 13 }],
  ])('up to entry %i', (upto, folded) => {
    expect(fold(heads.filter(({ number }) => number <= upto))).toEqual({ ...nothing, ...folded })
  })

  it('knows which entries hold a handoff, and which limits held', () => {
    expect(heads.map(compactionMetaOf).filter((meta) => meta !== undefined)).toEqual([
      { covers: 4, by: 'model', carries: [3, 4] },
      { covers: 8, by: 'digest' },
      { covers: 6, by: 'given' },
    ])
    expect([0, 1, 10, 11, 99].map((upto) => limitsAt(heads, upto))).toEqual([
      ...['l0', 'l1', 'l1', 'l2', 'l2'],
    ])
    expect(limitsAt([], 5)).toBeUndefined()
  })

  it('leaves out what rewinds left behind', () => {
    const rewinds = [
      head(3, 'revert', { previous: 0 }),
      head(5, 'revert', { previous: 0, to: 2 }),
      head(8, 'revert', { previous: 0, to: 6 }),
      head(12, 'revert', { previous: 0, to: 4 }),
    ]
    const kept = (upto: number) => {
      const isOnPath = pathTo(rewinds, upto)
      return Array.from({ length: 14 }, (_, at) => at + 1).filter(isOnPath)
    }
    expect(kept(4)).toEqual([1, 2, 3, 4])
    expect(kept(7)).toEqual([1, 2, 5, 6, 7])
    expect(kept(10)).toEqual([1, 2, 5, 6, 8, 9, 10])
    // The rewinds at 5 and 8 follow entry 4, so they do not count.
    expect(kept(13)).toEqual([1, 2, 3, 4, 12, 13])
    const entries = [1, 2, 3, 4].map((number) => head(number, number === 4 ? 'pin' : 'input'))
    const context = { entries } as never
    expect(onPath(context, rewinds.slice(0, 1), 7)).toBe(context)
    expect(onPath(context, rewinds, 7)).toEqual({ entries: [entries[0], entries[1], entries[3]] })
  })
})
