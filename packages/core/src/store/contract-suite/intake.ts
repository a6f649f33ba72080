import assert from 'node:assert/strict'
import { mailNumber, sessionId } from '../../base/ids.ts'
import type { JsonValue } from '../../base/json.ts'
import { MAIL_BYTES_MAX } from '../bounds.ts'
import { create, expectKind, LIMITS, newOperation, StoreFixture, said } from './bench.ts'
import type { StoreCase } from './case.ts'

const route = { agent: 'ada', channel: 'telegram', address: '42' }

export const intake: readonly StoreCase[] = [
  {
    name: 'mail numbers count from 1 without gaps [I2]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const numbers: number[] = []
      for (let index = 0; index < 5; index++) numbers.push(await fixture.admit(said(`m${index}`)))
      assert.deepEqual(numbers, [1, 2, 3, 4, 5])
    },
  },
  {
    name: 'the same key and body gives the same number, once [I4, fault 30]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const mail = await fixture.admit(said('hi'), { key: 'k' })
      const again = expectKind(await fixture.tryAdmit(said('hi'), { key: 'k' }), 'duplicate')
      assert.equal(again.mail, mail)
      assert.equal((await store.listMail({ sessionId: fixture.id, limit: 10 })).length, 1)
    },
  },
  {
    name: 'the same key with another body is refused [I4, fault 31]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.admit(said('hi'), { key: 'k' })
      expectKind(await fixture.tryAdmit(said('ho'), { key: 'k' }), 'conflict')
      assert.equal((await fixture.row()).mail, 1)
    },
  },
  {
    name: 'the same key in another lane is refused [I4]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.admit(said('hi'), { key: 'k' })
      expectKind(await fixture.tryAdmit(said('hi'), { key: 'k', lane: 'notification' }), 'conflict')
    },
  },
  {
    name: 'bodies that differ only in key order count as the same [I4]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.admit({ a: 1, b: 2 }, { key: 'k' })
      expectKind(await fixture.tryAdmit({ b: 2, a: 1 }, { key: 'k' }), 'duplicate')
    },
  },
  {
    name: 'two sources can use the same key [I4]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.admit(said('hi'), { source: 'one', key: 'k' })
      await fixture.admit(said('ho'), { source: 'two', key: 'k' })
      assert.equal((await fixture.row()).mail, 2)
    },
  },
  {
    name: 'pairs of source and key that join to the same text do not collide [I4]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.admit(said('x'), { source: 'a', key: 'b"c' })
      await fixture.admit(said('x'), { source: 'a"b', key: 'c' })
      assert.equal((await fixture.row()).mail, 2)
    },
  },
  {
    name: 'a repeat after the route moved returns the original session [I4]',
    run: async ({ store }) => {
      const one = await create(store, { route })
      const two = await create(store)
      const mail = { to: { route }, source: 'tg', key: 'k', lane: 'user', tokens: 1 } as const
      const first = expectKind(await store.admit({ ...mail, body: said('hi') }), 'admitted')
      expectKind(await store.pointRoute({ route, sessionId: two, version: 1 }), 'pointed')
      const again = expectKind(await store.admit({ ...mail, body: said('hi') }), 'duplicate')
      assert.deepEqual([first.sessionId, again.sessionId, again.mail], [one, one, 1])
      assert.equal((await store.findSession(two))?.mail, 0)
    },
  },
  {
    name: 'mail to a route that leads nowhere is refused as unknown and not kept [fault 39]',
    run: async ({ store }) => {
      const mail = { source: 'tg', key: 'k', lane: 'user', tokens: 1, body: said('hi') } as const
      expectKind(await store.admit({ ...mail, to: { route } }), 'unknown')
      const id = await create(store, { route })
      const after = expectKind(await store.admit({ ...mail, to: { route } }), 'admitted')
      assert.equal(after.sessionId, id)
    },
  },
  {
    name: 'mail to a session that does not exist is refused as unknown [fault 39]',
    run: async ({ store }) => {
      const to = { sessionId: sessionId('nobody') }
      const mail = { to, source: 'a', key: 'k', lane: 'user', tokens: 1, body: null } as const
      expectKind(await store.admit(mail), 'unknown')
    },
  },
  {
    name: 'a full lane refuses mail while other lanes accept it [I24]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store, { limits: { ...LIMITS, laneMailMax: 2 } })
      await fixture.admit(said('1'))
      await fixture.admit(said('2'))
      const outcome = expectKind(await fixture.tryAdmit(said('3')), 'full')
      assert.deepEqual([outcome.which, outcome.limit], ['lane', 2])
      await fixture.admit(said('n'), { lane: 'notification' })
      assert.equal((await fixture.row()).mail, 3)
    },
  },
  {
    name: 'one source cannot fill the mailbox for others [I24]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store, { limits: { ...LIMITS, sourceMailMax: 2 } })
      await fixture.admit(said('1'), { source: 'loud' })
      await fixture.admit(said('2'), { source: 'loud' })
      const outcome = expectKind(await fixture.tryAdmit(said('3'), { source: 'loud' }), 'full')
      assert.equal(outcome.which, 'source')
      await fixture.admit(said('4'), { source: 'quiet' })
    },
  },
  {
    name: 'delivery makes room for the lane and for the source [I24]',
    run: async ({ store }) => {
      const limits = { ...LIMITS, laneMailMax: 1, sourceMailMax: 1 }
      const fixture = await StoreFixture.open(store, { limits })
      await fixture.hear('1')
      await fixture.admit(said('2'))
    },
  },
  {
    name: 'a refused key may be used when there is room again [I24]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store, { limits: { ...LIMITS, laneMailMax: 1 } })
      const first = await fixture.admit(said('1'))
      expectKind(await fixture.tryAdmit(said('2'), { key: 'k' }), 'full')
      await fixture.deliver(first)
      await fixture.admit(said('2'), { key: 'k' })
    },
  },
  {
    name: 'a body above the limit is refused with its size [I24, fault 35]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const outcome = expectKind(await fixture.tryAdmit('x'.repeat(MAIL_BYTES_MAX)), 'too-large')
      assert.ok(outcome.bytes > outcome.limit)
      assert.equal((await fixture.row()).mail, 0)
    },
  },
  ...(
    [
      ['NUL characters', 'a\u0000b', 'a\u0000b'],
      ['lone surrogates, as the replacement character', 'a\ud800b', 'a\ufffdb'],
      ['an empty text', '', ''],
      ['line separators', '\u2028\u2029\r\n', '\u2028\u2029\r\n'],
      ['astral characters', '🧵𝔘', '🧵𝔘'],
    ] as const
  ).map(
    ([what, given, kept]): StoreCase => ({
      name: `a body keeps ${what} [fault 35]`,
      run: async ({ store }) => {
        const fixture = await StoreFixture.open(store)
        const [entry] = await fixture.deliver(await fixture.admit({ text: given }))
        const [row] = await store.readEntries({
          sessionId: fixture.id,
          from: entry ?? fixture.tail.number,
          to: fixture.tail.number,
        })
        assert.deepEqual(JSON.parse(row?.body ?? ''), { text: kept })
        assert.deepEqual(await store.verify({ sessionId: fixture.id }), [])
      },
    }),
  ),
  {
    name: 'a body nested 5,000 levels deep is refused with a reason, and the store keeps working [I24, fault 35]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      let deep: JsonValue = 1
      for (let level = 0; level < 5_000; level++) deep = [deep]
      await assert.rejects(fixture.tryAdmit(deep), { code: 'invalid-body' })
      assert.equal(await fixture.admit(said('fine')), 1)
    },
  },
  {
    name: 'a token count that is negative or not a whole number is refused at admission [I24]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      for (const tokens of [-1, 0.5, Number.NaN]) {
        await assert.rejects(fixture.tryAdmit(said('x'), { tokens }), { code: 'invalid-request' })
      }
    },
  },
  {
    name: 'waiting mail can be listed with its lane, source and state',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.admit(said('a'), { source: 'ana' })
      await fixture.admit(said('b'), { lane: 'notification', source: 'cron' })
      const list = await store.listMail({ sessionId: fixture.id, state: 'pending', limit: 10 })
      const shown = list.map(({ number, lane, source, state }) => [number, lane, source, state])
      assert.deepEqual(shown, [
        [1, 'user', 'ana', 'pending'],
        [2, 'notification', 'cron', 'pending'],
      ])
    },
  },
  {
    name: 'waiting mail of each lane can be listed page by page, from any number on',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      for (let round = 0; round < 3; round++) {
        await fixture.admit({}, { lane: 'control', control: 'compact', tokens: 0 })
        for (const lane of ['user', 'notification'] as const) {
          await fixture.admit(said('hi'), { lane })
        }
      }
      for (const [at, lane] of (['control', 'user', 'notification'] as const).entries()) {
        for (let after = 0; after <= 9; after++) {
          const query = { sessionId: fixture.id, lane, state: 'pending' } as const
          const wanted = [at + 1, at + 4, at + 7].filter((number) => number > after)
          for (const limit of [1, 2, 9]) {
            const page = await store.listMail({ ...query, after: mailNumber(after), limit })
            const numbers = page.map(({ number }) => number)
            assert.deepEqual(numbers, wanted.slice(0, limit))
          }
        }
      }
    },
  },
  {
    name: 'mail goes from pending to delivered, and to settled when its turn ends [I3]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const state = async () =>
        (await store.listMail({ sessionId: fixture.id, limit: 1 }))[0]?.state
      const mail = await fixture.admit(said('hi'))
      assert.equal(await state(), 'pending')
      await fixture.deliver(mail)
      assert.equal(await state(), 'delivered')
      await fixture.reply('hello', { ends: 'answered' })
      assert.equal(await state(), 'settled')
    },
  },
  {
    name: 'a stop without a running turn is recorded as settled [I11]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.stop()
      const [stop] = await store.listMail({ sessionId: fixture.id, limit: 1 })
      assert.deepEqual([stop?.state, stop?.turnAt], ['settled', null])
      assert.equal((await fixture.row()).pending.control, 0)
    },
  },
  {
    name: 'a stop names the turn it was meant for and is settled when that turn ends [I11]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      await fixture.stop()
      const find = async () =>
        (await store.listMail({ sessionId: fixture.id, lane: 'control', limit: 1 }))[0]
      assert.deepEqual([(await find())?.turnAt, (await find())?.state], [1, 'pending'])
      await fixture.reply('stopped', { ends: 'stopped' })
      assert.equal((await find())?.state, 'settled')
    },
  },
  {
    name: 'control mail stays until it is settled, and is settled once [I11]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const mail = await fixture.admit({}, { lane: 'control', control: 'compact', tokens: 0 })
      await fixture.exchange('hi', 'hello')
      assert.equal((await fixture.row()).pending.control, 1)
      expectKind(await store.settleControl({ lease: fixture.lease, mail: [mail, mail] }), 'done')
      assert.equal((await fixture.row()).pending.control, 0)
      expectKind(await store.settleControl({ lease: fixture.lease, mail: [mail] }), 'done')
      assert.equal((await fixture.row()).pending.control, 0)
    },
  },
  {
    name: 'control mail is never delivered as input',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const mail = await fixture.admit({}, { lane: 'control', control: 'compact', tokens: 0 })
      expectKind(await store.deliver({ ...fixture.fenced(), mail: [mail] }), 'not-pending')
    },
  },
  {
    name: 'an admission names the runner to wake, if one holds the session',
    run: async ({ store }) => {
      const id = await create(store)
      const mail = {
        to: { sessionId: id },
        source: 'a',
        lane: 'user',
        tokens: 1,
        body: null,
      } as const
      assert.equal(expectKind(await store.admit({ ...mail, key: '1' }), 'admitted').runner, null)
      const fixture = await StoreFixture.open(store)
      const outcome = expectKind(await fixture.tryAdmit(said('hi')), 'admitted')
      assert.equal(outcome.runner, fixture.lease.runner)
    },
  },
  {
    name: 'a staged blob is used by its message and kept once by content',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const blob = {
        sessionId: fixture.id,
        mediaType: 'image/png',
        bytes: new Uint8Array([1, 2, 3]),
      }
      const { hash } = expectKind(await store.stageBlob(blob), 'staged')
      assert.equal(expectKind(await store.stageBlob(blob), 'staged').hash, hash)
      await fixture.admit(said('look'), { blobs: [hash] })
      await fixture.admit(said('again'), { blobs: [hash] })
      const found = await store.findBlob({ sessionId: fixture.id, hash })
      assert.deepEqual([found?.uses, [...(found?.bytes ?? [])]], [2, [1, 2, 3]])
    },
  },
  {
    name: 'a message whose blob has been dropped is refused [I24]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const blob = { sessionId: fixture.id, mediaType: 'image/png', bytes: new Uint8Array([1]) }
      const { hash } = expectKind(await store.stageBlob(blob), 'staged')
      const dropped = await store.dropStaged({ before: Number.MAX_SAFE_INTEGER })
      assert.equal(dropped.count, 1)
      expectKind(await fixture.tryAdmit(said('look'), { blobs: [hash] }), 'blob-missing')
      assert.equal((await fixture.row()).mail, 0)
    },
  },
  {
    name: 'used blobs survive the sweep of staged ones; blobs belong to their session [I21]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const other = await StoreFixture.open(store)
      const bytes = new Uint8Array([7])
      const { hash } = expectKind(
        await store.stageBlob({ sessionId: fixture.id, mediaType: 'a/b', bytes }),
        'staged',
      )
      await fixture.admit(said('x'), { blobs: [hash] })
      await store.dropStaged({ before: Number.MAX_SAFE_INTEGER })
      assert.ok(await store.findBlob({ sessionId: fixture.id, hash }))
      expectKind(await other.tryAdmit(said('x'), { blobs: [hash] }), 'blob-missing')
    },
  },
  {
    name: 'an attempt is recorded once per id, with its cost [I27]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const attempt = {
        id: newOperation(),
        sessionId: fixture.id,
        task: 'compaction',
        modelRoute: 'main',
        outcome: 'timeout',
        inputTokens: 100,
        outputTokens: 0,
        at: 50,
      }
      expectKind(await store.recordAttempt(attempt), 'done')
      expectKind(await store.recordAttempt(attempt), 'duplicate')
      const found = await store.readAttempts({ sessionId: fixture.id, since: 50, limit: 10 })
      assert.deepEqual(found, [
        { ...attempt, cachedTokens: 0, cost: null, agent: 'ada', turn: null, step: null, host: '' },
      ])
      assert.deepEqual(await store.readAttempts({ modelRoute: 'main', since: 51, limit: 10 }), [])
    },
  },
]
