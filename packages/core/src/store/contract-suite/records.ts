import assert from 'node:assert/strict'
import { entryNumber, type SessionId, sessionId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json.ts'
import type { Store } from '../contract.ts'
import type { RecordEntries } from '../record-commits.ts'
import { create, expectKind, newOperation, StoreFixture, said } from './bench.ts'
import type { StoreCase } from './case.ts'

type Fields = Partial<Omit<RecordEntries, 'what'>>

function keep(
  store: Store,
  id: SessionId,
  key: string,
  bodies: readonly JsonValue[],
  more?: Fields,
) {
  return store.recordEntries({
    ...{ sessionId: id, source: 'program', key, operation: newOperation() },
    ...{ what: { kind: 'records', bodies }, ...more },
  })
}

const QUESTION = { kind: 'input', body: said('What is the time?'), tokens: 4 } as const
const CALL = { kind: 'assistant', calls: ['c1'], body: said('Let me look.'), tokens: 4 } as const
const RESULT = { kind: 'result', call: 'c1', outcome: 'ok', body: 'Noon.', tokens: 2 } as const
const ANSWER = { kind: 'assistant', calls: [], body: said('Noon.'), tokens: 2 } as const

function recordTurn(store: Store, id: SessionId, key = 'turn', more: Fields = {}) {
  return store.recordEntries({
    ...{ sessionId: id, source: 'program', key, operation: newOperation(), ...more },
    what: { kind: 'turn', steps: [QUESTION, CALL, RESULT, ANSWER] },
  })
}

function read(store: Store, id: SessionId) {
  return store.readEntries({ sessionId: id, from: entryNumber(1), to: entryNumber(100) })
}

export const records: readonly StoreCase[] = [
  {
    name: 'a recorded turn is one commit per key, with a valid chain [I1, I4]',
    run: async ({ store }) => {
      const id = await create(store)
      const first = expectKind(await recordTurn(store, id), 'recorded')
      assert.deepEqual(await recordTurn(store, id), { kind: 'duplicate', entry: first.entry })
      assert.deepEqual(
        (await read(store, id)).map(({ kind }) => kind),
        ['input', 'assistant', 'result', 'assistant', 'turn'],
      )
      const row = await store.findSession(id)
      assert.deepEqual([row?.turn, row?.turnState, row?.seen], [1, 'idle', 4])
      assert.deepEqual(await store.verify({ sessionId: id }), [])
    },
  },
  {
    name: 'the key of a recorded turn is refused for another body or session [I4]',
    run: async ({ store }) => {
      const [id, other] = [await create(store), await create(store)]
      const { entry } = expectKind(await recordTurn(store, id), 'recorded')
      assert.deepEqual(await recordTurn(store, other), { kind: 'conflict', entry })
      assert.deepEqual(await keep(store, id, 'turn', [1]), { kind: 'conflict', entry })
      assert.equal((await store.findSession(other))?.tail, 0)
    },
  },
  {
    name: 'a turn cannot be recorded during another one, and leaves waiting mail in the mailbox [I5]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('first')
      assert.deepEqual(await recordTurn(store, fixture.id), { kind: 'in-use' })
      await fixture.reply('done', { ends: 'answered' })
      await fixture.admit(said('second'))
      expectKind(await recordTurn(store, fixture.id), 'recorded')
      const row = await fixture.row()
      assert.deepEqual([row.pending.user, row.turnState], [1, 'idle'])
      // The holder's view is out of date: its commit says so, it reads again and continues.
      const mail = await store.listMail({ sessionId: fixture.id, limit: 10 })
      const last = mail.at(-1)?.number ?? assert.fail('mail waits')
      const request = { ...fixture.fenced(), mail: [last] }
      assert.deepEqual(await store.deliver(request), { kind: 'superseded', by: 'tail' })
      fixture.tail = { number: row.tail, hash: row.tailHash }
      await fixture.deliver(last)
      assert.deepEqual(await store.verify({ sessionId: fixture.id }), [])
    },
  },
  {
    name: 'when two programs record under one key at once, one succeeds [I4]',
    run: async ({ store, sibling }) => {
      const id = await create(store)
      const other = await sibling()
      const hands = [store, other, store, other]
      const outcomes = await Promise.all(hands.map((hand) => keep(hand, id, 'begin', ['x'])))
      const kinds = outcomes.map(({ kind }) => kind).sort()
      assert.deepEqual(kinds, ['duplicate', 'duplicate', 'duplicate', 'recorded'])
      assert.equal((await store.findSession(id))?.tail, 1)
    },
  },
  {
    name: 'a record after an entry that is no longer the newest is refused [I8]',
    run: async ({ store }) => {
      const id = await create(store)
      expectKind(await keep(store, id, 'a', [1, 2], { after: entryNumber(0) }), 'recorded')
      const late = await keep(store, id, 'b', [3], { after: entryNumber(0) })
      assert.deepEqual(late, { kind: 'moved' })
      expectKind(await keep(store, id, 'b', [3], { after: entryNumber(2) }), 'recorded')
      const bodies = (await read(store, id)).map(({ kind, body }) => [kind, body])
      assert.deepEqual(bodies, [
        ['record', '1'],
        ['record', '2'],
        ['record', '3'],
      ])
    },
  },
  {
    name: 'a search does not find records, and a deletion of the session erases them',
    run: async ({ store }) => {
      const id = await create(store)
      await keep(store, id, 'a', ['zanzibar'])
      await recordTurn(store, id)
      const { hits } = await store.search({
        ...{ sessionId: id, text: 'zanzibar', limit: 5, neighbours: 0 },
      })
      assert.deepEqual(hits, [])
      await store.deleteSession({ sessionId: id, operation: newOperation(), reason: 'asked' })
      expectKind(await keep(store, id, 'late', [1]), 'gone')
      expectKind(await store.eraseSome({ sessionId: id, limit: 100 }), 'erased')
      assert.ok((await read(store, id)).every(({ body }) => body === null))
    },
  },
  {
    name: 'an imported session recognizes the keys of its records [I4]',
    run: async ({ store, fresh }) => {
      const id = await create(store)
      await keep(store, id, 'a', [1])
      await recordTurn(store, id)
      const other = await fresh()
      expectKind(await other.importSession(store.exportSession(id)), 'imported')
      expectKind(await keep(other, id, 'a', [1]), 'duplicate')
      expectKind(await recordTurn(other, id), 'duplicate')
      assert.deepEqual(await other.verify({ sessionId: id }), [])
    },
  },
  {
    name: 'a record for an unknown session, or without entries, is refused',
    run: async ({ store }) => {
      expectKind(await keep(store, sessionId('nobody'), 'a', [1]), 'unknown')
      await assert.rejects(keep(store, await create(store), 'a', []), /1 to 1000 entries/)
    },
  },
]
