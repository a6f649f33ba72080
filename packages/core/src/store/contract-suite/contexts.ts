import assert from 'node:assert/strict'
import { entryNumber } from '../../base/ids.ts'
import type { Store } from '../contract.ts'
import { Desk, expectKind, LIMITS, said } from './bench.ts'
import type { StoreCase } from './case.ts'

/** Entries: 1 input, 2 assistant, 3 turn, 4 input, 5 assistant, 6 turn; seen is 4. */
async function talked(store: Store): Promise<Desk> {
  const desk = await Desk.open(store)
  await desk.exchange('one', 'first')
  await desk.exchange('two', 'second')
  return desk
}

export const contexts: readonly StoreCase[] = [
  {
    name: 'a revert brings the compaction below back into effect [I9]',
    run: async ({ store }) => {
      const desk = await talked(store)
      const first = await desk.compact(3)
      const second = await desk.compact(4)
      const outcome = expectKind(await desk.revert(second), 'reverted')
      assert.equal(outcome.effective, first)
      const row = await desk.row()
      assert.deepEqual([row.effective, row.covers, row.base], [first, 3, desk.tail.number])
      assert.equal(expectKind(await desk.revert(first), 'reverted').effective, 0)
      expectKind(await desk.revert(first), 'not-newest')
    },
  },
  {
    name: 'a revert steps past a compaction below whose text was erased',
    run: async ({ store }) => {
      const desk = await talked(store)
      const first = await desk.compact(1)
      const erased = await desk.compact(2)
      const third = await desk.compact(3)
      expectKind(await desk.erase([erased]), 'erased')
      assert.equal(expectKind(await desk.revert(third), 'reverted').effective, first)
      const row = await desk.row()
      assert.deepEqual([row.effective, row.covers], [first, 1])
      assert.deepEqual(await store.verify({ sessionId: desk.id }), [])
    },
  },
  {
    name: 'only the newest effective compaction is reverted [I13]',
    run: async ({ store }) => {
      const desk = await talked(store)
      const first = await desk.compact(3)
      const second = await desk.compact(4)
      assert.equal(expectKind(await desk.revert(first), 'not-newest').effective, second)
    },
  },
  {
    name: 'a revert that leaves no room for input is refused with figures [I33]',
    run: async ({ store }) => {
      const desk = await talked(store)
      const entry = await desk.compact(4)
      const limit = LIMITS.hardTokens - LIMITS.inputTokens
      const refused = expectKind(await desk.revert(entry, limit + 1), 'no-room')
      assert.deepEqual([refused.tokensAfter, refused.limit], [limit + 1, limit])
      expectKind(await desk.revert(entry, limit), 'reverted')
    },
  },
  {
    name: 'a revert raises the base: what was written on the old one is void [I7]',
    run: async ({ store }) => {
      const desk = await talked(store)
      const entry = await desk.compact(3)
      const operation = await desk.claim(4)
      expectKind(await desk.revert(entry), 'reverted')
      assert.equal((await store.findOperation(operation))?.state, 'superseded')
      assert.deepEqual(await desk.tryCommit(operation), { kind: 'ended', state: 'superseded' })
    },
  },
  {
    name: 'after a revert the same range may be covered anew',
    run: async ({ store }) => {
      const desk = await talked(store)
      const entry = await desk.compact(4)
      await desk.revert(entry)
      await desk.compact(4)
    },
  },
  {
    name: 'appending messages, pins or tasks does not move the base',
    run: async ({ store }) => {
      const desk = await talked(store)
      const entry = await desk.compact(4)
      await desk.exchange('three', 'third')
      await desk.pin('rule', 'be kind', 3)
      const outcome = await store.setTasks({ ...desk.fenced(), body: [], tokens: 1 })
      desk.tail = expectKind(outcome, 'appended').tail
      assert.equal((await desk.row()).base, entry)
    },
  },
  {
    name: 'the context is the handoff and what follows its range, in order [I9, I10]',
    run: async ({ store }) => {
      const desk = await talked(store)
      await desk.compact(3)
      await desk.exchange('three', 'third')
      const context = await store.readContext({ sessionId: desk.id })
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
      const desk = await Desk.open(store)
      await desk.pin('rule', 'be kind', 3)
      const settings = await store.changeSettings({ ...desk.fenced(), body: {}, tokens: 0 })
      desk.tail = expectKind(settings, 'appended').tail
      const tasks = await store.setTasks({ ...desk.fenced(), body: ['a'], tokens: 1 })
      desk.tail = expectKind(tasks, 'appended').tail
      await desk.exchange('one', 'first')
      await desk.compact(4)
      const context = await store.readContext({ sessionId: desk.id })
      assert.deepEqual(
        context?.entries.map(({ kind }) => kind),
        ['pin', 'settings', 'task', 'assistant', 'turn', 'compaction'],
      )
    },
  },
  {
    name: 'entries of one kind are read from the whole range, in order, without the others',
    run: async ({ store }) => {
      const [desk, other] = [await Desk.open(store), await Desk.open(store)]
      await other.pin('elsewhere', 'x', 1)
      for (const name of ['first', 'second', 'first']) {
        await desk.exchange(name, 'yes')
        expectKind(await desk.pin(name, `of ${name}`, 1), 'appended')
      }
      const read = async (from: number, to: number, kind: 'pin' | 'compaction') => {
        const range = { sessionId: desk.id, from: entryNumber(from), to: entryNumber(to), kind }
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
      const desk = await talked(store)
      const numbers = async (upto: number) => {
        const query = { sessionId: desk.id, upto: entryNumber(upto) }
        return (await store.readContext(query))?.entries.map(({ number }) => number)
      }
      const before = await numbers(6)
      const entry = await desk.compact(4)
      const compacted = await numbers(7)
      await desk.revert(entry)
      await desk.exchange('three', 'third')
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
      const desk = await Desk.open(store)
      await desk.pin('rule', 'byte for byte \u00e9', 3)
      for (let round = 0; round < 100; round++) {
        await desk.exchange(`question ${round}`, `answer ${round}`)
        await desk.compact((await desk.row()).seen)
      }
      const context = await store.readContext({ sessionId: desk.id })
      const pin = context?.entries.find(({ kind }) => kind === 'pin')
      assert.equal(pin?.body, JSON.stringify('byte for byte \u00e9'))
      assert.deepEqual(await store.verify({ sessionId: desk.id }), [])
      assert.equal((await store.listSessions({ limit: 10 })).length, 1)
    },
  },
  {
    name: 'mail admitted while a compaction runs is delivered after it, in order [I2, I10]',
    run: async ({ store }) => {
      const desk = await talked(store)
      const operation = await desk.claim(4)
      const mail = []
      for (let index = 0; index < 20; index++) mail.push(await desk.admit(said(`m${index}`)))
      await desk.commit(operation)
      const entries = await desk.deliver(...mail)
      assert.deepEqual(
        entries,
        Array.from({ length: 20 }, (_, index) => 8 + index),
      )
    },
  },
]
