import assert from 'node:assert/strict'
import { mailNumber } from '../../base/ids.ts'
import { canonicalJson } from '../integrity/canonical.ts'
import { expectKind, LIMITS, StoreFixture, said } from './bench.ts'
import type { StoreCase } from './case.ts'

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
    name: 'withdrawing twice, or what was delivered, is refused with the state',
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
    name: 'what was withdrawn is known by its key; a message stays on record, a notification keeps no words [I4, I19]',
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
