import assert from 'node:assert/strict'
import { entryNumber, type SessionId } from '../../base/ids.ts'
import type { Store } from '../contract.ts'
import { PROPOSED } from '../operational-rows.ts'
import { create, expectKind, newOperation, register, replyTo, StoreFixture, said } from './bench.ts'
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

/** Every text about a session that a store returns. */
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
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('my canary secret', 'noted')
      const [before] = await store.readEntries({ sessionId: fixture.id, from: one, to: one })
      expectKind(await fixture.erase([one]), 'erased')
      const [after] = await store.readEntries({ sessionId: fixture.id, from: one, to: one })
      assert.deepEqual([after?.body, after?.salt, after?.hash], [null, null, before?.hash])
      assert.ok(!(await everything(store, fixture.id)).includes('canary'))
      assert.deepEqual(await store.verify({ sessionId: fixture.id }), [])
    },
  },
  {
    name: 'an erasure is an entry and an audit line of its own, and moves the base [I19, I20]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('a', 'b')
      expectKind(await fixture.erase([one]), 'erased')
      const row = await fixture.row()
      assert.deepEqual([row.tail, row.base], [4, 4])
      const lines = await store.readAudit({ after: 0, sessionId: fixture.id, limit: 100 })
      assert.equal(lines.at(-1)?.kind, 'entries erased')
    },
  },
  {
    name: 'an idempotency key outlives the erasure of its message [I4]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.deliver(await fixture.admit(said('canary'), { key: 'k' }))
      await fixture.reply('ok', { ends: 'answered' })
      await fixture.erase([one])
      expectKind(await fixture.tryAdmit(said('canary'), { key: 'k' }), 'duplicate')
      expectKind(await fixture.tryAdmit(said('other'), { key: 'k' }), 'conflict')
    },
  },
  {
    name: 'the reply that an erased answer sent is erased with it [I19]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('q', 'a', [{ ...replyTo('ana'), body: 'canary' }])
      expectKind(await fixture.erase([entryNumber(2)]), 'erased')
      assert.ok(!(await everything(store, fixture.id)).includes('canary'))
      const claimant = await register(store)
      expectKind(await store.claimReply({ edge: 'telegram', claimant, at: 0 }), 'none')
      const [reply] = await store.listReplies({ sessionId: fixture.id, limit: 1 })
      assert.equal(reply?.state, 'dead')
    },
  },
  {
    name: 'a handoff that covers an erased entry must be replaced in the same commit [I19]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('canary', 'b')
      const effective = await fixture.compact(1)
      const refused = expectKind(await fixture.erase([one]), 'replacement-needed')
      assert.equal(refused.effective, effective)
      const outcome = expectKind(await fixture.erase([one], 'clean'), 'erased')
      assert.deepEqual(outcome.entries, [1, effective])
      const old = await store.readEntries({ sessionId: fixture.id, from: effective, to: effective })
      assert.deepEqual(
        old.map(({ body }) => body),
        [null],
      )
      const row = await fixture.row()
      assert.deepEqual([row.effective, row.covers, row.by], [fixture.tail.number, 1, 'model'])
      assert.deepEqual(await store.verify({ sessionId: fixture.id }), [])
    },
  },
  {
    name: 'the context after an erasure shows the replacement in the place of the handoff [I9]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('canary', 'b')
      await fixture.compact(1)
      await fixture.erase([one], 'clean')
      const context = await store.readContext({ sessionId: fixture.id })
      assert.deepEqual([context?.effective, context?.covers], [5, 1])
      assert.deepEqual(
        context?.entries.map(({ number }) => number),
        [2, 3, 4, 5],
      )
      await fixture.exchange('c', 'd')
      await fixture.compact(6)
      expectKind(await fixture.revert(fixture.tail.number), 'reverted')
      assert.equal((await fixture.row()).effective, 5)
    },
  },
  {
    name: 'handoffs below the erased range stay, and a revert returns to them',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('one', 'a')
      const first = await fixture.compact(1)
      await fixture.exchange('canary', 'b')
      await fixture.compact(5)
      await fixture.erase([entryNumber(5)], 'clean')
      const { effective } = await fixture.row()
      assert.equal(expectKind(await fixture.revert(effective), 'reverted').effective, first)
    },
  },
  {
    name: 'notes proposed from a range are erased with any entry of it; others with their own entry [I19]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const other = await StoreFixture.open(store)
      for (const text of ['a', 'canary', 'c']) await fixture.exchange(text, 'ok')
      const note = async (id: string, number: number, { id: sessionId } = fixture) => {
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
      expectKind(await fixture.erase([entryNumber(4), entryNumber(5)]), 'erased')
      const left = await store.listNotes({ agent: 'ada', limit: 10 })
      assert.deepEqual(left.map(({ id }) => id).sort(), [
        ...['P-other', `${PROPOSED}covers-1`, `${PROPOSED}elsewhere`, 'pother'],
      ])
    },
  },
  {
    name: 'erasing any entry removes the title, which may repeat it [I19]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('canary', 'ok')
      await store.setTitle({ sessionId: fixture.id, title: 'canary' })
      expectKind(await fixture.erase([one]), 'erased')
      const { title, titleSalt } = await fixture.row()
      assert.deepEqual([title, titleSalt], [null, null])
    },
  },
  {
    name: 'a title is refused if an entry that it was written from has been erased meanwhile [I19]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('canary', 'ok')
      const upto = fixture.tail.number
      const sessionId = fixture.id
      expectKind(await store.setTitle({ sessionId, title: 'early', upto }), 'done')
      expectKind(await fixture.erase([one]), 'erased')
      expectKind(await store.setTitle({ sessionId, title: 'canary', upto }), 'superseded')
      assert.equal((await fixture.row()).title, null)
      expectKind(await store.setTitle({ sessionId, title: 'x', upto: fixture.tail.number }), 'done')
    },
  },
  {
    name: 'control mail loses its text once it is settled or withdrawn, and keeps its key [I19]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const asked = { lane: 'control', control: 'pin', key: 'k1' } as const
      const body = { name: 'rule', text: 'canary' }
      const mail = await fixture.admit(body, asked)
      const withdrawn = await fixture.admit(body, { ...asked, key: 'k2' })
      assert.ok((await everything(store, fixture.id)).includes('canary'))
      const pin = { name: 'rule', change: 'set', body: 'canary', tokens: 5 } as const
      const set = await store.pin({ ...fixture.fenced(), ...pin, settles: [mail] })
      fixture.tail = expectKind(set, 'appended').tail
      expectKind(await store.withdraw({ sessionId: fixture.id, mail: withdrawn }), 'withdrawn')
      expectKind(await fixture.erase([one]), 'erased')
      assert.ok(!(await everything(store, fixture.id)).includes('canary'))
      assert.equal(expectKind(await fixture.tryAdmit(body, asked), 'duplicate').mail, mail)
    },
  },
  {
    name: 'an erasure removes the schedules it names, but none of other sessions [I19]',
    run: async ({ store }) => {
      const [fixture, other] = [await StoreFixture.open(store), await StoreFixture.open(store)]
      await fixture.exchange('canary', 'noted')
      const plain = { dueAt: 1_000, repeat: null, body: said('canary'), tokens: 1 }
      for (const [id, { id: sessionId }] of [
        ['mine', fixture],
        ['mine-too', fixture],
        ['of-other', other],
      ] as const) {
        expectKind(await store.putSchedule({ id, sessionId, ...plain }), 'scheduled')
      }
      const request = { ...fixture.fenced(), entries: [one], reason: 'asked for' }
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
    name: 'erasing a pin leaves handoff, title and notes, which are never made from one [I19]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const number = expectKind(await fixture.pin('rule', 'canary', 5), 'appended').tail.number
      await fixture.exchange('a', 'b')
      const handoff = await fixture.compact(2)
      await store.setTitle({ sessionId: fixture.id, title: 'letters' })
      const origin = { sessionId: fixture.id, number: handoff }
      const id = `${PROPOSED}letters`
      await store.putNote({ agent: 'ada', scope: fixture.id, id, text: 'x', origin })
      assert.deepEqual(expectKind(await fixture.erase([number]), 'erased').entries, [number])
      assert.ok(!(await everything(store, fixture.id)).includes('canary'))
      const { effective, title } = await fixture.row()
      assert.deepEqual([effective, title], [handoff, 'letters'])
      assert.equal((await store.listNotes({ agent: 'ada', limit: 9 })).length, 1)
      assert.deepEqual(await store.verify({ sessionId: fixture.id }), [])
    },
  },
  {
    name: 'an erasure supersedes the compaction in flight [I7, I12]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('canary', 'b')
      const operation = await fixture.claim(1)
      await fixture.erase([one])
      assert.equal((await store.findOperation(operation))?.state, 'superseded')
      expectKind(await fixture.tryCommit(operation), 'ended')
    },
  },
  {
    name: 'a blob is removed with the last entry that uses it, not before',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const bytes = new Uint8Array([5])
      const staged = await store.stageBlob({ sessionId: fixture.id, mediaType: 'a/b', bytes })
      const { hash } = expectKind(staged, 'staged')
      const first = await fixture.admit(said('1'), { blobs: [hash] })
      const second = await fixture.admit(said('2'), { blobs: [hash] })
      await fixture.deliver(first, second)
      await fixture.erase([one])
      // Erasing again must not subtract anything from the counts.
      await fixture.erase([one])
      assert.ok(await store.findBlob({ sessionId: fixture.id, hash }))
      await fixture.erase([entryNumber(2)])
      assert.equal(await store.findBlob({ sessionId: fixture.id, hash }), undefined)
    },
  },
  {
    name: 'an erasure that names an unknown entry is refused and erases nothing',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('a', 'b')
      const missing = entryNumber(99)
      assert.equal(expectKind(await fixture.erase([one, missing]), 'unknown-entry').entry, 99)
      const [row] = await store.readEntries({ sessionId: fixture.id, from: one, to: one })
      assert.notEqual(row?.body, null)
    },
  },
  {
    name: 'erasing an entry a second time changes nothing [I28]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('a', 'b')
      await fixture.erase([one])
      expectKind(await fixture.erase([one]), 'erased')
      assert.deepEqual(await store.verify({ sessionId: fixture.id }), [])
    },
  },
  {
    name: 'a deleted session refuses mail as gone and supersedes its holder [I24]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const request = { sessionId: fixture.id, operation: newOperation(), reason: 'asked for' }
      expectKind(await store.deleteSession(request), 'done')
      expectKind(await fixture.tryAdmit(said('hello?')), 'gone')
      expectKind(await store.setWake({ lease: fixture.lease, wakeAt: 1 }), 'superseded')
      const runner = await register(store)
      const again = { sessionId: fixture.id, runner, holder: 'h', fence: 2 }
      expectKind(await store.acquire(again), 'gone')
      expectKind(await store.deleteSession(request), 'gone')
    },
  },
  {
    name: 'a deletion erases everything in pieces and leaves a tombstone and a chain [I19]',
    run: async ({ store }) => {
      const route = { agent: 'ada', channel: 'c', address: 'a' }
      const fixture = await StoreFixture.open(store, { route })
      for (let round = 0; round < 5; round++) {
        await fixture.exchange(`canary ${round}`, 'canary', [{ ...replyTo('ana'), body: 'canary' }])
      }
      await fixture.pin('rule', 'canary', 5)
      await fixture.compact((await fixture.row()).seen)
      const mail = await fixture.admit('', { lane: 'notification', key: 'canary' })
      await store.withdraw({ sessionId: fixture.id, mail })
      await fixture.admit(said('canary waits'))
      await deleteWhole(store, fixture.id)
      assert.ok(!(await everything(store, fixture.id)).includes('canary'))
      const row = await fixture.row()
      assert.deepEqual([row.state, row.tail], ['gone', fixture.tail.number])
      assert.equal(await store.findRoute(route), undefined)
      assert.deepEqual(await store.verify({ sessionId: fixture.id }), [])
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
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('a', 'b')
      const operation = await fixture.claim(1)
      await deleteWhole(store, fixture.id)
      assert.equal((await store.findOperation(operation))?.state, 'superseded')
    },
  },
  {
    name: 'erasing in pieces is refused for a session that was not deleted',
    run: async ({ store }) => {
      const id = await create(store)
      expectKind(await store.eraseSome({ sessionId: id, limit: 1 }), 'not-deleted')
    },
  },
  {
    name: 'a deletion continues where it stopped, and checks from the beginning before it ends',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      for (const text of ['a', 'b', 'c']) await fixture.exchange(text, `${text}!`)
      const { id } = fixture
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
      assert.equal((await fixture.row()).state, 'gone')
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
      const other = await StoreFixture.open(store)
      await other.exchange('keep me', 'kept')
      const before = await everything(store, other.id)
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('drop me', 'dropped')
      await deleteWhole(store, fixture.id)
      assert.equal(await everything(store, other.id), before)
    },
  },
]
