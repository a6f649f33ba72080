import assert from 'node:assert/strict'
import type { EntryNumber } from '../../base/ids.ts'
import type { Store } from '../contract.ts'
import { expectKind, newOperation, register, StoreFixture } from './bench.ts'
import type { StoreCase } from './case.ts'

/** Entries: 1 input, 2 assistant, 3 turn, 4 input, 5 assistant, 6 turn; seen is 4. */
async function talked(store: Store): Promise<StoreFixture> {
  const fixture = await StoreFixture.open(store)
  await fixture.exchange('one', 'first')
  await fixture.exchange('two', 'second')
  return fixture
}

export const compactions: readonly StoreCase[] = [
  {
    name: 'a committed compaction is one entry that covers a prefix; id and routes stay [I5, I10]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const entry = await fixture.compact(4)
      const row = await fixture.row()
      assert.deepEqual(
        [row.id, row.effective, row.covers, row.base, row.by, row.operation],
        [fixture.id, entry, 4, entry, 'model', null],
      )
      assert.equal(entry, 7)
    },
  },
  {
    name: 'a compaction cannot cover entries that no model has seen [I10]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      await fixture.hear('three')
      assert.equal(expectKind(await fixture.tryClaim(7), 'unseen').seen, 4)
    },
  },
  {
    name: 'a compaction must cover more entries than the one in effect',
    run: async ({ store }) => {
      const fixture = await talked(store)
      await fixture.compact(3)
      assert.equal(expectKind(await fixture.tryClaim(3), 'covered').covers, 3)
      await fixture.compact(4)
    },
  },
  {
    name: 'one compaction is in flight per session: a second claim joins the first [I6, fault 27]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const operation = await fixture.claim(3)
      const joined = expectKind(await fixture.tryClaim(4), 'joined')
      assert.equal(joined.operation.id, operation)
      assert.equal((await store.listOperations({ sessionId: fixture.id, limit: 9 })).length, 1)
    },
  },
  {
    name: 'claims carry fence, base, cover and the compaction below, by value',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const first = await fixture.compact(3)
      const { operation } = expectKind(await fixture.tryClaim(4), 'claimed')
      const { fence, base, covers, previous, state } = operation
      assert.deepEqual([fence, base, covers, previous, state], [1, first, 4, first, 'running'])
    },
  },
  {
    name: 'a compaction commits while the tail grows behind its cut [I10]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const operation = await fixture.claim(4)
      await fixture.exchange('three', 'third')
      await fixture.commit(operation)
      assert.equal((await fixture.row()).covers, 4)
    },
  },
  {
    name: 'a compaction commits between a call and its result [I10]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      await fixture.hear('work')
      await fixture.reply('calling', { calls: ['c'] })
      await fixture.compact(4)
      await fixture.results('c')
    },
  },
  {
    name: 'a stop does not reach a compaction [I11]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const operation = await fixture.claim(4)
      await fixture.hear('work')
      for (let storm = 0; storm < 10; storm++) await fixture.stop()
      await fixture.reply('cut', { ends: 'stopped' })
      await fixture.commit(operation)
    },
  },
  {
    name: 'a commit after a take-over changes nothing [I7, fault 19]',
    run: async ({ store, dismiss }) => {
      const fixture = await talked(store)
      const operation = await fixture.claim(4)
      await dismiss(fixture.lease.runner)
      const next = await StoreFixture.acquire(store, fixture.id, await register(store))
      const before = await next.row()
      assert.deepEqual(await fixture.tryCommit(operation), { kind: 'superseded', by: 'fence' })
      assert.deepEqual(await next.row(), before)
    },
  },
  {
    name: 'a new holder cannot commit the operation of the one before [I6, I7]',
    run: async ({ store, dismiss }) => {
      const fixture = await talked(store)
      const operation = await fixture.claim(4)
      await dismiss(fixture.lease.runner)
      const next = await StoreFixture.acquire(store, fixture.id, await register(store))
      const outcome = await next.tryCommit(operation)
      assert.deepEqual(outcome, { kind: 'ended', state: 'abandoned' })
    },
  },
  {
    name: 'an operation commits once [I6, I20]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const operation = await fixture.claim(4)
      await fixture.commit(operation)
      const again = await fixture.tryCommit(operation)
      assert.deepEqual(again, { kind: 'ended', state: 'committed' })
      assert.equal((await fixture.row()).tail, 7)
    },
  },
  {
    name: 'an unknown operation, or one of another session, commits nothing [I21]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const other = await talked(store)
      const operation = await fixture.claim(4)
      const before = await other.row()
      expectKind(await other.tryCommit(operation), 'ended')
      expectKind(await other.tryCommit(newOperation()), 'ended')
      assert.deepEqual(await other.row(), before)
      assert.equal((await store.findOperation(operation))?.state, 'running')
    },
  },
  {
    name: 'a failed compaction leaves the session row unchanged and records its reason [I12]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const before = await fixture.row()
      const operation = await fixture.claim(4)
      const request = { operation, fence: 1, state: 'failed', reason: 'truncated-stream' } as const
      expectKind(await store.failCompaction(request), 'done')
      assert.deepEqual(await fixture.row(), before)
      const row = await store.findOperation(operation)
      assert.deepEqual([row?.state, row?.result], ['failed', { reason: 'truncated-stream' }])
    },
  },
  {
    name: 'an operation that ended does not end again [I20]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const operation = await fixture.claim(4)
      const request = { operation, fence: 1, state: 'failed', reason: 'x' } as const
      await store.failCompaction(request)
      const again = await store.failCompaction(request)
      assert.deepEqual(again, { kind: 'ended', state: 'failed' })
      expectKind(await fixture.tryCommit(operation), 'ended')
    },
  },
  {
    name: 'a failure under another fence is refused [I7]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const operation = await fixture.claim(4)
      const request = { operation, fence: 0, state: 'failed', reason: 'x' } as const
      expectKind(await store.failCompaction(request), 'ended')
      assert.equal((await store.findOperation(operation))?.state, 'running')
    },
  },
  {
    name: 'every operation has one started and one terminal audit row [I20]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const committed = await fixture.claim(3)
      await fixture.commit(committed)
      const failed = await fixture.claim(4)
      await store.failCompaction({ operation: failed, fence: 1, state: 'failed', reason: 'x' })
      const lines = await store.readAudit({ after: 0, sessionId: fixture.id, limit: 100 })
      for (const [operation, end] of [
        [committed, 'committed'],
        [failed, 'failed'],
      ] as const) {
        const phases = lines
          .filter((line) => line.operation === operation)
          .map(({ phase }) => phase)
        assert.deepEqual(phases, ['started', end])
      }
    },
  },
  {
    name: 'a manual request stays pending until its operation ends [I23, fault 26]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const mail = await fixture.admit({}, { lane: 'control', control: 'compact', tokens: 0 })
      const operation = await fixture.claim(4)
      assert.equal((await fixture.row()).pending.control, 1)
      const { lease, tail } = fixture
      const content = { body: 'x', tokens: 1, result: {}, settles: [mail] }
      const outcome = await store.commitCompaction({ lease, tail, operation, ...content })
      expectKind(outcome, 'committed')
      assert.equal((await fixture.row()).pending.control, 0)
    },
  },
  {
    name: 'a failed operation may settle the request that asked for it [I23]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const mail = await fixture.admit({}, { lane: 'control', control: 'compact', tokens: 0 })
      const operation = await fixture.claim(4)
      const request = {
        operation,
        fence: 1,
        state: 'failed',
        reason: 'x',
        settles: [mail],
      } as const
      expectKind(await store.failCompaction(request), 'done')
      assert.equal((await fixture.row()).pending.control, 0)
    },
  },
  {
    name: 'a rewrite replaces a digest: same range, in its place [I13]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const first = await fixture.compact(3)
      await fixture.compact(4, 'digest')
      expectKind(await fixture.tryClaim(3, 'rewrite'), 'covered')
      const entry = await fixture.compact(4, 'rewrite')
      const row = await fixture.row()
      assert.deepEqual([row.effective, row.by, row.covers], [entry, 'rewrite', 4])
      assert.equal(expectKind(await fixture.revert(entry), 'reverted').effective, first)
    },
  },
  {
    name: 'a clearing does not extend the covered range, and is reverted like any compaction [I12]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const first = await fixture.compact(3)
      expectKind(await fixture.tryClaim(4, 'clearing'), 'covered')
      const { entry } = expectKind(await fixture.clear(4), 'committed')
      const row = await fixture.row()
      assert.deepEqual([row.effective, row.by, row.covers, row.base], [entry, 'clearing', 3, entry])
      const [made] = await store.readEntries({ sessionId: fixture.id, from: entry, to: entry })
      assert.deepEqual(made?.kind === 'compaction' && made.meta, {
        ...{ covers: 3, previous: first, by: 'clearing' },
        clears: { upto: 4, tokens: 100 },
      })
      assert.equal(expectKind(await fixture.revert(entry), 'reverted').effective, first)
      assert.equal((await fixture.row()).by, 'model')
    },
  },
  {
    name: 'a clearing cannot shorten entries that no model has seen [I10]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      const { seen } = await fixture.row()
      assert.equal(expectKind(await fixture.clear(seen + 1), 'unseen').seen, seen)
      assert.equal((await fixture.row()).effective, 0)
    },
  },
  {
    name: 'a compaction keeps an earlier clearing only for results that it does not cover [I13]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      expectKind(await fixture.clear(4), 'committed')
      const clearsOf = async (entry: EntryNumber) => {
        const [made] = await store.readEntries({ sessionId: fixture.id, from: entry, to: entry })
        return made?.kind === 'compaction' ? made.meta.clears : null
      }
      assert.deepEqual(await clearsOf(await fixture.compact(3)), { upto: 4, tokens: 100 })
      assert.equal(await clearsOf(await fixture.compact(4)), undefined)
    },
  },
  {
    name: 'a rewrite is refused when the compaction in effect is not a digest',
    run: async ({ store }) => {
      const fixture = await talked(store)
      await fixture.compact(4)
      expectKind(await fixture.tryClaim(4, 'rewrite'), 'no-digest')
    },
  },
  {
    name: 'any other claim supersedes a running rewrite, in the same commit [I6]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      await fixture.compact(3, 'digest')
      const rewrite = await fixture.claim(3, 'rewrite')
      const claimed = await fixture.claim(4)
      assert.equal((await store.findOperation(rewrite))?.state, 'superseded')
      assert.equal((await fixture.row()).operation, claimed)
      expectKind(await fixture.tryCommit(rewrite), 'ended')
    },
  },
  {
    name: "a digest's claim supersedes a running model compaction, in the same commit [I6, I35]",
    run: async ({ store }) => {
      const fixture = await talked(store)
      const slow = await fixture.claim(3)
      const digest = await fixture.claim(4, 'digest')
      assert.equal((await store.findOperation(slow))?.state, 'superseded')
      assert.equal((await fixture.row()).operation, digest)
      expectKind(await fixture.tryCommit(slow), 'ended')
      assert.equal(expectKind(await fixture.tryClaim(4), 'joined').operation.id, digest)
    },
  },
  {
    name: 'a rewrite joins a compaction in flight instead of superseding it [I6]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      await fixture.compact(3, 'digest')
      const operation = await fixture.claim(4)
      assert.equal(
        expectKind(await fixture.tryClaim(3, 'rewrite'), 'joined').operation.id,
        operation,
      )
    },
  },
  {
    name: 'a new digest resets the count of rewrites [I27]',
    run: async ({ store }) => {
      const fixture = await talked(store)
      await fixture.compact(3, 'digest')
      await fixture.claim(3, 'rewrite')
      await fixture.compact(4, 'digest')
      assert.equal((await fixture.row()).rewrites, 0)
    },
  },
]
