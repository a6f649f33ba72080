import assert from 'node:assert/strict'
import { entryNumber } from '../../base/ids.ts'
import type { Store } from '../contract.ts'
import { expectKind, LIMITS, StoreFixture, said } from './bench.ts'
import type { StoreCase } from './case.ts'

/** Entries: 1 input, 2 assistant, 3 turn, 4 input, 5 assistant, 6 turn; seen is 4. */
async function talked(store: Store): Promise<StoreFixture> {
  const fixture = await StoreFixture.open(store)
  await fixture.exchange('one', 'first')
  await fixture.exchange('two', 'second')
  return fixture
}

export const contexts: readonly StoreCase[] = [
  {
    name: 'a revert brings the previous compaction back into effect [I9]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const first = await fixture.compact(3)
      const second = await fixture.compact(4)
      const outcome = expectKind(await fixture.revert(second), 'reverted')
      assert.equal(outcome.effective, first)
      const row = await fixture.row()
      assert.deepEqual([row.effective, row.covers, row.base], [first, 3, fixture.tail.number])
      assert.equal(expectKind(await fixture.revert(first), 'reverted').effective, 0)
      expectKind(await fixture.revert(first), 'not-newest')
    },
  },
  {
    name: 'a revert skips an earlier compaction whose text was erased',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const first = await fixture.compact(1)
      const erased = await fixture.compact(2)
      const third = await fixture.compact(3)
      expectKind(await fixture.erase([erased]), 'erased')
      assert.equal(expectKind(await fixture.revert(third), 'reverted').effective, first)
      const row = await fixture.row()
      assert.deepEqual([row.effective, row.covers], [first, 1])
      assert.deepEqual(await store.verify({ sessionId: fixture.id }), [])
    },
  },
  {
    name: 'a revert of any compaction but the one in effect is refused [I13]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const first = await fixture.compact(3)
      const second = await fixture.compact(4)
      assert.equal(expectKind(await fixture.revert(first), 'not-newest').effective, second)
    },
  },
  {
    name: 'a revert that leaves no room for input is refused with figures [I33]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const entry = await fixture.compact(4)
      const limit = LIMITS.hardTokens - LIMITS.inputTokens
      const refused = expectKind(await fixture.revert(entry, limit + 1), 'no-room')
      assert.deepEqual([refused.tokensAfter, refused.limit], [limit + 1, limit])
      expectKind(await fixture.revert(entry, limit), 'reverted')
    },
  },
  {
    name: 'a revert raises the base and supersedes a compaction running on the old one [I7]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const entry = await fixture.compact(3)
      const operation = await fixture.claim(4)
      expectKind(await fixture.revert(entry), 'reverted')
      assert.equal((await store.findOperation(operation))?.state, 'superseded')
      assert.deepEqual(await fixture.tryCommit(operation), { kind: 'ended', state: 'superseded' })
    },
  },
  {
    name: 'after a revert the same range can be compacted again',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const entry = await fixture.compact(4)
      await fixture.revert(entry)
      await fixture.compact(4)
    },
  },
  {
    name: 'appending messages, pins or tasks does not move the base',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const entry = await fixture.compact(4)
      await fixture.exchange('three', 'third')
      await fixture.pin('rule', 'be kind', 3)
      const outcome = await store.setTasks({ ...fixture.fenced(), body: [], tokens: 1 })
      fixture.tail = expectKind(outcome, 'appended').tail
      assert.equal((await fixture.row()).base, entry)
    },
  },
  {
    name: 'the context is the handoff and what follows its range, in order [I9, I10]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      await fixture.compact(3)
      await fixture.exchange('three', 'third')
      const context = await store.readContext({ sessionId: fixture.id })
      assert.deepEqual([context?.effective, context?.covers], [7, 3])
      assert.deepEqual(
        context?.entries.map(({ number }) => number),
        [4, 5, 6, 7, 8, 9, 10],
      )
    },
  },
  {
    name: 'pins, settings and tasks of the covered range stay in the context [I16]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.pin('rule', 'be kind', 3)
      const settings = await store.changeSettings({ ...fixture.fenced(), body: {}, tokens: 0 })
      fixture.tail = expectKind(settings, 'appended').tail
      const tasks = await store.setTasks({ ...fixture.fenced(), body: ['a'], tokens: 1 })
      fixture.tail = expectKind(tasks, 'appended').tail
      await fixture.exchange('one', 'first')
      await fixture.compact(4)
      const context = await store.readContext({ sessionId: fixture.id })
      assert.deepEqual(
        context?.entries.map(({ kind }) => kind),
        ['pin', 'settings', 'task', 'assistant', 'turn', 'compaction'],
      )
    },
  },
  {
    name: 'entries of one kind are read from the whole range, in order, without the others',
    run: async ({ store }) => {
      const [fixture, other] = [await StoreFixture.open(store), await StoreFixture.open(store)]
      await other.pin('elsewhere', 'x', 1)
      for (const name of ['first', 'second', 'first']) {
        await fixture.exchange(name, 'yes')
        expectKind(await fixture.pin(name, `of ${name}`, 1), 'appended')
      }
      const read = async (from: number, to: number, kind: 'pin' | 'compaction') => {
        const range = { sessionId: fixture.id, from: entryNumber(from), to: entryNumber(to), kind }
        return (await store.readEntries(range)).map(({ number, body }) => [number, body])
      }
      const pins = [
        [4, '"of first"'],
        [8, '"of second"'],
        [12, '"of first"'],
      ]
      assert.deepEqual(await read(1, 99, 'pin'), pins)
      assert.deepEqual(await read(5, 12, 'pin'), pins.slice(1))
      assert.deepEqual(await read(5, 11, 'pin'), pins.slice(1, 2))
      assert.deepEqual(await read(1, 99, 'compaction'), [])
    },
  },
  {
    name: 'any past context can be read again as it was [I9]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const numbers = async (upto: number) => {
        const query = { sessionId: fixture.id, upto: entryNumber(upto) }
        return (await store.readContext(query))?.entries.map(({ number }) => number)
      }
      const before = await numbers(6)
      const entry = await fixture.compact(4)
      const compacted = await numbers(7)
      await fixture.revert(entry)
      await fixture.exchange('three', 'third')
      assert.deepEqual(before, [1, 2, 3, 4, 5, 6])
      assert.deepEqual(compacted, [5, 6, 7])
      assert.deepEqual(await numbers(6), before)
      assert.deepEqual(await numbers(7), compacted)
      assert.deepEqual((await numbers(8))?.length, 8)
    },
  },
  {
    name: 'a hundred compactions keep the id, the pins and the chain [I5, I16, I19]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.pin('rule', 'byte for byte \u00e9', 3)
      for (let round = 0; round < 100; round++) {
        await fixture.exchange(`question ${round}`, `answer ${round}`)
        await fixture.compact((await fixture.row()).seen)
      }
      const context = await store.readContext({ sessionId: fixture.id })
      const pin = context?.entries.find(({ kind }) => kind === 'pin')
      assert.equal(pin?.body, JSON.stringify('byte for byte \u00e9'))
      assert.deepEqual(await store.verify({ sessionId: fixture.id }), [])
      assert.equal((await store.listSessions({ limit: 10 })).length, 1)
    },
  },
  {
    name: 'mail admitted while a compaction runs is delivered after it, in order [I2, I10]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const operation = await fixture.claim(4)
      const mail = []
      for (let index = 0; index < 20; index++) mail.push(await fixture.admit(said(`m${index}`)))
      await fixture.commit(operation)
      const entries = await fixture.deliver(...mail)
      assert.deepEqual(
        entries,
        Array.from({ length: 20 }, (_, index) => 8 + index),
      )
    },
  },
]
