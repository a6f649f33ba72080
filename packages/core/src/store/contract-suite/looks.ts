import assert from 'node:assert/strict'
import { entryNumber, sessionId } from '../../base/ids.ts'
import type { Store, WrittenRows } from '../contract.ts'
import type { Looked } from '../queries.ts'
import { expectKind, register, replyTo, StoreFixture, said } from './bench.ts'
import type { StoreCase } from './case.ts'

/** Look at a session as its holder does. */
export const looks: readonly StoreCase[] = [
  {
    name: 'a look shows the session, its waiting mail and its operations as the single reads do',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('hi', 'hello')
      await fixture.compact(1)
      await fixture.exchange('more', 'fine')
      await fixture.claim((await fixture.row()).seen)
      await fixture.admit(said('one'))
      await fixture.admit(said('two'), { lane: 'notification' })
      await fixture.admit({ name: 'p', text: 'x' }, { lane: 'control', control: 'pin', tokens: 0 })
      await fixture.admit(said('three'))
      const found = await look(store, fixture, null)
      assert.deepEqual(found.session, await fixture.row())
      assert.deepEqual(found.added, [])
      for (const lane of ['control', 'user', 'notification'] as const) {
        const pending = { sessionId: fixture.id, lane, state: 'pending', limit: 10 } as const
        assert.deepEqual(found.mail[lane], await store.listMail(pending))
      }
      assert.deepEqual(
        [found.mail.control.length, found.mail.user.length, found.mail.notification.length],
        [1, 2, 1],
      )
      const operations = await store.listOperations({ sessionId: fixture.id, limit: 10 })
      assert.deepEqual(found.operations, operations)
      assert.equal(operations.length, 2)
    },
  },
  {
    name: 'a later look adds the entries after the known tail, and operations if one has changed',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('hi')
      const { session } = await look(store, fixture, null)
      assert.deepEqual((await look(store, fixture, session)).operations, null)
      await fixture.reply('hello', { ends: 'answered' })
      const second = await look(store, fixture, session)
      const range = { sessionId: fixture.id, from: entryNumber(2), to: entryNumber(3) }
      assert.deepEqual(second.added, await store.readEntries(range))
      assert.deepEqual([second.added.length, second.operations], [2, null])
      await fixture.claim(1)
      const third = await look(store, fixture, second.session)
      assert.deepEqual([third.added, third.operations?.length], [[], 1])
    },
  },
  {
    name: 'a look at an unknown session returns nothing',
    run: async ({ store }) => {
      const query = { sessionId: sessionId('nobody'), known: null, limit: 10 }
      assert.equal(await store.look(query), undefined)
    },
  },
  {
    name: 'a commit returns the session row and the entries that a look would show',
    run: async ({ store }) => {
      const first = await StoreFixture.open(store)
      const mail = await first.admit(said('work'))
      await first.admit(said('later'))
      const heard = await store.deliver({ ...first.fenced(), mail: [mail] })
      await sees(first, 0, expectKind(heard, 'delivered').written)
      await sees(first, 1, (await first.reply('calling', { calls: ['a', 'b'] })).written)
      const runner = await register(store)
      await store.release({ lease: first.lease, reason: 'shutdown' })
      const next = await StoreFixture.acquire(store, first.id, runner)
      const bounds = { attemptsMax: 9, lossesMax: 9, failureReplies: [] }
      const taken = await store.recover({ ...next.fenced(), repeatable: ['b'], ...bounds })
      await sees(next, 2, expectKind(taken, 'recovered').written)
      const results = [{ call: 'b', outcome: 'ok', body: 'yes', tokens: 1 }] as const
      const done = await store.commitResults({ ...next.fenced(), results })
      await sees(next, 3, expectKind(done, 'committed').written)
      const end = { ends: 'answered', replies: [replyTo('ana')] } as const
      await sees(next, 4, (await next.reply('done', end)).written)
    },
  },
]

async function look(
  store: Store,
  { id }: StoreFixture,
  known: Looked['session'] | null,
): Promise<Looked> {
  const { tail, operation, base } = known ?? {}
  const seen = known === null ? null : ({ tail, operation, base } as Looked['session'])
  const found = await store.look({ sessionId: id, known: seen, limit: 10 })
  assert.ok(found, 'the session is there')
  return found
}

/** Compares with a look, given the tail before the commit. */
async function sees(fixture: StoreFixture, before: number, written: WrittenRows): Promise<void> {
  const row = await fixture.row()
  const known = { ...row, tail: entryNumber(before) }
  const { session, added } = await look(fixture.store, fixture, known)
  assert.deepEqual(written, { session, entries: added })
  assert.ok(added.length > 0, 'something was appended')
  fixture.tail = { number: row.tail, hash: row.tailHash }
}
