import { describe, expect, it } from 'vitest'
import { entryNumber, sessionId } from '../../base/ids.ts'
import { StoreFixture } from '../contract-suite/bench.ts'
import { firstHash } from '../integrity/chain.ts'
import { openMemoryStore } from '../memory/open.ts'
import type { Entry, MailRow, SessionRow } from '../tables/rows.ts'
import {
  checkedAudit,
  checkedBlob,
  checkedContext,
  checkedEntries,
  checkedMail,
  checkedSingles,
  hashBeforeIn,
  pageEnds,
} from './answers.ts'
import { checkTranscript, TranscriptCheck } from './transcript.ts'

const store = openMemoryStore()
const fixture = await StoreFixture.open(store, { id: sessionId('s') })
await fixture.exchange('one', 'two')
await fixture.pin('p', 'text', 10)
await fixture.exchange('three', 'four')
const session = await fixture.row()
const range = (from: number, to: number) => ({ from: entryNumber(from), to: entryNumber(to) })
const entries = await store.readEntries({ sessionId: session.id, ...range(1, 99) })
const one = (number: number) => entries[number - 1] as Entry
const hashBefore = (number: number) =>
  number === 1 ? firstHash(session.id) : entries[number - 2]?.hash
const changed = (number: number, fields: object) =>
  entries.map((entry) => (entry.number === number ? ({ ...entry, ...fields } as Entry) : entry))

/** What is wrong with an answer; null: nothing. */
function told(check: () => unknown): string | null {
  try {
    check()
    return null
  } catch (error) {
    const { facts } = error as { facts: { row: string; column?: string; problem: string } }
    return [facts.row, facts.column, facts.problem].filter(Boolean).join(' | ')
  }
}

it('the talk has seven entries', () => {
  expect(entries.map(({ kind }) => kind)).toEqual([
    ...['input', 'assistant', 'turn', 'pin', 'input', 'assistant', 'turn'],
  ])
})

describe('entries as read', () => {
  const check = (from: number, to: number, read: readonly Entry[], row: object = {}) =>
    told(() => {
      const of = { ...session, ...row } as SessionRow
      const known = new Map(entries.map(({ number, hash }) => [Number(number), hash]))
      return checkedEntries(of, range(from, to), read, hashBeforeIn(of, known))
    })

  it.each<[string, string | null, () => string | null]>([
    ['all of them', null, () => check(1, 7, entries)],
    ['more than there are', null, () => check(1, 99, entries)],
    ['a part', null, () => check(3, 5, entries.slice(2, 5))],
    ['one', null, () => check(7, 7, entries.slice(6))],
    ['from before the first', null, () => check(0, 2, entries.slice(0, 2))],
    ['none behind the tail', null, () => check(8, 9, [])],
    ['none where there is one', 'entry 7 of session s | is missing', () => check(7, 7, [])],
    ['without the first', 'entry 1 of session s | is missing', () => check(1, 7, entries.slice(1))],
    [
      'without the last',
      'entry 7 of session s | is missing',
      () => check(1, 7, entries.slice(0, 6)),
    ],
    ['with a gap', 'entry 4 of session s | is missing', () => check(1, 7, entries.toSpliced(3, 1))],
    [
      'with one too many',
      'entry 8 of session s | exists after the last one',
      () => check(1, 7, [...entries, one(7)]),
    ],
    [
      'more than asked for',
      'entry 8 of session s | exists after the last one',
      () => check(1, 2, entries.slice(0, 3)),
    ],
    [
      'with another start',
      'entry 1 of session s | does not follow its predecessor',
      () => check(1, 7, entries, { root: sessionId('other') }),
    ],
    [
      'with another end',
      'entry 7 of session s | does not have the hash that its session records',
      () => check(5, 7, entries.slice(4), { tailHash: one(6).hash }),
    ],
    ['a part before another end', null, () => check(5, 6, entries.slice(4, 6), { tailHash: '' })],
  ])('%s: %s', (_, problem, act) => {
    expect(act()).toBe(problem)
  })

  it('have their own hashes', () => {
    expect(check(1, 7, changed(3, { body: '"x"' }))).toBe(
      'entry 3 of session s | has a body that does not match its hash',
    )
    expect(check(3, 4, changed(3, { body: '"x"' }).slice(2, 4))).toBe(
      'entry 3 of session s | has a body that does not match its hash',
    )
    expect(check(1, 7, changed(3, { at: 7 }))).toBe(
      'entry 3 of session s | does not match its own hash',
    )
    expect(check(1, 7, changed(3, { prevHash: one(1).hash }))).toBe(
      'entry 3 of session s | does not follow its predecessor',
    )
    expect(checkedSingles(session.id, [one(2), one(5)], hashBefore)).toEqual([one(2), one(5)])
    expect(told(() => checkedSingles(session.id, [one(2), { ...one(5), at: 7 }], hashBefore))).toBe(
      'entry 5 of session s | does not match its own hash',
    )
  })

  it('are those of this session, also where no other entry is read', async () => {
    const twin = await StoreFixture.open(store, { id: sessionId('twin') })
    await twin.exchange('one', 'two')
    const [, foreign] = await store.readEntries({ sessionId: twin.id, ...range(1, 2) })
    const problem = 'entry 2 of session s | does not follow its predecessor'
    expect(check(2, 2, [foreign as Entry])).toBe(problem)
    expect(told(() => checkedSingles(session.id, [foreign as Entry], hashBefore))).toBe(problem)
    expect(told(() => checkedSingles(session.id, [one(1), foreign as Entry], hashBefore))).toBe(
      problem,
    )
    const withoutIt = () => undefined
    expect(checkedSingles(session.id, [one(2)], withoutIt)).toEqual([one(2)])
  })
})

describe('a context as read', () => {
  const heads = entries.filter(({ kind }) => kind === 'pin')
  const context = { session, covers: entryNumber(0), entries } as never
  const check = (fields: object, upto = 7, of: readonly Entry[] = heads) =>
    told(() =>
      checkedContext(
        { ...(context as object), ...fields } as never,
        of,
        entryNumber(upto),
        hashBefore,
      ),
    )

  it('has what it was folded from', () => {
    expect(checkedContext(context, heads, entryNumber(7), hashBefore)).toBe(context)
    expect(check({ entries: entries.slice(0, 5) }, 5)).toBeNull()
    expect(check({}, 7, [{ ...one(4), at: 7 }])).toBe(
      'entry 4 of session s | does not match its own hash',
    )
    expect(check({ entries: entries.slice(0, 6) })).toBe('entry 7 of session s | is missing')
    const folded = { ...session, settings: entryNumber(2) }
    expect(check({ session: folded })).toBe(
      'session s | settings | does not agree with its entries',
    )
    expect(check({ session: folded, entries: entries.slice(0, 6) }, 6)).toBeNull()
    expect(check({ covers: entryNumber(4), entries: entries.slice(4) })).toBe(
      'entry 4 of session s | is missing',
    )
    expect(check({ covers: entryNumber(4), entries: entries.slice(3) })).toBeNull()
    expect(check({ covers: entryNumber(4), entries: changed(4, { body: '"x"' }).slice(3) })).toBe(
      'entry 4 of session s | has a body that does not match its hash',
    )
  })
})

describe('mail as read', () => {
  const row = (more: object) =>
    ({
      ...{ id: sessionId('s'), state: 'open', mail: 5, delivered: { user: 2, notification: 0 } },
      ...{ pending: { control: 1, user: 3, notification: 0 }, ...more },
    }) as SessionRow
  const numbers = (...all: number[]) =>
    all.map((number) => ({ number })) as Pick<MailRow, 'number'>[]
  const check = (query: object, mail: readonly number[], more: object = {}) =>
    told(() =>
      checkedMail(
        row(more),
        { sessionId: sessionId('s'), limit: 10, ...query } as never,
        numbers(...mail),
      ),
    )
  const counts = (lane: string, wanted: number, found: number) =>
    `session s | pending | counts ${wanted} of lane ${lane}, and ${found} are there`

  it.each<[object, number[], string | null]>([
    [{}, [1, 2, 3, 4, 5], null],
    [{ limit: 2 }, [1, 2], null],
    [{ after: 3 }, [4, 5], null],
    [{ after: 5 }, [], null],
    [{ after: 9 }, [], null],
    [{}, [1, 2, 4, 5], 'mail 3 of session s | is missing'],
    [{}, [1, 2, 3, 4], 'mail 5 of session s | is missing'],
    [{}, [2], 'mail 1 of session s | is missing'],
    [{}, [1, 2, 3, 4, 5, 6], 'mail 6 of session s | exists after the last one'],
    [{ lane: 'user', state: 'pending' }, [3, 4, 5], null],
    [{ lane: 'user', state: 'pending', limit: 2 }, [3, 4], null],
    [{ lane: 'user', state: 'pending', after: 2 }, [3, 4], counts('user', 3, 2)],
    [{ lane: 'user', state: 'pending', after: 3 }, [5], null],
    [{ lane: 'control', state: 'pending' }, [], counts('control', 1, 0)],
    [{ lane: 'control', state: 'pending', after: 1 }, [], null],
    [{ lane: 'notification', state: 'pending' }, [5], counts('notification', 0, 1)],
    [{ lane: 'user' }, [], null],
    [{ state: 'pending' }, [], null],
  ])('of %j, %j: %s', (query, mail, problem) => {
    expect(check(query, mail)).toBe(problem)
  })

  it('of a deleted session may be gone', () => {
    expect(check({}, [], { state: 'deleted' })).toBeNull()
  })
})

it('a blob has the bytes of its hash', () => {
  const bytes = new TextEncoder().encode('abc')
  const hash = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  const blob = { sessionId: sessionId('s'), hash, mediaType: 'text/plain', bytes } as never
  expect(checkedBlob(blob)).toBe(blob)
  expect(
    told(() => checkedBlob({ ...(blob as object), bytes: new Uint8Array([1]) } as never)),
  ).toBe(`blob ${hash} of session s | has bytes that do not match its hash`)
})

it('lines of the audit ascend', () => {
  const rows = (...cursors: number[]) => cursors.map((cursor) => ({ cursor }))
  expect(told(() => checkedAudit(rows(4, 6, 7), 3))).toBeNull()
  expect(told(() => checkedAudit(rows(3), 3))).toBe(
    'line 3 of the audit | cursor | comes after line 3',
  )
  expect(told(() => checkedAudit(rows(4, 4), 3))).toBe(
    'line 4 of the audit | cursor | comes after line 4',
  )
})

it('a page ends at a place once', () => {
  const isNew = pageEnds()
  const ends = [{ a: 1 }, { a: 2 }, { a: 1 }, { a: 3n }, { a: 3n }, { a: '4' }, [1], [1]]
  expect(ends.map(isNew)).toEqual([true, true, false, true, false, true, true, false])
})

describe('a transcript', () => {
  const found = (read: readonly Entry[], row: object = {}) =>
    checkTranscript({ ...session, ...row } as SessionRow, read)
  const finding = (entry: number | null, problem: string) => ({ sessionId: 's', entry, problem })

  it('is whole, in order, and as its session says', () => {
    expect(found(entries)).toEqual([])
    expect(found(entries.slice(0, 6))).toEqual([finding(7, 'entry 7 is missing at the end')])
    expect(found(entries, { tail: entryNumber(6) })).toEqual([
      finding(7, 'entry 7 is after the tail in the session row'),
    ])
    expect(found(entries, { tailHash: 'x' })).toEqual([
      finding(7, 'entry 7 has another hash than the session knows for its tail'),
    ])
    expect(found(entries.toSpliced(1, 1))).toEqual([finding(2, 'entry 2 is missing')])
    expect(found(entries.toSpliced(1, 3))).toEqual([
      finding(2, 'entry 2 and 2 more are missing'),
      finding(null, 'session row and entries disagree on the pins'),
    ])
    expect(found([one(1), one(3), one(2), ...entries.slice(3)])).toEqual([
      finding(2, 'entry 2 is not in its place: entry 3 is there'),
    ])
    expect(found(entries, { pins: {} })).toEqual([
      finding(null, 'session row and entries disagree on the pins'),
    ])
    expect(found(entries, { pins: {}, state: 'deleted' })).toEqual([])
    expect(found(entries, { tasks: entryNumber(3), by: 'model' })).toEqual([
      finding(null, 'session row says by model, entries say null'),
      finding(null, 'session row says tasks 3, entries say 0'),
    ])
  })

  it('goes on behind what cannot be read, and behind what comes twice', () => {
    const check = new TranscriptCheck(session)
    check.add(one(1))
    check.addUnreadable(entryNumber(3))
    check.add({ ...one(4), prevHash: one(4).prevHash })
    check.add(one(4))
    check.addUnreadable(entryNumber(8))
    for (const entry of entries.slice(4)) check.add(entry)
    expect(check.end()).toEqual([
      finding(2, 'entry 2 is missing'),
      finding(3, 'entry 3 cannot be read'),
      finding(4, 'entry 4 comes after entry 4'),
    ])
  })

  it('of a fork goes on from its origin', () => {
    const row = { ...session, origin: sessionId('o'), forkedAt: entryNumber(4) } as SessionRow
    const folded = entries.filter(({ kind }) => kind === 'pin')
    const check = (hash: string | null) => {
      const transcript = new TranscriptCheck(row, { folded, hash })
      for (const entry of entries.slice(4)) transcript.add(entry)
      return transcript.end()
    }
    expect(check(one(4).hash)).toEqual([])
    expect(check(null)).toEqual([
      finding(4, 'entry 4 of session o is missing: this is a fork of it'),
    ])
    expect(check(one(3).hash)).toHaveLength(1)
  })
})
