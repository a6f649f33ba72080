import assert from 'node:assert/strict'
import { entryNumber } from '../../base/ids.ts'
import { TURN_ATTEMPTS_MAX } from '../bounds.ts'
import { expectKind, register, replyTo, StoreFixture } from './bench.ts'
import type { StoreCase } from './case.ts'

async function recover(fixture: StoreFixture, repeatable: readonly string[] = []) {
  const failureReplies = [replyTo('ana', 'gave-up')]
  const attemptsMax = TURN_ATTEMPTS_MAX
  return fixture.store.recover({ ...fixture.fenced(), repeatable, attemptsMax, failureReplies })
}

async function crashAndAcquire(fixture: StoreFixture): Promise<StoreFixture> {
  const runner = await register(fixture.store)
  await fixture.store.retireRunner({ runner: fixture.lease.runner })
  return StoreFixture.acquire(fixture.store, fixture.id, runner)
}

export const recovery: readonly StoreCase[] = [
  {
    name: 'recovery closes open calls as issued with unknown outcome [I32]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      await fixture.reply('calling', { calls: ['c1', 'c2'] })
      const next = await crashAndAcquire(fixture)
      const outcome = expectKind(await recover(next), 'recovered')
      assert.deepEqual([outcome.turn, outcome.attempts, outcome.openCalls], ['resumed', 1, []])
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
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      await fixture.reply('calling', { calls: ['safe', 'unsafe'] })
      const next = await crashAndAcquire(fixture)
      const outcome = expectKind(await recover(next, ['safe']), 'recovered')
      next.tail = outcome.tail
      assert.deepEqual(outcome.openCalls, ['safe'])
      await next.results('safe')
    },
  },
  {
    name: 'recovery is done once per acquisition [I28]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      const next = await crashAndAcquire(fixture)
      expectKind(await recover(next), 'recovered')
      for (let again = 0; again < 10; again++) expectKind(await recover(next), 'already')
      assert.equal((await next.row()).attempts, 1)
    },
  },
  {
    name: 'recovery of a session at rest changes nothing but its mark [I28]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('a', 'b')
      const next = await crashAndAcquire(fixture)
      const outcome = expectKind(await recover(next), 'recovered')
      assert.deepEqual([outcome.turn, outcome.tail], ['none', fixture.tail])
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
    name: 'an end in order is not counted against a turn, a crash is [I27]',
    run: async ({ store }) => {
      let fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      for (let again = 0; again < 2 * TURN_ATTEMPTS_MAX; again++) {
        fixture = await crashAndAcquire(fixture)
        assert.equal(expectKind(await recover(fixture), 'recovered').turn, 'resumed')
        expectKind(await store.release({ lease: fixture.lease, reason: 'shutdown' }), 'done')
      }
      assert.equal((await fixture.row()).attempts, 0)
      fixture = await crashAndAcquire(fixture)
      await recover(fixture)
      expectKind(await store.release({ lease: fixture.lease, reason: 'crash' }), 'done')
      assert.equal((await fixture.row()).attempts, 1)
    },
  },
  {
    name: 'a committed step resets the count of attempts [I27]',
    run: async ({ store }) => {
      let fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      fixture = await crashAndAcquire(fixture)
      await recover(fixture)
      await fixture.reply('calling', { calls: ['c'] })
      assert.equal((await fixture.row()).attempts, 0)
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
    name: 'a result after the take-over is refused [I8, I32]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      await fixture.reply('calling', { calls: ['c'] })
      const next = await crashAndAcquire(fixture)
      await recover(next)
      const results = [{ call: 'c', outcome: 'ok', body: 'late', tokens: 1 }] as const
      const late = await store.commitResults({ ...fixture.fenced(), results })
      expectKind(late, 'superseded')
    },
  },
]
