import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { sessionId } from '../../base/ids.ts'
import { create, expectKind, LIMITS, newOperation, register, StoreFixture, said } from './bench.ts'
import type { StoreCase } from './case.ts'

const wide = { ...LIMITS, laneMailMax: 10_000, sourceMailMax: 10_000 }

export const concurrency: readonly StoreCase[] = [
  {
    name: "one handle reads another's commits at once [I1]",
    run: async ({ store, sibling }) => {
      const other = await sibling()
      const fixture = await StoreFixture.open(store)
      await fixture.admit(said('hi'))
      assert.equal((await other.findSession(fixture.id))?.mail, 1)
    },
  },
  {
    name: 'two handles admitting at once leave gap-free numbers and lose nothing [I1, I2]',
    run: async ({ store, sibling }) => {
      const other = await sibling()
      const id = await create(store, { limits: wide })
      const send = (handle: typeof store, source: string, index: number) =>
        handle.admit({
          to: { sessionId: id },
          source,
          key: `k${index}`,
          lane: 'user',
          body: said(`${source} ${index}`),
          tokens: 1,
        })
      const outcomes = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          send(index % 2 ? store : other, index % 2 ? 'one' : 'two', index),
        ),
      )
      const numbers = outcomes.map((outcome) => expectKind(outcome, 'admitted').mail)
      assert.deepEqual(
        numbers.toSorted((a, b) => a - b),
        Array.from({ length: 100 }, (_, index) => index + 1),
      )
      const mail = await store.listMail({ sessionId: id, limit: 1_000 })
      assert.equal(new Set(mail.map((row) => row.key)).size, 100)
    },
  },
  {
    name: 'one sender keeps its order when it waits for each acknowledgment [I2]',
    run: async ({ store, sibling }) => {
      const other = await sibling()
      const fixture = await StoreFixture.open(store, { limits: wide })
      const noise = Promise.all(
        Array.from({ length: 20 }, () =>
          other.admit({
            to: { sessionId: fixture.id },
            source: 'noise',
            key: randomUUID(),
            lane: 'user',
            body: null,
            tokens: 1,
          }),
        ),
      )
      const mine: number[] = []
      for (let index = 0; index < 20; index++) mine.push(await fixture.admit(said(`${index}`)))
      await noise
      assert.deepEqual(
        mine,
        mine.toSorted((a, b) => a - b),
      )
    },
  },
  {
    name: 'one key sent a hundred times at once over two handles is admitted once [I4, fault 30]',
    run: async ({ store, sibling }) => {
      const other = await sibling()
      const id = await create(store)
      const mail = { to: { sessionId: id }, source: 'hook', key: 'same', lane: 'user' } as const
      const outcomes = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          (index % 2 ? store : other).admit({ ...mail, tokens: 1, body: said('once') }),
        ),
      )
      const kinds = outcomes.map(({ kind }) => kind)
      assert.equal(kinds.filter((kind) => kind === 'admitted').length, 1)
      assert.equal(kinds.filter((kind) => kind === 'duplicate').length, 99)
    },
  },
  {
    name: 'when many runners acquire one session at once, exactly one succeeds [I8, fault 18]',
    run: async ({ store, sibling }) => {
      const other = await sibling()
      const id = await create(store)
      const runners = await Promise.all(Array.from({ length: 10 }, () => register(store)))
      const outcomes = await Promise.all(
        runners.map((runner, index) =>
          (index % 2 ? store : other).acquire({
            sessionId: id,
            runner,
            holder: randomUUID(),
            fence: 0,
          }),
        ),
      )
      assert.equal(outcomes.filter(({ kind }) => kind === 'acquired').length, 1)
      assert.equal((await store.findSession(id))?.fence, 1)
    },
  },
  {
    name: 'when many compactions are claimed at once, one starts and the others join it [I6, fault 27]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('a', 'b')
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => fixture.tryClaim(1)))
      const kinds = outcomes.map(({ kind }) => kind)
      assert.equal(kinds.filter((kind) => kind === 'claimed').length, 1)
      assert.equal(kinds.filter((kind) => kind === 'joined').length, 9)
    },
  },
  {
    name: 'when many appends name the same tail, exactly one is committed [I8]',
    run: async ({ store, sibling }) => {
      const other = await sibling()
      const fixture = await StoreFixture.open(store)
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 ? store : other).setTasks({ ...fixture.fenced(), body: [index], tokens: 1 }),
        ),
      )
      assert.equal(outcomes.filter(({ kind }) => kind === 'appended').length, 1)
      assert.equal((await fixture.row()).tail, 1)
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'when many callers start afresh from one route at once, one session is created [I30]',
    run: async ({ store, sibling }) => {
      const other = await sibling()
      const route = { agent: 'ada', channel: 'c', address: 'a' }
      await create(store, { route })
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          (index % 2 ? store : other).startAfresh({
            source: 'chat',
            key: randomUUID(),
            route,
            version: 1,
            id: sessionId(`fresh-${index}`),
            limits: LIMITS,
            policy: 'steer',
            operation: newOperation(),
          }),
        ),
      )
      assert.equal(outcomes.filter(({ kind }) => kind === 'started').length, 1)
      assert.equal((await store.listSessions({ limit: 20 })).length, 2)
    },
  },
  {
    name: 'each reply is claimed by one sender when many claim at once [I31]',
    run: async ({ store, sibling }) => {
      const other = await sibling()
      const fixture = await StoreFixture.open(store)
      for (const address of ['a', 'b', 'c']) {
        await fixture.exchange('q', 'a', [{ edge: 'telegram', address, key: address, body: 'x' }])
      }
      const claimant = await register(store)
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 ? store : other).claimReply({ edge: 'telegram', claimant, at: 0 }),
        ),
      )
      const claimed = outcomes.flatMap((outcome) =>
        outcome.kind === 'claimed' ? [outcome.reply.number] : [],
      )
      assert.deepEqual(claimed.toSorted(), [1, 2, 3])
    },
  },
  {
    name: 'thirteen sessions at work at once do not touch each other [I21]',
    run: async ({ store, sibling }) => {
      const other = await sibling()
      const work = async (index: number) => {
        const fixture = await StoreFixture.open(index % 2 ? store : other)
        for (let round = 0; round < 3; round++) await fixture.exchange(`s${index}`, `s${index}`)
        await fixture.compact((await fixture.row()).seen)
        return fixture
      }
      const fixtures = await Promise.all(Array.from({ length: 13 }, (_, index) => work(index)))
      for (const [index, fixture] of fixtures.entries()) {
        const query = { sessionId: fixture.id, text: `s${index}`, limit: 50, neighbours: 0 }
        assert.equal((await store.search(query)).hits.length, 6)
      }
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'a refused request does not affect requests made at the same moment [I9]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const outcomes = await Promise.allSettled([
        fixture.tryAdmit(said('1'), { key: '1' }),
        fixture.tryAdmit(said('2'), { key: '1' }),
        fixture.tryAdmit(said('3'), { tokens: -1 }),
        fixture.tryAdmit(said('4'), { key: '4' }),
      ])
      const kinds = outcomes.map((outcome) =>
        outcome.status === 'fulfilled' ? outcome.value.kind : 'error',
      )
      assert.deepEqual(kinds, ['admitted', 'conflict', 'error', 'admitted'])
      assert.equal((await fixture.row()).mail, 2)
    },
  },
]
