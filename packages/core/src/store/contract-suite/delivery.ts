import assert from 'node:assert/strict'
import { entryNumber, mailNumber } from '../../base/ids.ts'
import { canonicalJson } from '../integrity/canonical.ts'
import { expectKind, LIMITS, StoreFixture, said } from './bench.ts'
import type { StoreCase } from './case.ts'

export const delivery: readonly StoreCase[] = [
  {
    name: 'each item becomes one entry, in the order of its lane [I2, I3]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      assert.deepEqual(await fixture.hear('a', 'b', 'c'), [1, 2, 3])
      const range = { sessionId: fixture.id, from: entryNumber(1), to: entryNumber(3) }
      const entries = await store.readEntries(range)
      assert.deepEqual(
        entries.map((entry) => entry.kind === 'input' && entry.meta.mail),
        [1, 2, 3],
      )
    },
  },
  {
    name: 'mail is not delivered before older mail of the same lane [I2]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const first = await fixture.admit(said('1'))
      const second = await fixture.admit(said('2'))
      const outcome = await store.deliver({ ...fixture.fenced(), mail: [second] })
      assert.equal(expectKind(outcome, 'out-of-order').first, first)
      assert.equal((await fixture.row()).tail, 0)
    },
  },
  {
    name: 'a user message may be delivered before an older notification',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const note = await fixture.admit(said('n'), { lane: 'notification' })
      const message = await fixture.admit(said('u'))
      assert.deepEqual(await fixture.deliver(message, note), [1, 2])
    },
  },
  {
    name: 'nothing is delivered twice [I3]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const mail = await fixture.admit(said('1'))
      await fixture.deliver(mail)
      expectKind(await store.deliver({ ...fixture.fenced(), mail: [mail] }), 'not-pending')
      const other = await fixture.admit(said('2'))
      expectKind(await store.deliver({ ...fixture.fenced(), mail: [other, other] }), 'not-pending')
      assert.equal((await fixture.row()).tail, 1)
    },
  },
  {
    name: 'nothing is delivered between a call and its result [I15]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      await fixture.reply('calling', { calls: ['c1'] })
      const mail = await fixture.admit(said('wait'))
      expectKind(await store.deliver({ ...fixture.fenced(), mail: [mail] }), 'calls-open')
      await fixture.results('c1')
      await fixture.deliver(mail)
    },
  },
  {
    name: 'a delivery starts a turn, and a second one joins it',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('a')
      assert.deepEqual(
        [(await fixture.row()).turn, (await fixture.row()).turnState],
        [1, 'running'],
      )
      await fixture.hear('b')
      assert.equal((await fixture.row()).turn, 1)
    },
  },
  {
    name: 'unseen input never exceeds its bound over several deliveries [I33]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.deliver(await fixture.admit(said('a'), { tokens: 200 }))
      const more = await fixture.admit(said('b'), { tokens: 101 })
      const outcome = await store.deliver({ ...fixture.fenced(), mail: [more] })
      const refused = expectKind(outcome, 'no-room')
      assert.deepEqual([refused.openTokens, refused.inputTokens], [200, LIMITS.inputTokens])
    },
  },
  {
    name: 'unseen input may fill its bound exactly [I33]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.deliver(await fixture.admit(said('a'), { tokens: 200 }))
      await fixture.deliver(await fixture.admit(said('b'), { tokens: 100 }))
    },
  },
  {
    name: 'a single item above the bound is delivered alone instead of waiting forever [I23, I33]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const huge = await fixture.admit(said('huge'), { tokens: 5_000 })
      const next = await fixture.admit(said('next'), { tokens: 1 })
      expectKind(await store.deliver({ ...fixture.fenced(), mail: [huge, next] }), 'no-room')
      await fixture.deliver(huge)
    },
  },
  {
    name: 'a delivery with one item too many delivers none of them [I9]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const good = await fixture.admit(said('1'), { tokens: 200 })
      const bad = await fixture.admit(said('2'), { tokens: 200 })
      const before = await fixture.row()
      expectKind(await store.deliver({ ...fixture.fenced(), mail: [good, bad] }), 'no-room')
      assert.deepEqual(await fixture.row(), before)
    },
  },
  {
    name: 'messages that arrive out of order are kept in order of arrival, each once [I2, fault 32]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const send = (part: number) => fixture.tryAdmit(`part ${part}`, { key: `part-${part}` })
      const arrivals = [3, 1, 4, 1, 5, 2, 3, 2]
      const numbers: number[] = []
      for (const part of arrivals) {
        const outcome = await send(part)
        assert.ok(outcome.kind === 'admitted' || outcome.kind === 'duplicate')
        numbers.push(outcome.mail)
      }
      assert.deepEqual(numbers, [1, 2, 3, 2, 4, 5, 1, 5])
      const entries = await fixture.deliver(...[1, 2, 3, 4, 5].map(mailNumber))
      const kept = await store.readEntries({
        sessionId: fixture.id,
        from: entryNumber(entries[0] ?? 0),
        to: entryNumber(entries.at(-1) ?? 0),
      })
      assert.deepEqual(
        kept.map(({ body }) => body),
        ['"part 3"', '"part 1"', '"part 4"', '"part 5"', '"part 2"'],
      )
    },
  },
]

export const withdrawals: readonly StoreCase[] = [
  {
    name: 'waiting mail can be withdrawn and is then never delivered',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const first = await fixture.admit(said('1'))
      const second = await fixture.admit(said('2'))
      expectKind(await store.withdraw({ sessionId: fixture.id, mail: first }), 'withdrawn')
      const request = { ...fixture.fenced(), mail: [first] }
      expectKind(await store.deliver(request), 'not-pending')
      assert.deepEqual(await fixture.deliver(second), [1])
      assert.equal((await fixture.row()).pending.user, 0)
    },
  },
  {
    name: 'withdrawing mail that is already withdrawn or delivered is refused with its state',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const one = await fixture.admit(said('1'))
      const two = await fixture.admit(said('2'))
      await store.withdraw({ sessionId: fixture.id, mail: one })
      const again = await store.withdraw({ sessionId: fixture.id, mail: one })
      assert.equal(expectKind(again, 'not-pending').state, 'withdrawn')
      await fixture.deliver(two)
      const late = await store.withdraw({ sessionId: fixture.id, mail: two })
      assert.equal(expectKind(late, 'not-pending').state, 'delivered')
      expectKind(await store.withdraw({ sessionId: fixture.id, mail: mailNumber(9) }), 'unknown')
    },
  },
  {
    name: 'withdrawn mail keeps its key; a message keeps its text, a notification loses it [I4, I19]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      for (const [lane, kept] of [
        ['user', canonicalJson(said('canary'))],
        ['notification', null],
      ] as const) {
        const mail = await fixture.admit(said('canary'), { key: lane, lane })
        expectKind(await store.withdraw({ sessionId: fixture.id, mail }), 'withdrawn')
        const [row] = await store.listMail({ sessionId: fixture.id, lane, limit: 1 })
        assert.deepEqual([row?.state, row?.body], ['withdrawn', kept])
        const again = await fixture.tryAdmit(said('canary'), { key: lane, lane })
        assert.equal(expectKind(again, 'duplicate').mail, mail)
      }
    },
  },
  {
    name: 'withdrawing makes room for its source [I24]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store, { limits: { ...LIMITS, sourceMailMax: 1 } })
      const mail = await fixture.admit(said('1'))
      await store.withdraw({ sessionId: fixture.id, mail })
      await fixture.admit(said('2'))
    },
  },
]
