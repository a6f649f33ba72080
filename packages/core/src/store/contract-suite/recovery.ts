import assert from 'node:assert/strict'
import { entryNumber } from '../../base/ids.ts'
import { ATTEMPTS_MAX } from '../bounds.ts'
import { Desk, expectKind, register, replyTo } from './bench.ts'
import type { StoreCase } from './case.ts'

async function recover(desk: Desk, repeatable: readonly string[] = []) {
  const failureReplies = [replyTo('ana', 'gave-up')]
  const attemptsMax = ATTEMPTS_MAX
  return desk.store.recover({ ...desk.fenced(), repeatable, attemptsMax, failureReplies })
}

async function crashAndAcquire(desk: Desk): Promise<Desk> {
  const runner = await register(desk.store)
  await desk.store.retireRunner({ runner: desk.lease.runner })
  return Desk.acquire(desk.store, desk.id, runner)
}

export const recovery: readonly StoreCase[] = [
  {
    name: 'recovery closes open calls as issued with unknown outcome [I32]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('work')
      await desk.reply('calling', { calls: ['c1', 'c2'] })
      const next = await crashAndAcquire(desk)
      const outcome = expectKind(await recover(next), 'recovered')
      assert.deepEqual([outcome.turn, outcome.attempts, outcome.openCalls], ['resumed', 1, []])
      const range = { sessionId: desk.id, from: entryNumber(3), to: entryNumber(4) }
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
      const desk = await Desk.open(store)
      await desk.hear('work')
      await desk.reply('calling', { calls: ['safe', 'unsafe'] })
      const next = await crashAndAcquire(desk)
      const outcome = expectKind(await recover(next, ['safe']), 'recovered')
      next.tail = outcome.tail
      assert.deepEqual(outcome.openCalls, ['safe'])
      await next.results('safe')
    },
  },
  {
    name: 'recovery is done once per acquisition [I28]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('work')
      const next = await crashAndAcquire(desk)
      expectKind(await recover(next), 'recovered')
      for (let again = 0; again < 10; again++) expectKind(await recover(next), 'already')
      assert.equal((await next.row()).attempts, 1)
    },
  },
  {
    name: 'recovery of a session at rest changes nothing but its mark [I28]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('a', 'b')
      const next = await crashAndAcquire(desk)
      const outcome = expectKind(await recover(next), 'recovered')
      assert.deepEqual([outcome.turn, outcome.tail], ['none', desk.tail])
    },
  },
  {
    name: 'a poison turn ends as failed after its attempts, with a reply that says so [I23, I27]',
    run: async ({ store }) => {
      let desk = await Desk.open(store)
      await desk.hear('poison')
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        desk = await crashAndAcquire(desk)
        assert.equal(expectKind(await recover(desk), 'recovered').turn, 'resumed')
      }
      desk = await crashAndAcquire(desk)
      assert.equal(expectKind(await recover(desk), 'recovered').turn, 'failed')
      const row = await desk.row()
      assert.deepEqual([row.turnState, row.settled.user, row.seen, row.attempts], ['idle', 1, 1, 0])
      const [reply] = await store.listReplies({ sessionId: desk.id, limit: 5 })
      assert.equal(reply?.key, 'gave-up')
    },
  },
  {
    name: 'an end in order is not counted against a turn, a crash is [I27]',
    run: async ({ store }) => {
      let desk = await Desk.open(store)
      await desk.hear('work')
      for (let again = 0; again < 2 * ATTEMPTS_MAX; again++) {
        desk = await crashAndAcquire(desk)
        assert.equal(expectKind(await recover(desk), 'recovered').turn, 'resumed')
        expectKind(await store.release({ lease: desk.lease, reason: 'shutdown' }), 'done')
      }
      assert.equal((await desk.row()).attempts, 0)
      desk = await crashAndAcquire(desk)
      await recover(desk)
      expectKind(await store.release({ lease: desk.lease, reason: 'crash' }), 'done')
      assert.equal((await desk.row()).attempts, 1)
    },
  },
  {
    name: 'a committed step resets the count of attempts [I27]',
    run: async ({ store }) => {
      let desk = await Desk.open(store)
      await desk.hear('work')
      desk = await crashAndAcquire(desk)
      await recover(desk)
      await desk.reply('calling', { calls: ['c'] })
      assert.equal((await desk.row()).attempts, 0)
    },
  },
  {
    name: 'a turn that is given up closes even repeatable calls [I15, I32]',
    run: async ({ store }) => {
      let desk = await Desk.open(store)
      await desk.hear('poison')
      await desk.reply('calling', { calls: ['safe'] })
      for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
        desk = await crashAndAcquire(desk)
        await recover(desk, ['safe'])
      }
      desk = await crashAndAcquire(desk)
      const outcome = expectKind(await recover(desk, ['safe']), 'recovered')
      assert.deepEqual([outcome.turn, outcome.openCalls], ['failed', []])
    },
  },
  {
    name: 'a result after the take-over is refused [I8, I32]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('work')
      await desk.reply('calling', { calls: ['c'] })
      const next = await crashAndAcquire(desk)
      await recover(next)
      const results = [{ call: 'c', outcome: 'ok', body: 'late', tokens: 1 }] as const
      const late = await store.commitResults({ ...desk.fenced(), results })
      expectKind(late, 'superseded')
    },
  },
]
