import assert from 'node:assert/strict'
import { entryNumber } from '../../base/ids.ts'
import { ATTEMPTS_MAX } from '../../store/contract.ts'
import type { StoreCase } from './case.ts'
import { Desk, expectKind, LIMITS, register, replyTo, said } from './desk.ts'

export const delivery: readonly StoreCase[] = [
  {
    name: 'each item becomes one entry, in the order of its lane [I2, I3]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      assert.deepEqual(await desk.hear('a', 'b', 'c'), [1, 2, 3])
      const range = { sessionId: desk.id, from: entryNumber(1), to: entryNumber(3) }
      const entries = await store.readEntries(range)
      assert.deepEqual(
        entries.map((entry) => entry.kind === 'input' && entry.meta.mail),
        [1, 2, 3],
      )
    },
  },
  {
    name: 'an older item of the same lane is not overtaken [I2]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const first = await desk.admit(said('1'))
      const second = await desk.admit(said('2'))
      const outcome = await store.deliver({ ...desk.fenced(), mail: [second] })
      assert.equal(expectKind(outcome, 'out-of-order').first, first)
      assert.equal((await desk.row()).tail, 0)
    },
  },
  {
    name: 'a user message may overtake a notification',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const note = await desk.admit(said('n'), { lane: 'notification' })
      const message = await desk.admit(said('u'))
      assert.deepEqual(await desk.deliver(message, note), [1, 2])
    },
  },
  {
    name: 'nothing is delivered twice [I3]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const mail = await desk.admit(said('1'))
      await desk.deliver(mail)
      expectKind(await store.deliver({ ...desk.fenced(), mail: [mail] }), 'not-pending')
      const other = await desk.admit(said('2'))
      expectKind(await store.deliver({ ...desk.fenced(), mail: [other, other] }), 'not-pending')
      assert.equal((await desk.row()).tail, 1)
    },
  },
  {
    name: 'nothing is delivered between a call and its result [I15]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('work')
      await desk.reply('calling', { calls: ['c1'] })
      const mail = await desk.admit(said('wait'))
      expectKind(await store.deliver({ ...desk.fenced(), mail: [mail] }), 'calls-open')
      await desk.results('c1')
      await desk.deliver(mail)
    },
  },
  {
    name: 'a delivery begins a turn, a second one joins it',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('a')
      assert.deepEqual([(await desk.row()).turn, (await desk.row()).turnState], [1, 'running'])
      await desk.hear('b')
      assert.equal((await desk.row()).turn, 1)
    },
  },
  {
    name: 'unseen input never exceeds its bound over several deliveries [I33]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.deliver(await desk.admit(said('a'), { tokens: 200 }))
      const more = await desk.admit(said('b'), { tokens: 101 })
      const outcome = await store.deliver({ ...desk.fenced(), mail: [more] })
      const refused = expectKind(outcome, 'no-room')
      assert.deepEqual([refused.unseenTokens, refused.inputTokens], [200, LIMITS.inputTokens])
    },
  },
  {
    name: 'unseen input may fill its bound exactly [I33]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.deliver(await desk.admit(said('a'), { tokens: 200 }))
      await desk.deliver(await desk.admit(said('b'), { tokens: 100 }))
    },
  },
  {
    name: 'a single item above the bound is delivered alone, never stuck [I23, I33]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const huge = await desk.admit(said('huge'), { tokens: 5_000 })
      const next = await desk.admit(said('next'), { tokens: 1 })
      expectKind(await store.deliver({ ...desk.fenced(), mail: [huge, next] }), 'no-room')
      await desk.deliver(huge)
    },
  },
  {
    name: 'a committed step makes room for input [I33]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.deliver(await desk.admit(said('a'), { tokens: 300 }))
      await desk.reply('calling', { calls: ['c'] })
      await desk.results('c')
      await desk.deliver(await desk.admit(said('b'), { tokens: 300 }))
    },
  },
  {
    name: 'a delivery that is refused half-way leaves nothing behind [I9]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const good = await desk.admit(said('1'), { tokens: 200 })
      const bad = await desk.admit(said('2'), { tokens: 200 })
      const before = await desk.row()
      expectKind(await store.deliver({ ...desk.fenced(), mail: [good, bad] }), 'no-room')
      assert.deepEqual(await desk.row(), before)
    },
  },
]

export const steps: readonly StoreCase[] = [
  {
    name: 'a reply that ends the turn settles its mail and sends its replies [I3, I31]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('hi', 'hello', [replyTo('ana')])
      const row = await desk.row()
      assert.deepEqual([row.turnState, row.settled.user, row.seen, row.tail], ['idle', 1, 1, 3])
      const [reply] = await store.listReplies({ sessionId: desk.id, limit: 5 })
      assert.deepEqual([reply?.number, reply?.entry, reply?.state], [1, 2, 'waiting'])
    },
  },
  {
    name: 'the step record says what the context was built from',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('hi')
      const { entry } = await desk.reply('hello', { calls: ['c1', 'c2'] })
      const [row] = await store.readEntries({ sessionId: desk.id, from: entry, to: entry })
      assert.deepEqual(row?.meta, {
        turn: 1,
        upto: 1,
        renderer: 'r1',
        calls: ['c1', 'c2'],
        blobs: [],
      })
    },
  },
  {
    name: 'a reply with calls opens them before any tool starts [I32]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('work')
      await desk.reply('calling', { calls: ['c1', 'c2'] })
      assert.deepEqual((await desk.row()).openCalls, ['c1', 'c2'])
    },
  },
  {
    name: 'no reply is committed while calls are open [I15]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('work')
      await desk.reply('calling', { calls: ['c1'] })
      const step = { upto: entryNumber(1), renderer: 'r', calls: [], body: 'x', tokens: 1 }
      const outcome = await store.commitReply({ ...desk.fenced(), turn: 1, step })
      expectKind(outcome, 'calls-open')
    },
  },
  ...(
    [
      ['a call is missing', ['c1']],
      ['a call is unknown', ['c1', 'c2', 'c3']],
      ['a call is named twice', ['c1', 'c1']],
      ['another call stands for one', ['c1', 'cx']],
    ] as const
  ).map(
    ([what, calls]): StoreCase => ({
      name: `results are refused when ${what} [I15, I32]`,
      run: async ({ store }) => {
        const desk = await Desk.open(store)
        await desk.hear('work')
        await desk.reply('calling', { calls: ['c1', 'c2'] })
        const plain = { outcome: 'ok', body: 'x', tokens: 1 } as const
        const results = calls.map((call) => ({ call, ...plain }))
        const outcome = await store.commitResults({ ...desk.fenced(), results })
        assert.deepEqual(expectKind(outcome, 'other-calls').openCalls, ['c1', 'c2'])
        assert.equal((await desk.row()).tail, 2)
      },
    }),
  ),
  {
    name: 'results close the calls and keep their order and outcome',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('work')
      await desk.reply('calling', { calls: ['c1', 'c2'] })
      const results = [
        { call: 'c2', outcome: 'error', body: 'no', tokens: 1 },
        { call: 'c1', outcome: 'ok', body: 'yes', tokens: 1 },
      ] as const
      const outcome = await store.commitResults({ ...desk.fenced(), results })
      desk.tail = expectKind(outcome, 'committed').tail
      assert.deepEqual((await desk.row()).openCalls, [])
      const range = { sessionId: desk.id, from: entryNumber(3), to: entryNumber(4) }
      const metas = (await store.readEntries(range)).map(({ meta }) => meta)
      assert.deepEqual(metas, [
        { call: 'c2', outcome: 'error', blobs: [] },
        { call: 'c1', outcome: 'ok', blobs: [] },
      ])
    },
  },
  {
    name: 'results without open calls are refused',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('work')
      expectKind(await store.commitResults({ ...desk.fenced(), results: [] }), 'other-calls')
    },
  },
  {
    name: 'a reply for a turn that is over is refused [I11]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('a', 'b')
      const step = { upto: entryNumber(1), renderer: 'r', calls: [], body: 'x', tokens: 1 }
      const outcome = await store.commitReply({ ...desk.fenced(), turn: 1, step })
      expectKind(outcome, 'turn-over')
    },
  },
  {
    name: 'a step cannot have seen entries to come',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('a')
      await assert.rejects(desk.reply('x', { upto: entryNumber(2) }), { code: 'invalid-request' })
    },
  },
  {
    name: 'a reply with calls cannot end its turn [I32]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('a')
      const attempt = desk.reply('x', { calls: ['c'], ends: 'answered' })
      await assert.rejects(attempt, { code: 'invalid-request' })
    },
  },
  {
    name: 'seen never goes back',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('a', 'b')
      await desk.reply('x', { calls: ['c'] })
      await desk.results('c')
      await desk.reply('y', { upto: entryNumber(1), ends: 'answered' })
      assert.equal((await desk.row()).seen, 2)
    },
  },
  {
    name: 'input that came too late for the last step begins the next turn at once [I3, I23]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('a')
      const upto = desk.tail.number
      await desk.hear('late')
      const outcome = await desk.reply('answer to a', { upto, ends: 'answered' })
      const row = await desk.row()
      assert.equal(outcome.nextTurn, 2)
      assert.deepEqual([row.turn, row.turnState, row.settled.user], [2, 'running', 1])
      await desk.reply('answer to late', { ends: 'answered' })
      assert.equal((await desk.row()).settled.user, 2)
    },
  },
  {
    name: 'a stop ends the turn it was meant for and no later one [I11]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('a')
      await desk.stop()
      await desk.reply('cut', { ends: 'stopped' })
      await desk.hear('b')
      assert.equal((await desk.row()).turn, 2)
      assert.equal((await desk.row()).pending.control, 0)
    },
  },
  {
    name: 'a turn may be stopped before the model said anything [I11]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('a')
      await desk.reply('calling', { calls: ['c'] })
      await desk.results('c')
      await desk.stop()
      const ends = { how: 'stopped', replies: [] } as const
      const outcome = await store.commitReply({ ...desk.fenced(), turn: 1, ends })
      assert.equal(expectKind(outcome, 'committed').nextTurn, null)
      assert.deepEqual(
        [(await desk.row()).turnState, (await desk.row()).pending.control],
        ['idle', 0],
      )
    },
  },
  {
    name: 'a reply without a step must end its turn',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('a')
      const attempt = store.commitReply({ ...desk.fenced(), turn: 1 })
      await assert.rejects(attempt, { code: 'invalid-request' })
    },
  },
  {
    name: 'an answer that uses a blob counts it, and is refused when it is gone',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.hear('draw')
      const blob = { sessionId: desk.id, mediaType: 'image/png', bytes: new Uint8Array([9]) }
      const { hash } = expectKind(await store.stageBlob(blob), 'staged')
      await desk.reply('here', { blobs: [hash], calls: ['c'] })
      assert.equal((await store.findBlob({ sessionId: desk.id, hash }))?.uses, 1)
      const results = [{ call: 'c', outcome: 'ok', body: 1, tokens: 1, blobs: ['none'] }] as const
      const outcome = await store.commitResults({ ...desk.fenced(), results })
      expectKind(outcome, 'blob-missing')
    },
  },
  {
    name: 'after an unknown outcome the operation is found at tail + 1 [I4]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const mail = await desk.admit(said('hi'))
      const request = { ...desk.fenced(), mail: [mail] }
      await store.deliver(request)
      const blind = await store.deliver(request)
      assert.deepEqual(blind, { kind: 'superseded', by: 'tail' })
      const next = entryNumber(desk.tail.number + 1)
      const [entry] = await store.readEntries({ sessionId: desk.id, from: next, to: next })
      assert.equal(entry?.operation, request.operation)
      assert.equal((await desk.row()).tail, 1)
    },
  },
]

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
