import assert from 'node:assert/strict'
import type { EntryNumber } from '../../base/ids.ts'
import type { Store } from '../contract.ts'
import { Desk, expectKind, said } from './bench.ts'
import type { StoreCase } from './case.ts'

/** Entries: 1 input, 2 assistant, 3 turn, 4 and 5 input, 6 assistant with a call, 7 result; seen is 5. */
async function midTurn(store: Store): Promise<Desk> {
  const desk = await Desk.open(store)
  await desk.exchange('one', 'first')
  await desk.hear('two', 'three')
  await desk.reply('calling', { calls: ['c'] })
  await desk.results('c')
  return desk
}

async function shownBy(store: Store, desk: Desk): Promise<readonly number[]> {
  const context = await store.readContext({ sessionId: desk.id })
  assert.ok(context, 'the session has a context')
  return context.entries.filter(({ kind }) => kind === 'input').map(({ number }) => number)
}

const OPEN = [4, 5] as unknown as readonly EntryNumber[]

/** A message that no finished turn has answered is in every context whole, until it is answered. */
export const unanswered: readonly StoreCase[] = [
  {
    name: 'a compaction that takes an unanswered message out of the context is refused [I34]',
    run: async ({ store }) => {
      const desk = await midTurn(store)
      const operation = await desk.claim(5)
      const before = await desk.row()
      assert.deepEqual(await desk.tryCommit(operation), { kind: 'unanswered', entry: 4 })
      assert.deepEqual(await desk.tryCommit(operation, OPEN.slice(0, 1)), {
        kind: 'unanswered',
        entry: 5,
      })
      assert.deepEqual(await desk.row(), before)
      assert.deepEqual(await shownBy(store, desk), [1, 4, 5])
    },
  },
  {
    name: 'a compaction carries unanswered messages beside its handoff [I34]',
    run: async ({ store }) => {
      const desk = await midTurn(store)
      const entry = await desk.compact(5, 'model', OPEN)
      assert.deepEqual(await shownBy(store, desk), [4, 5])
      assert.equal((await desk.row()).covers, 5)
      await desk.reply('answered', { ends: 'answered' })
      // Nothing that was shown changes before the next compaction: caches live from that.
      assert.deepEqual(await shownBy(store, desk), [4, 5])
      assert.equal(expectKind(await desk.revert(entry), 'reverted').effective, 0)
      assert.deepEqual(await shownBy(store, desk), [1, 4, 5])
      assert.deepEqual(await store.verify({ sessionId: desk.id }), [])
    },
  },
  {
    name: 'what was answered meanwhile may still be carried; what is not shown may not [I34]',
    run: async ({ store }) => {
      const desk = await midTurn(store)
      const operation = await desk.claim(5)
      await desk.reply('answered', { ends: 'answered' })
      const stray = await desk.tryCommit(operation, [...OPEN, 6 as EntryNumber])
      assert.deepEqual(stray, { kind: 'not-shown', entry: 6 })
      await desk.commit(operation, OPEN)
      assert.deepEqual(await shownBy(store, desk), [4, 5])
    },
  },
  {
    name: 'carried messages stay carried while they are open, and are covered once answered [I34]',
    run: async ({ store }) => {
      const desk = await midTurn(store)
      await desk.compact(5, 'model', OPEN)
      await desk.reply('calling again', { calls: ['d'] })
      await desk.results('d')
      const { seen } = await desk.row()
      const again = await desk.claim(seen)
      assert.equal((await desk.tryCommit(again)).kind, 'unanswered')
      await desk.commit(again, OPEN)
      assert.deepEqual(await shownBy(store, desk), [4, 5])
      expectKind(await desk.tryClaim(seen), 'covered')
      await desk.reply('answered', { ends: 'answered' })
      // The same range once more: this time it takes in what was carried.
      await desk.compact(seen)
      assert.deepEqual(await shownBy(store, desk), [])
      expectKind(await desk.tryClaim(seen), 'covered')
    },
  },
  {
    name: 'an erasure under a handoff keeps what the handoff carries [I19, I34]',
    run: async ({ store }) => {
      const desk = await midTurn(store)
      await desk.compact(5, 'model', OPEN)
      expectKind(await desk.erase([1 as EntryNumber], 'what is left'), 'erased')
      assert.deepEqual(await shownBy(store, desk), [4, 5])
    },
  },
  {
    name: 'a step makes no room for input, the end of the turn does [I33, I34]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.deliver(await desk.admit(said('a'), { tokens: 200 }))
      await desk.reply('calling', { calls: ['c'] })
      await desk.results('c')
      const mail = await desk.admit(said('b'), { tokens: 200 })
      const refused = expectKind(await store.deliver({ ...desk.fenced(), mail: [mail] }), 'no-room')
      assert.equal(refused.openTokens, 200)
      await desk.reply('done', { ends: 'answered' })
      await desk.deliver(mail)
    },
  },
  {
    name: 'a delivery that leaves messages behind records how many [S19]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const mail = [await desk.admit(said('a')), await desk.admit(said('b'))]
      for (const text of ['c', 'd', 'e']) await desk.admit(said(text))
      const [first = 0, last = 0] = await desk.deliver(...mail)
      const read = await store.readEntries({
        sessionId: desk.id,
        from: first as EntryNumber,
        to: last as EntryNumber,
      })
      assert.deepEqual(
        read.map(({ meta }) => ('waiting' in meta ? meta.waiting : undefined)),
        [undefined, 3],
      )
    },
  },
]
