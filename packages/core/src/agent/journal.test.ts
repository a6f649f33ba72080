import { afterEach, describe, expect, it } from 'vitest'
import { operationId, sessionId } from '../base/ids.ts'
import { isThroughlineError } from '../base/throughline-error.ts'
import type { Store } from '../store/contract.ts'
import { openMemoryStore } from '../store/memory/open.ts'
import { decode, encode } from './durable-run.ts'
import { openJournal } from './journal.ts'

const opened: Store[] = []
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
})

function open() {
  const store = openMemoryStore()
  opened.push(store)
  return { store, journal: openJournal({ store, name: 'mine' }) }
}

describe('a durable run', () => {
  it('runs each call once, and returns its result to another process', async () => {
    const { store, journal } = open()
    let done = 0
    const value = { at: new Date(5), bytes: new Uint8Array([1, 2]), odd: { $date: 'no date' } }
    const work = () => {
      done++
      return value
    }
    expect(await journal.run('c', 'k').once('pay', work)).toEqual(value)
    const other = openJournal({ store, name: 'mine' })
    expect(await other.run('c', 'k').once('pay', work)).toEqual(value)
    expect(done).toBe(1)
    await other.run('c', 'k2').once('pay', work)
    expect(done).toBe(2)
    expect(await store.verify({})).toEqual([])
  })

  it('does not repeat a call that started and did not end, unless it is repeatable', async () => {
    const { store, journal } = open()
    // The process that began it never comes back to end it.
    void journal.run('c', 'k').once('pay', () => new Promise(() => {}))
    const other = () => openJournal({ store, name: 'mine' }).run('c', 'k')
    await expect.poll(async () => (await store.listSessions({ limit: 5 })).length).toBe(1)
    const again = expect.poll(() =>
      other()
        .once('pay', () => 'twice')
        .catch((error) => error.code),
    )
    await again.toBe('outcome-unknown')
    expect(await other().once('look', () => 'fresh', { repeatable: true })).toBe('fresh')
    expect(await other().once('look', () => 'other', { repeatable: true })).toBe('fresh')
  })

  it('keeps the error of a call, and runs a call of two processes once', async () => {
    const { store, journal } = open()
    const fail = () => {
      throw new Error('no money')
    }
    await expect(journal.run('c', 'k').once('pay', fail)).rejects.toThrow('no money')
    const other = openJournal({ store, name: 'mine' })
    await expect(other.run('c', 'k').once('pay', () => 'paid')).rejects.toThrow('no money')
    let done = 0
    const runs = [journal, other, journal, other].map((each) =>
      each.run('c', 'k3').once('pay', () => ++done),
    )
    const settled = await Promise.allSettled(runs)
    expect(done).toBe(1)
    for (const each of settled) {
      if (each.status === 'rejected') {
        expect(isThroughlineError(each.reason, 'outcome-unknown')).toBe(true)
      } else expect(each.value).toBe(1)
    }
  })
})

describe('a value that a run keeps', () => {
  it('is plain data, with dates and bytes', () => {
    const value = {
      ...{ text: 'a\ud800', whole: 5, endless: Number.POSITIVE_INFINITY, yes: true, no: undefined },
      ...{ list: [undefined, null], at: new Date(5), bytes: new Uint8Array([1, 255]) },
      ...{ own: { toJSON: () => ({ a: 1 }) }, odd: { $date: 'today' }, two: { $date: 1, b: 2 } },
      'key\ud800': 1,
    }
    const encoded = {
      ...{ text: 'a\ufffd', whole: 5, endless: null, yes: true, list: [null, null] },
      ...{ at: { $date: '1970-01-01T00:00:00.005Z' }, bytes: { $bytes: 'Af8=' }, own: { a: 1 } },
      ...{ odd: { $plain: { $date: 'today' } }, two: { $date: 1, b: 2 }, 'key\ufffd': 1 },
    }
    expect(encode(value)).toStrictEqual(encoded)
    expect(decode(encoded)).toStrictEqual({
      ...{ ...encoded, at: new Date(5), bytes: new Uint8Array([1, 255]) },
      odd: { $date: 'today' },
    })
  })

  it('is nested at most 250 deep', () => {
    const nested = (depth: number) => {
      let value: unknown[] = []
      for (let at = 0; at < depth; at++) value = [value]
      return value
    }
    expect(encode(nested(250))).toEqual(nested(250))
    const problem = 'contains itself, cannot be kept. Return a string or plain data.'
    expect(() => encode(nested(251))).toThrow(problem)
  })

  it.each([
    ['function', () => 5],
    ['bigint', 5n],
    ['Map', new Map()],
    ['Set', new Set()],
  ])('is no %s', (name, value) => {
    const error = { code: 'unserialisable-output', at: undefined }
    const message = `A ${name} cannot be kept. Return a string or plain data.`
    expect(() => encode([value])).toThrow(expect.objectContaining({ ...error, message }))
  })
})

describe('a list of a journal', () => {
  it('changes once for each operation, and only at the expected end', async () => {
    const { store, journal } = open()
    const list = journal.list('c', 'items')
    expect(await list.change({ operation: 'o1', add: [1, 2] })).toBe('changed')
    expect(await list.change({ operation: 'o1', add: [1, 2] })).toBe('changed')
    expect(await list.change({ operation: 'o1', add: [3] })).toBe('operation-conflict')
    const other = openJournal({ store, name: 'mine' }).list('c', 'items')
    expect(await other.change({ operation: 'o2', expects: [2], add: [3, 4] })).toBe('changed')
    expect(await list.change({ operation: 'o2', expects: [2], add: [3, 4] })).toBe('changed')
    expect(await list.change({ expects: [2], add: [5] })).toBe('suffix-mismatch')
    expect(await list.read()).toEqual([1, 3, 4])
    expect(await list.change({ clear: true, add: [9] })).toBe('changed')
    expect(await other.read()).toEqual([9])
  })

  it('applies concurrent changes of several processes one after another', async () => {
    const { store, journal } = open()
    const lists = [journal, openJournal({ store, name: 'mine' })].map((each) => each.list('c', 'l'))
    await lists[0]?.change({ add: [0] })
    const outcomes = await Promise.all(
      lists.map((list, index) => list.change({ expects: [0], add: [index + 1] })),
    )
    expect(outcomes.toSorted()).toEqual(['changed', 'suffix-mismatch'])
    expect(await journal.list('c', 'l').read()).toHaveLength(1)
  })

  it('is erased with its conversation, which can be started again', async () => {
    const { store, journal } = open()
    await journal.list('c', 'l').change({ add: ['secret'] })
    const other = openJournal({ store, name: 'mine' }).list('c', 'l')
    expect(await other.read()).toEqual(['secret'])
    await journal.delete('c')
    expect(await other.read()).toEqual([])
    await other.change({ add: ['new'] })
    expect(await journal.list('c', 'l').read()).toEqual(['new'])
  })

  it('is erased even if it has a fork, and the fork stays [I40]', async () => {
    const { store, journal } = open()
    await journal.list('c', 'l').change({ add: ['secret'] })
    const [session] = await store.listSessions({ limit: 1 })
    if (session === undefined) throw new Error('no session')
    await store.fork({
      ...{ id: sessionId('side'), from: session.id, at: session.tail, source: 'test', key: 'k' },
      operation: operationId('o'),
    })
    await journal.delete('c')
    expect(await journal.list('c', 'l').read()).toEqual([])
    expect((await store.findSession(session.id))?.state).toBe('gone')
    expect((await store.findSession(sessionId('side')))?.state).toBe('open')
  })

  it.each<[string, () => unknown]>([
    ['store', () => openJournal({ store: null as never, name: 'mine' })],
    ['name', () => openJournal({ store: open().store, name: '' })],
    ['key', () => open().journal.run('c', 5 as never)],
    ['conversation', () => open().journal.list('', 'l')],
  ])('refuses an invalid "%s" by name', (at, wrong) => {
    expect(wrong).toThrow(expect.objectContaining({ code: 'invalid-option', at }))
  })
})
