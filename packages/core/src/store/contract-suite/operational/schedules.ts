import assert from 'node:assert/strict'
import { entryNumber, mailNumber, sessionId } from '../../../base/ids.ts'
import { SCHEDULES_MAX } from '../../bounds.ts'
import type { Store } from '../../contract.ts'
import type { PutSchedule } from '../../operational-rows.ts'
import { expectKind, LIMITS, newOperation, StoreFixture } from '../bench.ts'
import type { StoreCase } from '../case.ts'

/** Timers that outlive processes: they fire once per time, and can be moved and cancelled. */
const said = { message: { role: 'user', parts: [{ type: 'text', text: 'water the plants' }] } }

function timer(fixture: StoreFixture, fields: Partial<PutSchedule> = {}): PutSchedule {
  const plain = { id: 'plants', dueAt: 1_000, repeat: 'every 1d', body: said, tokens: 7 }
  return { ...plain, sessionId: fixture.id, ...fields }
}

export const schedules: readonly StoreCase[] = [
  {
    name: 'firing a schedule admits one notification and sets the next due time',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      expectKind(await store.putSchedule(timer(fixture)), 'scheduled')
      const request = { id: 'plants', dueAt: 1_000, nextDueAt: 2_000 }
      const fired = expectKind(await store.fireSchedule(request), 'fired')
      const [mail] = await store.listMail({ sessionId: fixture.id, limit: 10 })
      assert.deepEqual(
        [mail?.number, mail?.lane, mail?.source, mail?.key, mail?.tokens, mail?.state],
        [fired.mail, 'notification', 'schedule', 'plants 1000', 7, 'pending'],
      )
      assert.deepEqual(JSON.parse(mail?.body ?? ''), said)
      const [row] = await store.listSchedules({ sessionId: fixture.id, limit: 10 })
      assert.deepEqual(row, fired.schedule)
      assert.deepEqual(
        [row?.dueAt, row?.state, row?.fired, row?.firedAt],
        [2_000, 'waiting', 1, 1_000],
      )
      assert.equal(fired.runner, fixture.lease.runner)
    },
  },
  {
    name: 'when several processes find a schedule due, exactly one fires it',
    run: async ({ store, sibling }) => {
      const fixture = await StoreFixture.open(store)
      await store.putSchedule(timer(fixture))
      const hands = [store, await sibling(), await sibling(), await sibling()]
      const request = { id: 'plants', dueAt: 1_000, nextDueAt: 2_000 }
      const outcomes = await Promise.all(hands.map((hand) => hand.fireSchedule(request)))
      const kinds = outcomes.map(({ kind }) => kind).sort()
      assert.deepEqual(kinds, ['fired', 'not-due', 'not-due', 'not-due'])
      assert.equal((await store.listMail({ sessionId: fixture.id, limit: 10 })).length, 1)
      const [row] = await store.listSchedules({ sessionId: fixture.id, limit: 1 })
      assert.equal(row?.fired, 1)
    },
  },
  {
    name: 'a schedule without a next time ends and does not fire again',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await store.putSchedule(timer(fixture, { repeat: null }))
      const request = { id: 'plants', dueAt: 1_000, nextDueAt: null }
      const fired = expectKind(await store.fireSchedule(request), 'fired')
      assert.equal(fired.schedule.state, 'ended')
      expectKind(await store.fireSchedule(request), 'not-due')
      expectKind(await store.cancelSchedule({ id: 'plants' }), 'done')
      const [row] = await store.listSchedules({ limit: 1 })
      assert.equal(row?.state, 'ended')
    },
  },
  {
    name: 'a schedule that was cancelled does not fire',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await store.putSchedule(timer(fixture))
      expectKind(await store.cancelSchedule({ id: 'plants' }), 'done')
      expectKind(await store.cancelSchedule({ id: 'plants' }), 'done')
      expectKind(await store.cancelSchedule({ id: 'other' }), 'unknown')
      const request = { id: 'plants', dueAt: 1_000, nextDueAt: 2_000 }
      expectKind(await store.fireSchedule(request), 'not-due')
      expectKind(await store.fireSchedule({ ...request, id: 'other' }), 'unknown')
      assert.deepEqual(await store.listMail({ sessionId: fixture.id, limit: 10 }), [])
    },
  },
  {
    name: 'a full mailbox leaves a schedule due [I24]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store, { limits: { ...LIMITS, sourceMailMax: 1 } })
      await store.putSchedule(timer(fixture))
      await store.fireSchedule({ id: 'plants', dueAt: 1_000, nextDueAt: 2_000 })
      const again = { id: 'plants', dueAt: 2_000, nextDueAt: 3_000 }
      expectKind(await store.fireSchedule(again), 'full')
      const [mail] = await store.listMail({ sessionId: fixture.id, limit: 1 })
      await fixture.deliver(mailNumber(mail?.number ?? 0))
      expectKind(await store.fireSchedule(again), 'fired')
    },
  },
  {
    name: 'putting a schedule again replaces it, and no due time fires twice',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const other = await StoreFixture.open(store)
      await store.putSchedule(timer(fixture))
      expectKind(await store.putSchedule(timer(other)), 'taken')
      await store.fireSchedule({ id: 'plants', dueAt: 1_000, nextDueAt: null })
      const passed = expectKind(await store.putSchedule(timer(fixture)), 'passed')
      assert.equal(passed.firedAt, 1_000)
      const next = timer(fixture, { dueAt: 1_001, repeat: null, body: 'other', tokens: 1 })
      const { schedule } = expectKind(await store.putSchedule(next), 'scheduled')
      assert.deepEqual(
        [schedule.state, schedule.dueAt, schedule.body, schedule.fired],
        ['waiting', 1_001, '"other"', 1],
      )
      expectKind(await store.fireSchedule({ id: 'plants', dueAt: 1_001, nextDueAt: null }), 'fired')
    },
  },
  {
    name: 'a schedule moves to an earlier time only from its current due time, and fires no time again',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await store.putSchedule(timer(fixture))
      await store.fireSchedule({ id: 'plants', dueAt: 1_000, nextDueAt: 9_000 })
      await store.fireSchedule({ id: 'plants', dueAt: 9_000, nextDueAt: 9_100 })
      const back = (from: number) => store.putSchedule(timer(fixture, { from }))
      expectKind(await store.putSchedule(timer(fixture)), 'passed')
      expectKind(await back(9_000), 'passed')
      const { schedule } = expectKind(await back(9_100), 'scheduled')
      assert.deepEqual([schedule.dueAt, schedule.fired, schedule.firedAt], [1_000, 2, 9_000])
      // It has already fired for this time: it moves on, and nothing is sent.
      expectKind(
        await store.fireSchedule({ id: 'plants', dueAt: 1_000, nextDueAt: 1_100 }),
        'fired',
      )
      assert.equal((await store.listMail({ sessionId: fixture.id, limit: 10 })).length, 2)
      expectKind(await back(1_000), 'passed')
      await store.cancelSchedule({ id: 'plants' })
      expectKind(await back(1_100), 'passed')
      const [row] = await store.listSchedules({ limit: 1 })
      assert.equal(row?.state, 'cancelled')
    },
  },
  {
    name: 'due schedules are listed in the order of their due times',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      for (const [id, dueAt] of [
        ['c', 30],
        ['a', 20],
        ['b', 10],
        ['d', 99],
      ] as const) {
        await store.putSchedule(timer(fixture, { id, dueAt }))
      }
      await store.cancelSchedule({ id: 'c' })
      const due = await store.listSchedules({ state: 'waiting', dueBy: 50, limit: 10 })
      assert.deepEqual(
        due.map(({ id }) => id),
        ['b', 'a'],
      )
      const page = await store.listSchedules({ sessionId: fixture.id, after: 'a', limit: 2 })
      assert.deepEqual(
        page.map(({ id }) => id),
        ['b', 'c'],
      )
    },
  },
  {
    name: 'the number of schedules per session is limited',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const put = (id: string) => store.putSchedule(timer(fixture, { id }))
      await Promise.all(Array.from({ length: SCHEDULES_MAX }, (_, index) => put(`t${index}`)))
      const full = expectKind(await put('more'), 'full')
      assert.equal(full.limit, SCHEDULES_MAX)
      expectKind(await put('t0'), 'scheduled')
      await store.cancelSchedule({ id: 't1' })
      expectKind(await put('more'), 'scheduled')
    },
  },
  {
    name: 'a schedule without an existing session, a valid name or a valid time is refused',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const nobody = timer(fixture, { sessionId: sessionId('nobody') })
      expectKind(await store.putSchedule(nobody), 'unknown')
      for (const wrong of [{ id: 'a b' }, { dueAt: 1.5 }, { dueAt: -1 }, { tokens: 0.5 }]) {
        await assert.rejects(store.putSchedule(timer(fixture, wrong)), { code: 'invalid-request' })
      }
      await store.putSchedule(timer(fixture))
      const back = { id: 'plants', dueAt: 1_000, nextDueAt: 1_000 }
      await assert.rejects(store.fireSchedule(back), { code: 'invalid-request' })
    },
  },
  {
    name: 'deleting a session removes its schedules, notes and title',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await store.putSchedule(timer(fixture))
      await store.setTitle({ sessionId: fixture.id, title: 'plants' })
      const origin = { sessionId: fixture.id, number: entryNumber(1) }
      const note = { agent: 'ada', scope: fixture.id, text: 'x', origin }
      await store.putNote({ ...note, id: 'from' })
      await store.putNote({ ...note, id: 'own', origin: null })
      await store.deleteSession({
        sessionId: fixture.id,
        operation: newOperation(),
        reason: 'asked',
      })
      // At once, while content that is not erased yet is still listed.
      assert.equal((await fixture.row()).title, null)
      expectKind(await store.setTitle({ sessionId: fixture.id, title: 'late' }), 'gone')
      expectKind(await store.putSchedule(timer(fixture, { id: 'late' })), 'gone')
      expectKind(await store.putNote({ ...note, id: 'late' }), 'gone')
      const fire = { id: 'plants', dueAt: 1_000, nextDueAt: 2_000 }
      expectKind(await store.fireSchedule(fire), 'gone')
      assert.deepEqual(await store.listSchedules({ state: 'waiting', dueBy: 9_999, limit: 1 }), [])
      await eraseAll(store, fixture)
      expectKind(await store.putNote({ ...note, id: 'late' }), 'gone')
      assert.deepEqual(await store.listSchedules({ limit: 10 }), [])
      const notes = await store.listNotes({ agent: 'ada', limit: 10 })
      assert.deepEqual(
        notes.map(({ id }) => id),
        ['own'],
      )
      assert.equal((await fixture.row()).title, null)
    },
  },
]

async function eraseAll(store: Store, { id }: StoreFixture): Promise<void> {
  for (;;) {
    const piece = await store.eraseSome({ sessionId: id, limit: 1 })
    if (!expectKind(piece, 'erased').left) return
  }
}
