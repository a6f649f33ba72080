import assert from 'node:assert/strict'
import { entryNumber } from '../../base/ids.ts'
import { TURN_ATTEMPTS_MAX } from '../bounds.ts'
import { create, expectKind, register, replyTo, StoreFixture } from './bench.ts'
import type { StoreBench, StoreCase } from './case.ts'

async function recover(fixture: StoreFixture, repeatable: readonly string[] = []) {
  const failureReplies = [replyTo('ana', 'gave-up')]
  const max = { attemptsMax: TURN_ATTEMPTS_MAX, lossesMax: LOSSES_MAX }
  return fixture.store.recover({ ...fixture.fenced(), repeatable, ...max, failureReplies })
}

const LOSSES_MAX = 5

/** The holder's process dies, and another one takes over. */
async function dieAndAcquire(bench: StoreBench, fixture: StoreFixture): Promise<StoreFixture> {
  const runner = await register(bench.store)
  await bench.dismiss(fixture.lease.runner)
  return StoreFixture.acquire(bench.store, fixture.id, runner)
}

/** An error ends the holder's work, and it starts again. */
async function crashAndAcquire(fixture: StoreFixture): Promise<StoreFixture> {
  const { store, lease, id } = fixture
  expectKind(await store.release({ lease, reason: 'crash' }), 'done')
  return StoreFixture.acquire(store, id, lease.runner)
}

export const recovery: readonly StoreCase[] = [
  {
    name: 'recovery closes open calls with an unknown outcome [I32]',
    run: async (bench) => {
      const { store } = bench
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      await fixture.reply('calling', { calls: ['c1', 'c2'] })
      const next = await dieAndAcquire(bench, fixture)
      const outcome = expectKind(await recover(next), 'recovered')
      assert.deepEqual([outcome.turn, outcome.losses, outcome.openCalls], ['resumed', 1, []])
      const range = { sessionId: fixture.id, from: entryNumber(3), to: entryNumber(4) }
      const metas = (await store.readEntries(range)).map(({ meta }) => meta)
      assert.deepEqual(metas, [
        { call: 'c1', outcome: 'unknown', blobs: [] },
        { call: 'c2', outcome: 'unknown', blobs: [] },
      ])
    },
  },
  {
    name: 'calls that may be repeated stay open for the new holder [I32]',
    run: async (bench) => {
      const { store } = bench
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      await fixture.reply('calling', { calls: ['safe', 'unsafe'] })
      const next = await dieAndAcquire(bench, fixture)
      const outcome = expectKind(await recover(next, ['safe']), 'recovered')
      next.tail = outcome.tail
      assert.deepEqual(outcome.openCalls, ['safe'])
      await next.results('safe')
    },
  },
  {
    name: 'recovery runs once per acquisition [I28]',
    run: async (bench) => {
      const { store } = bench
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      const next = await dieAndAcquire(bench, fixture)
      expectKind(await recover(next), 'recovered')
      for (let again = 0; again < 10; again++) expectKind(await recover(next), 'already')
      assert.equal((await next.row()).losses, 1)
    },
  },
  {
    name: 'a session that is acquired between two turns needs no recovery [I28]',
    run: async (bench) => {
      const fixture = await StoreFixture.open(bench.store)
      expectKind(await recover(fixture), 'already')
      await fixture.exchange('a', 'b')
      const next = await dieAndAcquire(bench, fixture)
      const { fence, recovered, losses } = await next.row()
      assert.deepEqual([recovered, losses], [fence, 0])
      expectKind(await recover(next), 'already')
      await next.hear('work')
      const last = await dieAndAcquire(bench, next)
      assert.equal(expectKind(await recover(last), 'recovered').turn, 'resumed')
    },
  },
  {
    name: 'a poison turn ends as failed after its attempts, with a reply that says so [I23, I27]',
    run: async ({ store }) => {
      let fixture = await StoreFixture.open(store)
      await fixture.hear('poison')
      for (let attempt = 1; attempt <= TURN_ATTEMPTS_MAX; attempt++) {
        fixture = await crashAndAcquire(fixture)
        assert.equal(expectKind(await recover(fixture), 'recovered').turn, 'resumed')
      }
      fixture = await crashAndAcquire(fixture)
      assert.equal(expectKind(await recover(fixture), 'recovered').turn, 'failed')
      const row = await fixture.row()
      assert.deepEqual([row.turnState, row.settled.user, row.seen, row.attempts], ['idle', 1, 1, 0])
      const [reply] = await store.listReplies({ sessionId: fixture.id, limit: 5 })
      assert.equal(reply?.key, 'gave-up')
    },
  },
  {
    name: 'a turn that keeps losing its process is resumed up to a limit of losses, then fails [I23, I27]',
    run: async (bench) => {
      let fixture = await StoreFixture.open(bench.store)
      await fixture.hear('deadly')
      for (let losses = 1; losses <= LOSSES_MAX; losses++) {
        fixture = await dieAndAcquire(bench, fixture)
        assert.equal(expectKind(await recover(fixture), 'recovered').turn, 'resumed')
        assert.equal((await fixture.row()).attempts, 0)
      }
      fixture = await dieAndAcquire(bench, fixture)
      assert.equal(expectKind(await recover(fixture), 'recovered').turn, 'failed')
      const row = await fixture.row()
      assert.deepEqual([row.turnState, row.settled.user, row.losses], ['idle', 1, 0])
    },
  },
  {
    name: 'a runner that retires during a turn counts as a loss of that turn, not of its idle sessions [I27]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      const { runner } = fixture.lease
      const other = await StoreFixture.acquire(store, await create(store), runner)
      expectKind(await store.retireRunner({ runner }), 'done')
      const [row, resting] = [await fixture.row(), await other.row()]
      assert.deepEqual([row.losses, row.attempts, resting.losses], [1, 0, 0])
    },
  },
  {
    name: 'a holder that is lost before it recovers the turn is not counted [I27]',
    run: async (bench) => {
      const { store } = bench
      let fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      fixture = await dieAndAcquire(bench, fixture)
      for (let again = 0; again < 2; again++) {
        fixture = await crashAndAcquire(fixture)
        fixture = await dieAndAcquire(bench, fixture)
      }
      const row = await fixture.row()
      assert.deepEqual([row.losses, row.attempts], [1, 0])
    },
  },
  {
    name: 'a crash counts as an attempt at the turn, a shutdown does not [I27]',
    run: async ({ store }) => {
      let fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      fixture = await crashAndAcquire(fixture)
      for (let again = 0; again < 2 * LOSSES_MAX; again++) {
        assert.equal(expectKind(await recover(fixture), 'recovered').turn, 'resumed')
        expectKind(await store.release({ lease: fixture.lease, reason: 'shutdown' }), 'done')
        fixture = await StoreFixture.acquire(store, fixture.id, fixture.lease.runner)
      }
      const row = await fixture.row()
      assert.deepEqual([row.attempts, row.losses], [1, 0])
    },
  },
  {
    name: 'a committed step resets the counts of attempts and losses [I27]',
    run: async (bench) => {
      let fixture = await StoreFixture.open(bench.store)
      await fixture.hear('work')
      fixture = await crashAndAcquire(fixture)
      await recover(fixture)
      fixture = await dieAndAcquire(bench, fixture)
      await recover(fixture)
      const before = await fixture.row()
      await fixture.reply('calling', { calls: ['c'] })
      const after = await fixture.row()
      assert.deepEqual([before.attempts, before.losses], [1, 1])
      assert.deepEqual([after.attempts, after.losses], [0, 0])
    },
  },
  {
    name: 'a turn that is given up closes even repeatable calls [I15, I32]',
    run: async ({ store }) => {
      let fixture = await StoreFixture.open(store)
      await fixture.hear('poison')
      await fixture.reply('calling', { calls: ['safe'] })
      for (let attempt = 0; attempt < TURN_ATTEMPTS_MAX; attempt++) {
        fixture = await crashAndAcquire(fixture)
        await recover(fixture, ['safe'])
      }
      fixture = await crashAndAcquire(fixture)
      const outcome = expectKind(await recover(fixture, ['safe']), 'recovered')
      assert.deepEqual([outcome.turn, outcome.openCalls], ['failed', []])
    },
  },
  {
    name: "a former holder's result is refused after another runner took over [I8, I32]",
    run: async (bench) => {
      const { store } = bench
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      await fixture.reply('calling', { calls: ['c'] })
      const next = await dieAndAcquire(bench, fixture)
      await recover(next)
      const results = [{ call: 'c', outcome: 'ok', body: 'late', tokens: 1 }] as const
      const late = await store.commitResults({ ...fixture.fenced(), results })
      expectKind(late, 'superseded')
    },
  },
]
