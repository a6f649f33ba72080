import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { sessionId } from '../../base/ids.ts'
import { LIMITS } from '../contract-suite/bench.ts'
import { DamagedRowError } from '../errors.ts'
import type { SessionRow } from '../tables/rows.ts'
import {
  checkSession,
  damagedEntry,
  damagedMail,
  damagedRoute,
  orUnreadable,
  parseBody,
  parseColumn,
  unlessDamaged,
} from './damaged-row.ts'
import { readBounded } from './read-bounded.ts'

const ROW = {
  ...{ id: sessionId('s'), scope: 's', owed: [], pins: {}, openCalls: [], limits: LIMITS },
  ...{ tail: 0, base: 0, seen: 0, effective: 0, covers: 0, mail: 0, settings: 0, tasks: 0 },
  ...{ forkedAt: 0, retained: 0, delivered: { user: 0, notification: 0 } },
  ...{ settled: { user: 0, notification: 0 }, pending: { control: 0, user: 0, notification: 0 } },
} as unknown as SessionRow

const facts = (read: () => unknown) => {
  try {
    return read()
  } catch (error) {
    if (error instanceof DamagedRowError) return error.facts
    throw error
  }
}
const damaged = (column: string, problem: string) => ({
  ...{ row: 'session s', sessionId: 's', column, problem },
})

describe('the row of a session', () => {
  it.each([
    ...['tail', 'base', 'seen', 'effective', 'covers', 'mail', 'settings', 'tasks', 'forkedAt'],
    'retained',
  ])('has a number of an entry or mail as %s', (name) => {
    const check = (value: unknown) => facts(() => checkSession({ ...ROW, [name]: value }))
    expect(check(2 ** 31 - 1)).toEqual({ ...ROW, [name]: 2 ** 31 - 1 })
    for (const value of [2 ** 31, -1, 0.5, '1', null, undefined]) {
      const problem = `holds ${value}, which is no number of an entry or mail`
      expect(check(value)).toEqual(damaged(name, problem))
    }
  })

  it.each<[string, string, unknown[]]>([
    ['openCalls', 'open_calls', [{}, null, 'x']],
    [
      'delivered',
      'delivered',
      [null, {}, { user: 0 }, { notification: 0 }, { user: 0, notification: '0' }],
    ],
    ['settled', 'settled', [null, [], { user: 0 }, { user: '0', notification: 0 }]],
    [
      'pending',
      'pending',
      [
        null,
        { user: 0, notification: 0 },
        { control: 0, user: 0 },
        { control: 0, notification: 0 },
      ],
    ],
    ['scope', 'scope', [null, 7, undefined]],
    ['owed', 'owed', [null, {}, 'x']],
    ['pins', 'pins', [null, 'x', 7]],
    [
      'limits',
      'limits',
      [null, {}, ...Object.keys(LIMITS).map((name) => ({ ...LIMITS, [name]: null }))],
    ],
  ])('has what it should as %s', (name, column, wrong) => {
    expect(checkSession(ROW)).toBe(ROW)
    for (const value of wrong) {
      expect(facts(() => checkSession({ ...ROW, [name]: value }))).toEqual(
        damaged(column, 'holds something else than it should'),
      )
    }
  })
})

it('a column and a body are JSON', () => {
  expect(parseColumn('{"a":1}', 'meta', () => 'x')).toEqual({ a: 1 })
  expect(facts(() => parseColumn('{', 'meta', () => 'a row'))).toEqual({
    ...{ row: 'a row', column: 'meta', problem: 'holds no JSON' },
  })
  expect(parseBody('mail', { number: 7, body: '[1]' })).toEqual([1])
  expect(parseBody('entry', { number: 7, body: null })).toBeNull()
  expect(facts(() => parseBody('entry', { number: 7, body: '' }))).toEqual({
    ...{ row: 'entry 7', column: 'body', problem: 'holds no JSON' },
  })
})

it('a damaged row is left out, and another error is not', () => {
  const damage = () => {
    throw damagedEntry(sessionId('s'), 7, 'is torn')
  }
  const other = () => {
    throw new Error('other')
  }
  expect([unlessDamaged(() => 7), unlessDamaged(damage)]).toEqual([7, null])
  expect(() => unlessDamaged(other)).toThrow('other')
  expect([orUnreadable(() => 7), orUnreadable(damage), orUnreadable(other)]).toEqual([
    7,
    null,
    null,
  ])
})

it('a damaged row names itself, and no person', () => {
  expect(damagedEntry(sessionId('s'), 7, 'is torn').facts).toEqual({
    ...{ row: 'entry 7 of session s', sessionId: 's', problem: 'is torn' },
  })
  expect(damagedMail(sessionId('s'), 7, 'is torn').facts).toEqual({
    ...{ row: 'mail 7 of session s', sessionId: 's', problem: 'is torn' },
  })
  const route = { agent: 'ada', channel: 'telegram', address: '555' }
  expect(damagedRoute(route).facts).toEqual({
    ...{ row: 'a route of agent ada on channel telegram', problem: 'is not as it was written' },
  })
})

describe('a small file beside the store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'throughline-bounded-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('is read up to its limit, and only if it is a file', () => {
    const path = join(folder, 'a')
    expect(readBounded(path, 3)).toBeUndefined()
    writeFileSync(path, 'a\xe9b', 'latin1')
    expect(readBounded(path, 3)).toBe('a\xe9b')
    expect(readBounded(path, 2)).toBeNull()
    mkdirSync(join(folder, 'b'))
    expect(() => readBounded(join(folder, 'b'), 3)).toThrow(
      expect.objectContaining({
        ...{ code: 'EISDIR', syscall: 'open', path: join(folder, 'b') },
        message: `${join(folder, 'b')} is a folder`,
      }),
    )
    expect(() => readBounded(join(path, 'c'), 3)).toThrow(
      expect.objectContaining({ code: 'ENOTDIR' }),
    )
  })
})
