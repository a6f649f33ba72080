import assert from 'node:assert/strict'
import { sessionId } from '../../base/ids.ts'
import { create, expectKind, newOperation, StoreFixture } from './bench.ts'
import type { StoreCase } from './case.ts'

/** What an edge has shown of replies before they are settled. */
export const drafts: readonly StoreCase[] = [
  {
    name: 'what was shown of a reply is kept under its key until it is dropped',
    run: async ({ store, sibling }) => {
      const [one, other] = [await create(store), await create(store)]
      const draft = { sessionId: one, key: 'a-1', ids: ['17'] }
      expectKind(await store.putDraft(draft), 'done')
      expectKind(await store.putDraft({ ...draft, ids: ['17', 'é18'] }), 'done')
      expectKind(await store.putDraft({ ...draft, key: 'a-2' }), 'done')
      const elsewhere = await sibling()
      const found = await elsewhere.findDraft({ sessionId: one, key: 'a-1' })
      assert.deepEqual(found?.ids, ['17', 'é18'])
      assert.equal(await store.findDraft({ sessionId: other, key: 'a-1' }), undefined)
      expectKind(await elsewhere.putDraft({ ...draft, ids: [] }), 'done')
      assert.equal(await store.findDraft({ sessionId: one, key: 'a-1' }), undefined)
      assert.deepEqual((await store.findDraft({ sessionId: one, key: 'a-2' }))?.ids, ['17'])
      expectKind(await store.putDraft({ ...draft, sessionId: sessionId('nobody') }), 'unknown')
    },
  },
  {
    name: 'a reply that is settled leaves no draft behind; one that is put off does',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const place = { edge: 'chat', address: '7', key: 'r-1' }
      await fixture.exchange('hello', 'hi', [{ ...place, body: { text: 'hi' } }])
      const draft = { sessionId: fixture.id, key: 'r-1' }
      await store.putDraft({ ...draft, ids: ['17'] })
      const claimant = fixture.lease.runner
      const claim = async () =>
        expectKind(await store.claimReply({ edge: 'chat', claimant, at: 2 ** 40 * 4 }), 'claimed')
          .reply
      const first = await claim()
      const settle = { sessionId: fixture.id, number: first.number, claimant }
      const failed = { kind: 'failed', retryAt: 10, attemptsMax: 9 } as const
      await store.settleReply({ ...settle, attempt: first.attempt, result: failed })
      assert.deepEqual((await store.findDraft(draft))?.ids, ['17'])
      const { attempt } = await claim()
      const sent = { kind: 'sent', receipt: '17' } as const
      expectKind(await store.settleReply({ ...settle, attempt, result: sent }), 'settled')
      assert.equal(await store.findDraft(draft), undefined)
    },
  },
  {
    name: 'a deleted session keeps no drafts',
    run: async ({ store }) => {
      const [one, other] = [await create(store), await create(store)]
      const draft = { key: 'a-1', ids: ['17'] }
      for (const id of [one, other]) await store.putDraft({ ...draft, sessionId: id })
      await store.deleteSession({ sessionId: one, operation: newOperation(), reason: 'test' })
      expectKind(await store.putDraft({ ...draft, sessionId: one }), 'gone')
      while (expectKind(await store.eraseSome({ sessionId: one, limit: 10 }), 'erased').left) {}
      assert.equal(await store.findDraft({ sessionId: one, key: 'a-1' }), undefined)
      assert.deepEqual((await store.findDraft({ sessionId: other, key: 'a-1' }))?.ids, ['17'])
    },
  },
]
