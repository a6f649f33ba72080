import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type EntryNumber, entryNumber, type SessionId, sessionId } from '../../base/ids.ts'
import type { Store } from '../contract.ts'
import { expectKind, replyTo, StoreFixture } from '../contract-suite/bench.ts'
import {
  entriesOf,
  forkAt,
  purgeWhole,
  talkedThrice,
  tryFork,
} from '../contract-suite/forks/forks.ts'
import { openMemoryStore } from '../memory/open.ts'
import { together } from './erase-related.ts'

let store: Store
beforeEach(() => {
  store = openMemoryStore()
})
afterEach(async () => await store.close())

describe('fork', () => {
  it('refuses each kind of invalid fork with its own outcome', async () => {
    const { id } = await talkedThrice(store)
    const refused = [
      await tryFork(store, id, 9, { at: 8.5 as EntryNumber }),
      await tryFork(store, id, 10),
      await tryFork(store, id, 0),
      await tryFork(store, sessionId('nobody'), 1),
      await tryFork(store, id, 1, { id }),
    ]
    const tail = { kind: 'unknown-entry', tail: 9 }
    expect(refused).toEqual([tail, tail, tail, { kind: 'unknown' }, { kind: 'exists' }])
    await expect(tryFork(store, id, 1, { id: '' as SessionId })).rejects.toThrow(/A session/)
    expect((await tryFork(store, id, 9)).kind).toBe('forked')
    await purgeWhole(store, id, 'keep')
    expect(await tryFork(store, id, 1)).toEqual({ kind: 'gone' })
  })

  it('recognizes a repeated key first, even if the origin is gone', async () => {
    const { id } = await talkedThrice(store)
    const { session } = expectKind(await tryFork(store, id, 9, { key: 'k' }), 'forked')
    await purgeWhole(store, id, 'keep')
    const again = { kind: 'duplicate', sessionId: session.id }
    expect(await tryFork(store, id, 9, { key: 'k' })).toEqual(again)
    expect(await tryFork(store, id, 8, { key: 'k' })).toEqual({ kind: 'conflict' })
    expect(await tryFork(store, session.id, 9, { key: 'k' })).toEqual({ kind: 'conflict' })
    expect(await tryFork(store, id, 9, { key: 'k', source: 'other' })).toEqual({ kind: 'gone' })
  })

  it.each([
    ['an input', 4, 1],
    ['a reply', 5, 2],
    ['the end of a turn', 6, 2],
  ])('continues counting turns from %s', async (_, at, turn) => {
    const origin = await talkedThrice(store)
    const fork = await forkAt(store, origin.id, at)
    const row = await fork.row()
    expect([row.turn, row.seen, row.tail, row.forkedAt]).toEqual([turn, at + 1, at + 1, at])
    expect([row.origin, row.root, row.birth]).toEqual([origin.id, origin.id, 'forked'])
    await fork.exchange('and', 'on')
    expect((await fork.row()).turn).toBe(turn + 1)
  })

  it('records its origin and the calls it left open in its arrival entry and its audit row', async () => {
    const origin = await StoreFixture.open(store)
    await origin.hear('Do both.')
    await origin.reply('Doing.', { calls: ['a', 'b'] })
    await origin.results('a', 'b')
    await origin.reply('Once more.', { calls: ['c'] })
    const at = origin.tail.number
    const { id } = await forkAt(store, origin.id, at)
    const entries = (await entriesOf(store, id)).slice(at)
    expect(entries).toMatchObject([
      { kind: 'result', meta: { call: 'c', outcome: 'interrupted' }, tokens: 16 },
      { kind: 'arrival', meta: { session: id, origin: origin.id, at, left: ['c'] }, body: 'null' },
    ])
    expect(entries[0]?.body).toContain('before this call had a result')
    const [made] = await store.readAudit({ sessionId: id, after: 0, limit: 5 })
    const { tailHash: hash } = await origin.row()
    expect(made?.facts).toMatchObject({ origin: origin.id, at, hash, entry: at + 2 })
    expect(entries[1]?.meta).toMatchObject({ hash })
  })
})

describe('an erasure that reaches forks', () => {
  it('clears the title of a fork that reads the entry, unless only a pin was erased', async () => {
    const origin = await talkedThrice(store)
    await origin.pin('rule', 'be kind', 5)
    const fork = await forkAt(store, origin.id, 10)
    const title = async () => (await fork.row()).title
    await store.setTitle({ sessionId: fork.id, title: 'Plans' })
    expectKind(await origin.erase([entryNumber(10)]), 'erased')
    expect([await title(), (await fork.row()).owed]).toEqual(['Plans', [10]])
    expectKind(await origin.erase([entryNumber(4), entryNumber(1)]), 'erased')
    expect([await title(), (await fork.row()).owed]).toEqual([null, [1, 4, 10]])
  })

  it('keeps a handoff that covers only earlier entries, or only the erased pin', async () => {
    const origin = await talkedThrice(store)
    await origin.pin('rule', 'be kind', 5)
    const [fork, other] = [await forkAt(store, origin.id, 10), await forkAt(store, origin.id, 10)]
    for (const each of [fork, other]) await each.exchange('on', 'yes')
    const [early, late] = [await fork.compact(3), await other.compact(12)]
    expectKind(await origin.erase([entryNumber(10)]), 'erased')
    expect([(await fork.row()).owed, (await other.row()).owed]).toEqual([[10], [10]])
    expectKind(await origin.erase([entryNumber(4)]), 'erased')
    expect((await fork.row()).owed).toEqual([4, 10])
    expect((await other.row()).owed).toEqual([4, 10, late])
    const bodyOf = async (id: typeof fork.id, number: number) =>
      (await entriesOf(store, id)).find((entry) => entry.number === number)?.body
    expect(await bodyOf(fork.id, early)).not.toBeNull()
    expect(await bodyOf(other.id, late)).toBeNull()
  })

  it('ends waiting replies and keeps the state of sent ones', async () => {
    const origin = await StoreFixture.open(store)
    await origin.exchange('q', 'a', [replyTo('ana')])
    const replies = () => store.listReplies({ sessionId: origin.id, limit: 5 })
    expect((await replies()).map(({ state }) => state)).toEqual(['waiting'])
    expectKind(await origin.erase([entryNumber(2)]), 'erased')
    expect(await replies()).toMatchObject([{ state: 'dead', body: null }])
  })

  it('merges several changes into one commit, without empty lists or repeated notes', () => {
    const [first, second] = ['1', '2'].map((id) => ({ agent: 'a', scope: 's', id }))
    const other = { agent: 'a', scope: 't', id: '1' }
    const notes = [first, second, other].filter((key) => key !== undefined)
    const erase = [1, 2].map((number) => ({
      ...{ sessionId: sessionId('s'), entries: [entryNumber(number)], mail: [], replies: [] },
    }))
    const [one, two] = erase.map((each) => ({ erase: [each], notesRemoved: notes }))
    if (one === undefined || two === undefined) throw new Error('no changes')
    expect(together([one, {}, two])).toEqual({ erase, notesRemoved: notes })
    expect(together([{ mail: [] }])).toEqual({ notesRemoved: [] })
  })
})
