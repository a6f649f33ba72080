import assert from 'node:assert/strict'
import { entryNumber } from '../../base/ids.ts'
import { expectKind, replyTo, StoreFixture, said } from './bench.ts'
import type { StoreCase } from './case.ts'

export { unanswered } from './unanswered.ts'

export const steps: readonly StoreCase[] = [
  {
    name: 'a reply that ends the turn settles its mail and sends its replies [I3, I31]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('hi', 'hello', [replyTo('ana')])
      const row = await fixture.row()
      assert.deepEqual([row.turnState, row.settled.user, row.seen, row.tail], ['idle', 1, 1, 3])
      const [reply] = await store.listReplies({ sessionId: fixture.id, limit: 5 })
      assert.deepEqual([reply?.number, reply?.entry, reply?.state], [1, 2, 'waiting'])
    },
  },
  {
    name: 'the entry that ends a failed turn keeps the reason',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('hi')
      const reasonAt = async (number: number) => {
        const at = entryNumber(number)
        const [row] = await store.readEntries({ sessionId: fixture.id, from: at, to: at })
        return [row?.kind, row?.body]
      }
      const ends = { how: 'failed', replies: [], reason: 'no key' } as const
      const failed = await store.commitReply({ ...fixture.fenced(), turn: 1, ends })
      fixture.tail = expectKind(failed, 'committed').tail
      assert.deepEqual(await reasonAt(2), ['turn', '{"reason":"no key"}'])
      await fixture.exchange('again', 'hello')
      assert.deepEqual(await reasonAt(5), ['turn', 'null'])
    },
  },
  {
    name: 'the step record says what the context was built from',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('hi')
      const { entry } = await fixture.reply('hello', { calls: ['c1', 'c2'] })
      const [row] = await store.readEntries({ sessionId: fixture.id, from: entry, to: entry })
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
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      await fixture.reply('calling', { calls: ['c1', 'c2'] })
      assert.deepEqual((await fixture.row()).openCalls, ['c1', 'c2'])
    },
  },
  {
    name: 'no reply is committed while calls are open [I15]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      await fixture.reply('calling', { calls: ['c1'] })
      const step = { upto: entryNumber(1), renderer: 'r', calls: [], body: 'x', tokens: 1 }
      const outcome = await store.commitReply({ ...fixture.fenced(), turn: 1, step })
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
        const fixture = await StoreFixture.open(store)
        await fixture.hear('work')
        await fixture.reply('calling', { calls: ['c1', 'c2'] })
        const plain = { outcome: 'ok', body: 'x', tokens: 1 } as const
        const results = calls.map((call) => ({ call, ...plain }))
        const outcome = await store.commitResults({ ...fixture.fenced(), results })
        assert.deepEqual(expectKind(outcome, 'other-calls').openCalls, ['c1', 'c2'])
        assert.equal((await fixture.row()).tail, 2)
      },
    }),
  ),
  {
    name: 'results close the calls and keep their order and outcome',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      await fixture.reply('calling', { calls: ['c1', 'c2'] })
      const results = [
        { call: 'c2', outcome: 'error', body: 'no', tokens: 1 },
        { call: 'c1', outcome: 'ok', body: 'yes', tokens: 1 },
      ] as const
      const outcome = await store.commitResults({ ...fixture.fenced(), results })
      fixture.tail = expectKind(outcome, 'committed').tail
      assert.deepEqual((await fixture.row()).openCalls, [])
      const range = { sessionId: fixture.id, from: entryNumber(3), to: entryNumber(4) }
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
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      expectKind(await store.commitResults({ ...fixture.fenced(), results: [] }), 'other-calls')
    },
  },
  {
    name: 'a reply for a turn that is over is refused [I11]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('a', 'b')
      const step = { upto: entryNumber(1), renderer: 'r', calls: [], body: 'x', tokens: 1 }
      const outcome = await store.commitReply({ ...fixture.fenced(), turn: 1, step })
      expectKind(outcome, 'turn-over')
    },
  },
  {
    name: 'a step cannot claim to have seen entries past the tail',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('a')
      await assert.rejects(fixture.reply('x', { upto: entryNumber(2) }), {
        code: 'invalid-request',
      })
    },
  },
  {
    name: 'a reply with calls cannot end its turn [I32]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('a')
      const attempt = fixture.reply('x', { calls: ['c'], ends: 'answered' })
      await assert.rejects(attempt, { code: 'invalid-request' })
    },
  },
  {
    name: 'a step that saw fewer entries does not lower `seen`',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('a', 'b')
      await fixture.reply('x', { calls: ['c'] })
      await fixture.results('c')
      await fixture.reply('y', { upto: entryNumber(1), ends: 'answered' })
      assert.equal((await fixture.row()).seen, 2)
    },
  },
  {
    name: 'input that came too late for the last step starts the next turn at once [I3, I23]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('a')
      const upto = fixture.tail.number
      await fixture.hear('late')
      const outcome = await fixture.reply('answer to a', { upto, ends: 'answered' })
      const row = await fixture.row()
      assert.equal(outcome.nextTurn, 2)
      assert.deepEqual([row.turn, row.turnState, row.settled.user], [2, 'running', 1])
      await fixture.reply('answer to late', { ends: 'answered' })
      assert.equal((await fixture.row()).settled.user, 2)
    },
  },
  {
    name: 'a stop ends the turn it was meant for and no later one [I11]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('a')
      await fixture.stop()
      await fixture.reply('cut', { ends: 'stopped' })
      await fixture.hear('b')
      assert.equal((await fixture.row()).turn, 2)
      assert.equal((await fixture.row()).pending.control, 0)
    },
  },
  {
    name: 'a turn may be stopped before the model said anything [I11]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('a')
      await fixture.reply('calling', { calls: ['c'] })
      await fixture.results('c')
      await fixture.stop()
      const ends = { how: 'stopped', replies: [] } as const
      const outcome = await store.commitReply({ ...fixture.fenced(), turn: 1, ends })
      assert.equal(expectKind(outcome, 'committed').nextTurn, null)
      assert.deepEqual(
        [(await fixture.row()).turnState, (await fixture.row()).pending.control],
        ['idle', 0],
      )
    },
  },
  {
    name: 'a reply without a step must end its turn',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('a')
      const attempt = store.commitReply({ ...fixture.fenced(), turn: 1 })
      await assert.rejects(attempt, { code: 'invalid-request' })
    },
  },
  {
    name: 'an answer counts the blobs it uses, and results with an unknown blob are refused',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('draw')
      const blob = { sessionId: fixture.id, mediaType: 'image/png', bytes: new Uint8Array([9]) }
      const { hash } = expectKind(await store.stageBlob(blob), 'staged')
      await fixture.reply('here', { blobs: [hash], calls: ['c'] })
      assert.equal((await store.findBlob({ sessionId: fixture.id, hash }))?.uses, 1)
      const results = [{ call: 'c', outcome: 'ok', body: 1, tokens: 1, blobs: ['none'] }] as const
      const outcome = await store.commitResults({ ...fixture.fenced(), results })
      expectKind(outcome, 'blob-missing')
    },
  },
  {
    name: 'a caller that lost the answer finds its operation in the entry at tail + 1 [I4, fault 33]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const mail = await fixture.admit(said('hi'))
      const request = { ...fixture.fenced(), mail: [mail] }
      await store.deliver(request)
      const blind = await store.deliver(request)
      assert.deepEqual(blind, { kind: 'superseded', by: 'tail' })
      const next = entryNumber(fixture.tail.number + 1)
      const [entry] = await store.readEntries({ sessionId: fixture.id, from: next, to: next })
      assert.equal(entry?.operation, request.operation)
      assert.equal((await fixture.row()).tail, 1)
    },
  },
]
