import assert from 'node:assert/strict'
import { entryNumber } from '../../base/ids.ts'
import { Desk, expectKind, replyTo, said } from './bench.ts'
import type { StoreCase } from './case.ts'

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
    name: 'after an unknown outcome the operation is found at tail + 1 [I4, fault 33]',
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
