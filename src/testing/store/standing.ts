import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { type EntryNumber, entryNumber, sessionId } from '../../base/ids.ts'
import { NOTE_BYTES_MAX, NOTES_MAX, SCHEDULES_MAX, TITLE_MAX } from '../../store/bounds.ts'
import type { RecordAttempt } from '../../store/commits.ts'
import type { Store } from '../../store/contract.ts'
import type { PutSchedule, TokenRow } from '../../store/standing.ts'
import type { StoreCase } from './case.ts'
import { create, Desk, expectKind, LIMITS, newOperation } from './desk.ts'

/** Schedules, notes, access tokens, titles, and what model calls have cost. */
const said = { message: { role: 'user', parts: [{ type: 'text', text: 'water the plants' }] } }

function timer(desk: Desk, fields: Partial<PutSchedule> = {}): PutSchedule {
  const plain = { id: 'plants', dueAt: 1_000, repeat: 'every 1d', body: said, tokens: 7 }
  return { ...plain, sessionId: desk.id, ...fields }
}

const schedules: readonly StoreCase[] = [
  {
    name: 'a schedule that fires is one notification, due again when it said',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      expectKind(await store.putSchedule(timer(desk)), 'scheduled')
      const request = { id: 'plants', dueAt: 1_000, nextDueAt: 2_000 }
      const fired = expectKind(await store.fireSchedule(request), 'fired')
      const [mail] = await store.listMail({ sessionId: desk.id, limit: 10 })
      assert.deepEqual(
        [mail?.number, mail?.lane, mail?.source, mail?.key, mail?.tokens, mail?.state],
        [fired.mail, 'notification', 'schedule', 'plants 1000', 7, 'pending'],
      )
      assert.deepEqual(JSON.parse(mail?.body ?? ''), said)
      const [row] = await store.listSchedules({ sessionId: desk.id, limit: 10 })
      assert.deepEqual(row, fired.schedule)
      assert.deepEqual(
        [row?.dueAt, row?.state, row?.fired, row?.firedAt],
        [2_000, 'waiting', 1, 1_000],
      )
      assert.equal(fired.runner, desk.lease.runner)
    },
  },
  {
    name: 'of many processes that find a schedule due, one fires it',
    run: async ({ store, sibling }) => {
      const desk = await Desk.open(store)
      await store.putSchedule(timer(desk))
      const hands = [store, await sibling(), await sibling(), await sibling()]
      const request = { id: 'plants', dueAt: 1_000, nextDueAt: 2_000 }
      const outcomes = await Promise.all(hands.map((hand) => hand.fireSchedule(request)))
      const kinds = outcomes.map(({ kind }) => kind).sort()
      assert.deepEqual(kinds, ['fired', 'not-due', 'not-due', 'not-due'])
      assert.equal((await store.listMail({ sessionId: desk.id, limit: 10 })).length, 1)
      const [row] = await store.listSchedules({ sessionId: desk.id, limit: 1 })
      assert.equal(row?.fired, 1)
    },
  },
  {
    name: 'a schedule without a next time has ended and fires no more',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await store.putSchedule(timer(desk, { repeat: null }))
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
      const desk = await Desk.open(store)
      await store.putSchedule(timer(desk))
      expectKind(await store.cancelSchedule({ id: 'plants' }), 'done')
      expectKind(await store.cancelSchedule({ id: 'plants' }), 'done')
      expectKind(await store.cancelSchedule({ id: 'other' }), 'unknown')
      const request = { id: 'plants', dueAt: 1_000, nextDueAt: 2_000 }
      expectKind(await store.fireSchedule(request), 'not-due')
      expectKind(await store.fireSchedule({ ...request, id: 'other' }), 'unknown')
      assert.deepEqual(await store.listMail({ sessionId: desk.id, limit: 10 }), [])
    },
  },
  {
    name: 'a full mailbox leaves a schedule due [I24]',
    run: async ({ store }) => {
      const desk = await Desk.open(store, { limits: { ...LIMITS, sourceMailMax: 1 } })
      await store.putSchedule(timer(desk))
      await store.fireSchedule({ id: 'plants', dueAt: 1_000, nextDueAt: 2_000 })
      const again = { id: 'plants', dueAt: 2_000, nextDueAt: 3_000 }
      expectKind(await store.fireSchedule(again), 'full')
      const [mail] = await store.listMail({ sessionId: desk.id, limit: 1 })
      await desk.deliver(mail?.number as never)
      expectKind(await store.fireSchedule(again), 'fired')
    },
  },
  {
    name: 'a schedule put again is replaced, and no due time fires twice',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const other = await Desk.open(store)
      await store.putSchedule(timer(desk))
      expectKind(await store.putSchedule(timer(other)), 'taken')
      await store.fireSchedule({ id: 'plants', dueAt: 1_000, nextDueAt: null })
      const passed = expectKind(await store.putSchedule(timer(desk)), 'passed')
      assert.equal(passed.firedAt, 1_000)
      const next = timer(desk, { dueAt: 1_001, repeat: null, body: 'other', tokens: 1 })
      const { schedule } = expectKind(await store.putSchedule(next), 'scheduled')
      assert.deepEqual(
        [schedule.state, schedule.dueAt, schedule.body, schedule.fired],
        ['waiting', 1_001, '"other"', 1],
      )
      expectKind(await store.fireSchedule({ id: 'plants', dueAt: 1_001, nextDueAt: null }), 'fired')
    },
  },
  {
    name: 'a schedule is moved back only while it waits for what was read, and fires no time again',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await store.putSchedule(timer(desk))
      await store.fireSchedule({ id: 'plants', dueAt: 1_000, nextDueAt: 9_000 })
      await store.fireSchedule({ id: 'plants', dueAt: 9_000, nextDueAt: 9_100 })
      const back = (from: number) => store.putSchedule(timer(desk, { from }))
      expectKind(await store.putSchedule(timer(desk)), 'passed')
      expectKind(await back(9_000), 'passed')
      const { schedule } = expectKind(await back(9_100), 'scheduled')
      assert.deepEqual([schedule.dueAt, schedule.fired, schedule.firedAt], [1_000, 2, 9_000])
      // It has fired for this time before: it moves on, and nothing is sent.
      expectKind(
        await store.fireSchedule({ id: 'plants', dueAt: 1_000, nextDueAt: 1_100 }),
        'fired',
      )
      assert.equal((await store.listMail({ sessionId: desk.id, limit: 10 })).length, 2)
      expectKind(await back(1_000), 'passed')
      await store.cancelSchedule({ id: 'plants' })
      expectKind(await back(1_100), 'passed')
      const [row] = await store.listSchedules({ limit: 1 })
      assert.equal(row?.state, 'cancelled')
    },
  },
  {
    name: 'schedules that are due come in the order in which they are',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      for (const [id, dueAt] of [
        ['c', 30],
        ['a', 20],
        ['b', 10],
        ['d', 99],
      ] as const) {
        await store.putSchedule(timer(desk, { id, dueAt }))
      }
      await store.cancelSchedule({ id: 'c' })
      const due = await store.listSchedules({ state: 'waiting', dueBy: 50, limit: 10 })
      assert.deepEqual(
        due.map(({ id }) => id),
        ['b', 'a'],
      )
      const page = await store.listSchedules({ sessionId: desk.id, after: 'a', limit: 2 })
      assert.deepEqual(
        page.map(({ id }) => id),
        ['b', 'c'],
      )
    },
  },
  {
    name: 'a session has only so many schedules',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const put = (id: string) => store.putSchedule(timer(desk, { id }))
      await Promise.all(Array.from({ length: SCHEDULES_MAX }, (_, index) => put(`t${index}`)))
      const full = expectKind(await put('more'), 'full')
      assert.equal(full.limit, SCHEDULES_MAX)
      expectKind(await put('t0'), 'scheduled')
      await store.cancelSchedule({ id: 't1' })
      expectKind(await put('more'), 'scheduled')
    },
  },
  {
    name: 'a schedule needs a session that is there, a name and a time',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const nobody = timer(desk, { sessionId: sessionId('nobody') })
      expectKind(await store.putSchedule(nobody), 'unknown')
      for (const wrong of [{ id: 'a b' }, { dueAt: 1.5 }, { dueAt: -1 }, { tokens: 0.5 }]) {
        await assert.rejects(store.putSchedule(timer(desk, wrong)), { code: 'invalid-request' })
      }
      await store.putSchedule(timer(desk))
      const back = { id: 'plants', dueAt: 1_000, nextDueAt: 1_000 }
      await assert.rejects(store.fireSchedule(back), { code: 'invalid-request' })
    },
  },
  {
    name: 'schedules, notes and title go with the session that is deleted',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      await store.putSchedule(timer(desk))
      await store.setTitle({ sessionId: desk.id, title: 'plants' })
      const origin = { sessionId: desk.id, number: entryNumber(1) }
      await store.putNote({ agent: 'ada', id: 'from', text: 'x', origin })
      await store.putNote({ agent: 'ada', id: 'own', text: 'x', origin: null })
      await store.deleteSession({ sessionId: desk.id, operation: newOperation(), reason: 'asked' })
      // At once: what has not been erased yet is still listed.
      assert.equal((await desk.row()).title, null)
      expectKind(await store.setTitle({ sessionId: desk.id, title: 'late' }), 'gone')
      expectKind(await store.putSchedule(timer(desk, { id: 'late' })), 'gone')
      expectKind(await store.putNote({ agent: 'ada', id: 'late', text: 'x', origin }), 'gone')
      const fire = { id: 'plants', dueAt: 1_000, nextDueAt: 2_000 }
      expectKind(await store.fireSchedule(fire), 'gone')
      assert.deepEqual(await store.listSchedules({ state: 'waiting', dueBy: 9_999, limit: 1 }), [])
      await eraseAll(store, desk)
      expectKind(await store.putNote({ agent: 'ada', id: 'late', text: 'x', origin }), 'gone')
      assert.deepEqual(await store.listSchedules({ limit: 10 }), [])
      const notes = await store.listNotes({ agent: 'ada', limit: 10 })
      assert.deepEqual(
        notes.map(({ id }) => id),
        ['own'],
      )
      assert.equal((await desk.row()).title, null)
    },
  },
]

async function eraseAll(store: Store, { id }: Desk): Promise<void> {
  for (;;) {
    const piece = await store.eraseSome({ sessionId: id, limit: 1 })
    if (!expectKind(piece, 'erased').left) return
  }
}

const notes: readonly StoreCase[] = [
  {
    name: 'notes belong to an agent, are replaced by id and listed by it',
    run: async ({ store, sibling }) => {
      const desk = await Desk.open(store)
      const origin = { sessionId: desk.id, number: entryNumber(3) }
      await store.putNote({ agent: 'ada', id: 'b', text: 'likes tea', origin: null })
      await store.putNote({ agent: 'ada', id: 'a', text: 'old', origin })
      const again = { agent: 'ada', id: 'a', text: 'new \0 \ud800', origin }
      const { note } = expectKind(await store.putNote(again), 'noted')
      assert.equal(note.text, 'new \0 \ufffd')
      await store.putNote({ agent: 'bob', id: 'a', text: 'other', origin: null })
      const found = await (await sibling()).listNotes({ agent: 'ada', limit: 10 })
      assert.deepEqual(
        found.map(({ id, text, origin: from }) => [id, text, from]),
        [
          ['a', 'new \0 \ufffd', origin],
          ['b', 'likes tea', null],
        ],
      )
      const behind = await store.listNotes({ agent: 'ada', after: 'a', limit: 10 })
      assert.deepEqual(
        behind.map(({ id }) => id),
        ['b'],
      )
      expectKind(await store.removeNote({ agent: 'ada', id: 'a' }), 'done')
      expectKind(await store.removeNote({ agent: 'ada', id: 'a' }), 'unknown')
      assert.equal((await store.listNotes({ agent: 'bob', limit: 10 })).length, 1)
    },
  },
  {
    name: 'notes are bounded in number and in size [I24]',
    run: async ({ store }) => {
      const put = (id: string, text = 'x') =>
        store.putNote({ agent: 'ada', id, text, origin: null })
      const large = expectKind(await put('large', 'ü'.repeat(NOTE_BYTES_MAX / 2 + 1)), 'too-large')
      assert.deepEqual([large.bytes, large.limit], [NOTE_BYTES_MAX + 2, NOTE_BYTES_MAX])
      for (let index = 0; index < NOTES_MAX; index += 50) {
        await Promise.all(Array.from({ length: 50 }, (_, each) => put(`n${index + each}`)))
      }
      assert.equal(expectKind(await put('more'), 'full').limit, NOTES_MAX)
      expectKind(await put('n7', 'y'), 'noted')
      await assert.rejects(put('a b'), { code: 'invalid-request' })
    },
  },
  {
    name: 'a note goes with the entry it was made from [I19]',
    run: async ({ store }) => {
      const desk = await Desk.open(store)
      const [entry = entryNumber(0)] = await desk.hear('my address is …')
      await desk.reply('thanks', { ends: 'answered' })
      const from = (number: EntryNumber) => ({ sessionId: desk.id, number })
      await store.putNote({ agent: 'ada', id: 'gone', text: 'address', origin: from(entry) })
      await store.putNote({ agent: 'ada', id: 'stays', text: 'x', origin: from(desk.tail.number) })
      expectKind(await desk.erase([entry]), 'erased')
      const left = await store.listNotes({ agent: 'ada', limit: 10 })
      assert.deepEqual(
        left.map(({ id }) => id),
        ['stays'],
      )
    },
  },
]

function token(id: string, fields: Partial<TokenRow> = {}): TokenRow {
  const hash = createHash('sha256').update(id).digest('hex')
  const scopes = ['read', 'send']
  return { id, hash, scopes, label: 'laptop', createdAt: 5, expiresAt: null, ...fields }
}

const tokens: readonly StoreCase[] = [
  {
    name: 'an access token is found by its hash until it is removed',
    run: async ({ store, sibling }) => {
      const one = token('one')
      const two = token('two', { scopes: [], expiresAt: 99, label: 'Ü"\n' })
      expectKind(await store.putToken(one), 'done')
      expectKind(await store.putToken(two), 'done')
      const other = await sibling()
      assert.deepEqual(await other.listTokens(), [one, two])
      assert.deepEqual(await other.findToken({ hash: two.hash }), two)
      assert.equal(await other.findToken({ hash: 'nope' }), undefined)
      expectKind(await store.removeToken({ id: 'two' }), 'done')
      expectKind(await store.removeToken({ id: 'two' }), 'unknown')
      assert.equal(await other.findToken({ hash: two.hash }), undefined)
    },
  },
  {
    name: 'an access token never changes, and is never stored as itself',
    run: async ({ store }) => {
      await store.putToken(token('one'))
      expectKind(await store.putToken(token('one', { label: 'other' })), 'taken')
      expectKind(await store.putToken({ ...token('one'), id: 'two' }), 'taken')
      const plain = token('three', { hash: 'secret' })
      await assert.rejects(store.putToken(plain), { code: 'invalid-request' })
      assert.equal((await store.listTokens()).length, 1)
    },
  },
]

const titles: readonly StoreCase[] = [
  {
    name: 'a title changes without a lease and nothing else does',
    run: async ({ store, sibling }) => {
      const desk = await Desk.open(store)
      const before = await desk.row()
      const other = await sibling()
      const title = 'Ünïcode 🌱 \0'
      expectKind(await other.setTitle({ sessionId: desk.id, title }), 'done')
      assert.deepEqual(await desk.row(), { ...before, title })
      await desk.exchange('hello', 'hi')
      assert.equal((await desk.row()).title, title)
      expectKind(await other.setTitle({ sessionId: desk.id, title: null }), 'done')
      assert.equal((await desk.row()).title, null)
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'a title is short and names a session that is there',
    run: async ({ store }) => {
      const id = await create(store)
      const title = 'x'.repeat(TITLE_MAX + 1)
      await assert.rejects(store.setTitle({ sessionId: id, title }), { code: 'invalid-request' })
      const nobody = { sessionId: sessionId('nobody'), title: null }
      expectKind(await store.setTitle(nobody), 'unknown')
      await store.deleteSession({ sessionId: id, operation: newOperation(), reason: 'asked' })
      expectKind(await store.setTitle({ sessionId: id, title: 'x' }), 'gone')
    },
  },
]

const attempts: readonly StoreCase[] = [
  {
    name: 'what model calls cost is summed by session, route, task, host and time',
    run: async ({ store }) => {
      const [one, other] = [await create(store), await create(store)]
      const record = (fields: Partial<RecordAttempt>) =>
        store.recordAttempt({
          id: newOperation(),
          sessionId: one,
          task: 'turn',
          modelRoute: 'main',
          outcome: 'ok',
          inputTokens: 100,
          outputTokens: 10,
          at: 50,
          ...fields,
        })
      await record({ cachedTokens: 40, cost: 1_500, host: 'h1' })
      await record({ cost: 500, host: 'h2', at: 60 })
      await record({ task: 'summary', modelRoute: 'small', host: 'h1' })
      await record({ sessionId: other, cost: 2 ** 40, at: 40 })
      const sum = (query: object) => store.sumAttempts({ since: 0, ...query })
      assert.deepEqual(await sum({ sessionId: one }), {
        attempts: 3,
        inputTokens: 300,
        outputTokens: 30,
        cachedTokens: 40,
        cost: 2_000,
        unpriced: 1,
      })
      assert.equal((await sum({})).cost, 2 ** 40 + 2_000)
      assert.equal((await sum({ host: 'h1' })).attempts, 2)
      assert.equal((await sum({ modelRoute: 'main', since: 50 })).cost, 2_000)
      assert.equal((await sum({ task: 'summary', sessionId: one })).unpriced, 1)
      assert.deepEqual(await sum({ since: 61 }), {
        attempts: 0,
        inputTokens: 0,
        outputTokens: 0,
        cachedTokens: 0,
        cost: 0,
        unpriced: 0,
      })
      const [newest] = await store.readAttempts({ sessionId: one, since: 0, limit: 1 })
      assert.deepEqual([newest?.cost, newest?.host, newest?.cachedTokens], [500, 'h2', 0])
      const summaries = await store.readAttempts({ task: 'summary', since: 0, limit: 9 })
      assert.deepEqual(
        summaries.map(({ modelRoute }) => modelRoute),
        ['small'],
      )
    },
  },
]

export const standing: readonly StoreCase[] = [
  ...schedules,
  ...notes,
  ...tokens,
  ...titles,
  ...attempts,
]
