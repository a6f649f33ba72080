import assert from 'node:assert/strict'
import { entryNumber, type SessionId } from '../../base/ids.ts'
import type { Store } from '../contract.ts'
import { PROPOSED } from '../operational-rows.ts'
import { create, Desk, expectKind, newOperation, register, replyTo, said } from './bench.ts'
import type { StoreCase } from './case.ts'

const one = entryNumber(1)

async function deleteWhole(store: Store, sessionId: SessionId): Promise<void> {
  const request = { sessionId, operation: newOperation(), reason: 'asked for' }
  expectKind(await store.deleteSession(request), 'done')
  let after = { entry: 0, mail: 0, reply: 0 }
  for (let piece = 0; piece < 100; piece++) {
    const { left, upTo } = expectKind(
      await store.eraseSome({ sessionId, limit: 3, after }),
      'erased',
    )
    if (!left) return
    after = upTo
  }
  assert.fail('the deletion did not end')
}

/** Every text that a store gives out about a session. */
async function everything(store: Store, id: SessionId): Promise<string> {
  const to = entryNumber(1_000)
  const found = [
    await store.readEntries({ sessionId: id, from: one, to }),
    await store.listMail({ sessionId: id, limit: 100 }),
    await store.listReplies({ sessionId: id, limit: 100 }),
    await store.search({ sessionId: id, text: 'canary', limit: 10, neighbours: 2 }),
    await store.readAudit({ after: 0, sessionId: id, limit: 1_000 }),
    await store.listOperations({ sessionId: id, limit: 100 }),
    await store.readContext({ sessionId: id }),
  ]
  return JSON.stringify(found)
}

export const erasures: readonly StoreCase[] = [
  {
    name: 'an erased entry is gone from entry, mail and search; its hash and the chain stay [I19]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('my canary secret', 'noted')
      const [before] = await store.readEntries({ sessionId: desk.id, from: one, to: one })
      expectKind(await desk.erase([one]), 'erased')
      const [after] = await store.readEntries({ sessionId: desk.id, from: one, to: one })
      assert.deepEqual([after?.body, after?.salt, after?.hash], [null, null, before?.hash])
      assert.ok(!(await everything(store, desk.id)).includes('canary'))
      assert.deepEqual(await store.verify({ sessionId: desk.id }), [])
    },
  },
  {
    name: 'an erasure is an entry and an audit line of its own, and moves the base [I19, I20]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('a', 'b')
      expectKind(await desk.erase([one]), 'erased')
      const row = await desk.row()
      assert.deepEqual([row.tail, row.base], [4, 4])
      const lines = await store.readAudit({ after: 0, sessionId: desk.id, limit: 100 })
      assert.equal(lines.at(-1)?.kind, 'entries erased')
    },
  },
  {
    name: 'an idempotency key outlives the erasure of its message [I4]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.deliver(await desk.admit(said('canary'), { key: 'k' }))
      await desk.reply('ok', { ends: 'answered' })
      await desk.erase([one])
      expectKind(await desk.tryAdmit(said('canary'), { key: 'k' }), 'duplicate')
      expectKind(await desk.tryAdmit(said('other'), { key: 'k' }), 'conflict')
    },
  },
  {
    name: 'the reply that an erased answer sent is erased with it [I19]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('q', 'a', [{ ...replyTo('ana'), body: 'canary' }])
      expectKind(await desk.erase([entryNumber(2)]), 'erased')
      assert.ok(!(await everything(store, desk.id)).includes('canary'))
      const claimant = await register(store)
      expectKind(await store.claimReply({ edge: 'telegram', claimant, at: 0 }), 'none')
      const [reply] = await store.listReplies({ sessionId: desk.id, limit: 1 })
      assert.equal(reply?.state, 'dead')
    },
  },
  {
    name: 'a handoff that covers an erased entry must be replaced in the same commit [I19]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('canary', 'b')
      const effective = await desk.compact(1)
      const refused = expectKind(await desk.erase([one]), 'replacement-needed')
      assert.equal(refused.effective, effective)
      const outcome = expectKind(await desk.erase([one], 'clean'), 'erased')
      assert.deepEqual(outcome.entries, [1, effective])
      const old = await store.readEntries({ sessionId: desk.id, from: effective, to: effective })
      assert.deepEqual(
        old.map(({ body }) => body),
        [null],
      )
      const row = await desk.row()
      assert.deepEqual([row.effective, row.covers, row.by], [desk.tail.number, 1, 'model'])
      assert.deepEqual(await store.verify({ sessionId: desk.id }), [])
    },
  },
  {
    name: 'the context after an erasure shows the replacement in the place of the handoff [I9]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('canary', 'b')
      await desk.compact(1)
      await desk.erase([one], 'clean')
      const context = await store.readContext({ sessionId: desk.id })
      assert.deepEqual([context?.effective, context?.covers], [5, 1])
      assert.deepEqual(
        context?.entries.map(({ number }) => number),
        [2, 3, 4, 5],
      )
      await desk.exchange('c', 'd')
      await desk.compact(6)
      expectKind(await desk.revert(desk.tail.number), 'reverted')
      assert.equal((await desk.row()).effective, 5)
    },
  },
  {
    name: 'handoffs below the erased range stay, and a revert goes to them',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('one', 'a')
      const first = await desk.compact(1)
      await desk.exchange('canary', 'b')
      await desk.compact(5)
      await desk.erase([entryNumber(5)], 'clean')
      const { effective } = await desk.row()
      assert.equal(expectKind(await desk.revert(effective), 'reverted').effective, first)
    },
  },
  {
    name: 'notes proposed from a range go with any entry of it; others go with their own [I19]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const other = await Desk.open(store)
      for (const text of ['a', 'canary', 'c']) await desk.exchange(text, 'ok')
      const note = async (id: string, number: number, { id: sessionId } = desk) => {
        const origin = { sessionId, number: entryNumber(number) }
        await store.putNote({ agent: 'ada', scope: sessionId, id, text: 'canary', origin })
      }
      await note(`${PROPOSED}covers-1`, 1)
      await note(`${PROPOSED}covers-4`, 4)
      await note(`${PROPOSED}covers-7`, 7)
      await note(`${PROPOSED}elsewhere`, 7, other)
      await note('P-other', 7)
      await note('pother', 7)
      await note('own', 4)
      expectKind(await desk.erase([entryNumber(4), entryNumber(5)]), 'erased')
      const left = await store.listNotes({ agent: 'ada', limit: 10 })
      assert.deepEqual(left.map(({ id }) => id).sort(), [
        ...['P-other', `${PROPOSED}covers-1`, `${PROPOSED}elsewhere`, 'pother'],
      ])
    },
  },
  {
    name: 'the title goes with any erased entry: it may repeat it [I19]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('canary', 'ok')
      await store.setTitle({ sessionId: desk.id, title: 'canary' })
      expectKind(await desk.erase([one]), 'erased')
      const { title, titleSalt } = await desk.row()
      assert.deepEqual([title, titleSalt], [null, null])
    },
  },
  {
    name: 'a title that was being written when its entry was erased is refused [I19]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('canary', 'ok')
      const upto = desk.tail.number
      const sessionId = desk.id
      expectKind(await store.setTitle({ sessionId, title: 'early', upto }), 'done')
      expectKind(await desk.erase([one]), 'erased')
      expectKind(await store.setTitle({ sessionId, title: 'canary', upto }), 'superseded')
      assert.equal((await desk.row()).title, null)
      expectKind(await store.setTitle({ sessionId, title: 'x', upto: desk.tail.number }), 'done')
    },
  },
  {
    name: 'control mail keeps no words once it is settled or withdrawn, and is known by its key [I19]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const asked = { lane: 'control', control: 'pin', key: 'k1' } as const
      const body = { name: 'rule', text: 'canary' }
      const mail = await desk.admit(body, asked)
      const withdrawn = await desk.admit(body, { ...asked, key: 'k2' })
      const [waiting] = await store.listMail({ sessionId: desk.id, limit: 1 })
      assert.ok(waiting?.body?.includes('canary'))
      const pin = { name: 'rule', change: 'set', body: 'canary', tokens: 5 } as const
      const set = await store.pin({ ...desk.fenced(), ...pin, settles: [mail] })
      desk.tail = expectKind(set, 'appended').tail
      expectKind(await store.withdraw({ sessionId: desk.id, mail: withdrawn }), 'withdrawn')
      expectKind(await desk.erase([one]), 'erased')
      assert.ok(!(await everything(store, desk.id)).includes('canary'))
      assert.equal(expectKind(await desk.tryAdmit(body, asked), 'duplicate').mail, mail)
    },
  },
  {
    name: 'a schedule goes with the entries that it repeats; those of other sessions stay [I19]',
    run: async ({ store }) => {
      const [desk, other] = [await Desk.open(store), await Desk.open(store)]
      await desk.exchange('canary', 'noted')
      const plain = { dueAt: 1_000, repeat: null, body: said('canary'), tokens: 1 }
      for (const [id, { id: sessionId }] of [
        ['mine', desk],
        ['mine-too', desk],
        ['of-other', other],
      ] as const) {
        expectKind(await store.putSchedule({ id, sessionId, ...plain }), 'scheduled')
      }
      const request = { ...desk.fenced(), entries: [one], reason: 'asked for' }
      const schedules = ['mine', 'of-other', 'of-nobody']
      expectKind(await store.eraseEntries({ ...request, schedules }), 'erased')
      const left = await store.listSchedules({ limit: 9 })
      assert.deepEqual(
        left.map(({ id }) => id),
        ['mine-too', 'of-other'],
      )
    },
  },
  {
    name: 'a pin is erased alone: no handoff, title or note is made from one [I19]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const number = expectKind(await desk.pin('rule', 'canary', 5), 'appended').tail.number
      await desk.exchange('a', 'b')
      const handoff = await desk.compact(2)
      await store.setTitle({ sessionId: desk.id, title: 'letters' })
      const origin = { sessionId: desk.id, number: handoff }
      const id = `${PROPOSED}letters`
      await store.putNote({ agent: 'ada', scope: desk.id, id, text: 'x', origin })
      assert.deepEqual(expectKind(await desk.erase([number]), 'erased').entries, [number])
      assert.ok(!(await everything(store, desk.id)).includes('canary'))
      const { effective, title } = await desk.row()
      assert.deepEqual([effective, title], [handoff, 'letters'])
      assert.equal((await store.listNotes({ agent: 'ada', limit: 9 })).length, 1)
      assert.deepEqual(await store.verify({ sessionId: desk.id }), [])
    },
  },
  {
    name: 'an erasure supersedes the compaction in flight [I7, I12]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('canary', 'b')
      const operation = await desk.claim(1)
      await desk.erase([one])
      assert.equal((await store.findOperation(operation))?.state, 'superseded')
      expectKind(await desk.tryCommit(operation), 'ended')
    },
  },
  {
    name: 'a blob goes with its last entry, not before',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const bytes = new Uint8Array([5])
      const staged = await store.stageBlob({ sessionId: desk.id, mediaType: 'a/b', bytes })
      const { hash } = expectKind(staged, 'staged')
      const first = await desk.admit(said('1'), { blobs: [hash] })
      const second = await desk.admit(said('2'), { blobs: [hash] })
      await desk.deliver(first, second)
      await desk.erase([one])
      // Erased again, it has nothing more to count off.
      await desk.erase([one])
      assert.ok(await store.findBlob({ sessionId: desk.id, hash }))
      await desk.erase([entryNumber(2)])
      assert.equal(await store.findBlob({ sessionId: desk.id, hash }), undefined)
    },
  },
  {
    name: 'an entry that is not there cannot be erased, and nothing else is',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('a', 'b')
      const missing = entryNumber(99)
      assert.equal(expectKind(await desk.erase([one, missing]), 'unknown-entry').entry, 99)
      const [row] = await store.readEntries({ sessionId: desk.id, from: one, to: one })
      assert.notEqual(row?.body, null)
    },
  },
  {
    name: 'erasing twice is erasing once [I28]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('a', 'b')
      await desk.erase([one])
      expectKind(await desk.erase([one]), 'erased')
      assert.deepEqual(await store.verify({ sessionId: desk.id }), [])
    },
  },
  {
    name: 'a deleted session refuses mail as gone and its holder is out [I24]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const request = { sessionId: desk.id, operation: newOperation(), reason: 'asked for' }
      expectKind(await store.deleteSession(request), 'done')
      expectKind(await desk.tryAdmit(said('hello?')), 'gone')
      expectKind(await store.setWake({ lease: desk.lease, wakeAt: 1 }), 'superseded')
      const runner = await register(store)
      const again = { sessionId: desk.id, runner, holder: 'h', fence: 2 }
      expectKind(await store.acquire(again), 'gone')
      expectKind(await store.deleteSession(request), 'gone')
    },
  },
  {
    name: 'a deletion erases everything in pieces and leaves a tombstone and a chain [I19]',
    run: async ({ store }) => {
      const route = { agent: 'ada', channel: 'c', address: 'a' }
      const desk = await Desk.open(store, { route })
      for (let round = 0; round < 5; round++) {
        await desk.exchange(`canary ${round}`, 'canary', [{ ...replyTo('ana'), body: 'canary' }])
      }
      await desk.pin('rule', 'canary', 5)
      await desk.compact((await desk.row()).seen)
      await desk.admit(said('canary waits'))
      await deleteWhole(store, desk.id)
      assert.ok(!(await everything(store, desk.id)).includes('canary'))
      const row = await desk.row()
      assert.deepEqual([row.state, row.tail], ['gone', desk.tail.number])
      assert.equal(await store.findRoute(route), undefined)
      assert.deepEqual(await store.verify({ sessionId: desk.id }), [])
    },
  },
  {
    name: 'the id of a deleted session is never used again [I5]',
    run: async ({ store }) => {
      const id = await create(store)
      await deleteWhole(store, id)
      await assert.rejects(create(store, { id }), /exists/)
    },
  },
  {
    name: 'a deletion ends the compaction in flight, with its audit line [I20, fault 28]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await desk.exchange('a', 'b')
      const operation = await desk.claim(1)
      await deleteWhole(store, desk.id)
      assert.equal((await store.findOperation(operation))?.state, 'superseded')
    },
  },
  {
    name: 'a session that was not deleted is not erased in pieces',
    run: async ({ store }) => {
      const id = await create(store)
      expectKind(await store.eraseSome({ sessionId: id, limit: 1 }), 'not-deleted')
    },
  },
  {
    name: 'a deletion goes on where it was, and looks from the beginning before it ends',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      for (const text of ['a', 'b', 'c']) await desk.exchange(text, `${text}!`)
      const { id } = desk
      await store.deleteSession({ sessionId: id, operation: newOperation(), reason: 'asked for' })
      const first = expectKind(await store.eraseSome({ sessionId: id, limit: 2 }), 'erased')
      assert.deepEqual(first.upTo, { entry: 2, mail: 2, reply: 0 })
      const far = { entry: 6, mail: 3, reply: 0 }
      const next = expectKind(
        await store.eraseSome({ sessionId: id, limit: 2, after: far }),
        'erased',
      )
      assert.deepEqual([next.left, next.upTo.entry], [true, 8])
      for (let upTo = next.upTo, left = true; left; ) {
        const piece = await store.eraseSome({ sessionId: id, limit: 2, after: upTo })
        ;({ upTo, left } = expectKind(piece, 'erased'))
      }
      assert.equal((await desk.row()).state, 'gone')
      const entries = await store.readEntries({ sessionId: id, from: one, to: entryNumber(99) })
      assert.deepEqual(
        entries.filter(({ body }) => body !== null),
        [],
      )
    },
  },
  {
    name: 'a deletion touches no other session [I21]',
    run: async ({ store }) => {
      const other = await Desk.open(store)
      await other.exchange('keep me', 'kept')
      const before = await everything(store, other.id)
      const desk = await Desk.open(store)
      await desk.exchange('drop me', 'dropped')
      await deleteWhole(store, desk.id)
      assert.equal(await everything(store, other.id), before)
    },
  },
]
