import assert from 'node:assert/strict'
import type { EntryNumber } from '../../base/ids.ts'
import type { Store } from '../contract.ts'
import { expectKind, StoreFixture, said } from './bench.ts'
import type { StoreCase } from './case.ts'

/** Entries: 1 input, 2 assistant, 3 turn, 4 and 5 input, 6 assistant with a call, 7 result; seen is 5. */
async function midTurn(store: Store): Promise<StoreFixture> {
  const fixture = await StoreFixture.open(store)
  await fixture.exchange('one', 'first')
  await fixture.hear('two', 'three')
  await fixture.reply('calling', { calls: ['c'] })
  await fixture.results('c')
  return fixture
}

async function shownBy(store: Store, fixture: StoreFixture): Promise<readonly number[]> {
  const context = await store.readContext({ sessionId: fixture.id })
  assert.ok(context, 'the session has a context')
  return context.entries.filter(({ kind }) => kind === 'input').map(({ number }) => number)
}

const OPEN = [4, 5] as unknown as readonly EntryNumber[]

/** Every context contains each unanswered message whole, until a finished turn has answered it. */
export const unanswered: readonly StoreCase[] = [
  {
    name: 'a compaction that takes an unanswered message out of the context is refused [I34]',
    run: async ({ store }) => {
      const fixture = await midTurn(store)
      const operation = await fixture.claim(5)
      const before = await fixture.row()
      assert.deepEqual(await fixture.tryCommit(operation), { kind: 'unanswered', entry: 4 })
      assert.deepEqual(await fixture.tryCommit(operation, OPEN.slice(0, 1)), {
        kind: 'unanswered',
        entry: 5,
      })
      assert.deepEqual(await fixture.row(), before)
      assert.deepEqual(await shownBy(store, fixture), [1, 4, 5])
    },
  },
  {
    name: 'a compaction carries unanswered messages beside its handoff [I34]',
    run: async ({ store }) => {
      const fixture = await midTurn(store)
      const entry = await fixture.compact(5, 'model', OPEN)
      assert.deepEqual(await shownBy(store, fixture), [4, 5])
      assert.equal((await fixture.row()).covers, 5)
      await fixture.reply('answered', { ends: 'answered' })
      // The context does not change before the next compaction, so that prompt caches stay valid.
      assert.deepEqual(await shownBy(store, fixture), [4, 5])
      assert.equal(expectKind(await fixture.revert(entry), 'reverted').effective, 0)
      assert.deepEqual(await shownBy(store, fixture), [1, 4, 5])
      assert.deepEqual(await store.verify({ sessionId: fixture.id }), [])
    },
  },
  {
    name: 'a compaction may carry a message answered meanwhile, but no entry outside the context [I34]',
    run: async ({ store }) => {
      const fixture = await midTurn(store)
      const operation = await fixture.claim(5)
      await fixture.reply('answered', { ends: 'answered' })
      const stray = await fixture.tryCommit(operation, [...OPEN, 6 as EntryNumber])
      assert.deepEqual(stray, { kind: 'not-shown', entry: 6 })
      await fixture.commit(operation, OPEN)
      assert.deepEqual(await shownBy(store, fixture), [4, 5])
    },
  },
  {
    name: 'carried messages stay carried while they are open, and are covered once answered [I34]',
    run: async ({ store }) => {
      const fixture = await midTurn(store)
      await fixture.compact(5, 'model', OPEN)
      await fixture.reply('calling again', { calls: ['d'] })
      await fixture.results('d')
      const { seen } = await fixture.row()
      const again = await fixture.claim(seen)
      assert.equal((await fixture.tryCommit(again)).kind, 'unanswered')
      await fixture.commit(again, OPEN)
      assert.deepEqual(await shownBy(store, fixture), [4, 5])
      expectKind(await fixture.tryClaim(seen), 'covered')
      await fixture.reply('answered', { ends: 'answered' })
      // Compacting the same range again now covers the messages that were carried over.
      await fixture.compact(seen)
      assert.deepEqual(await shownBy(store, fixture), [])
      expectKind(await fixture.tryClaim(seen), 'covered')
    },
  },
  {
    name: 'an erasure under a handoff keeps what the handoff carries [I19, I34]',
    run: async ({ store }) => {
      const fixture = await midTurn(store)
      await fixture.compact(5, 'model', OPEN)
      expectKind(await fixture.erase([1 as EntryNumber], 'what is left'), 'erased')
      assert.deepEqual(await shownBy(store, fixture), [4, 5])
    },
  },
  {
    name: 'the end of a turn makes room for input, a step does not [I33, I34]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.deliver(await fixture.admit(said('a'), { tokens: 200 }))
      await fixture.reply('calling', { calls: ['c'] })
      await fixture.results('c')
      const mail = await fixture.admit(said('b'), { tokens: 200 })
      const refused = expectKind(
        await store.deliver({ ...fixture.fenced(), mail: [mail] }),
        'no-room',
      )
      assert.equal(refused.openTokens, 200)
      await fixture.reply('done', { ends: 'answered' })
      await fixture.deliver(mail)
    },
  },
  {
    name: 'a delivery records how many messages are still waiting [S19]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const mail = [await fixture.admit(said('a')), await fixture.admit(said('b'))]
      for (const text of ['c', 'd', 'e']) await fixture.admit(said(text))
      const [first = 0, last = 0] = await fixture.deliver(...mail)
      const read = await store.readEntries({
        sessionId: fixture.id,
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
