import assert from 'node:assert/strict'
import type { EntryNumber } from '../../base/ids.ts'
import { expectKind, LIMITS, StoreFixture } from './bench.ts'
import type { StoreCase } from './case.ts'

export const settings: readonly StoreCase[] = [
  {
    name: 'a store on a disk reports its size in bytes',
    run: async ({ store }) => {
      const before = await store.readSize()
      const fixture = await StoreFixture.open(store)
      // Servers compress, so repetitive text would take almost no space.
      const odd = (_: unknown, n: number) => ((n * 2_654_435_761) % 2 ** 32).toString(36)
      await fixture.pin('large', Array.from({ length: 20_000 }, odd).join(' '), 1)
      const after = await store.readSize()
      if (before === null) assert.equal(after, null)
      else assert.ok(after !== null && after > before + 50_000, `${before} bytes, then ${after}`)
    },
  },
  {
    name: 'pins over their bound are refused when set [I33]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      expectKind(await fixture.pin('a', 'x', 60), 'appended')
      const refused = expectKind(await fixture.pin('b', 'y', 41), 'no-room')
      assert.deepEqual([refused.tokensAfter, refused.limit], [101, 100])
      expectKind(await fixture.pin('b', 'y', 40), 'appended')
    },
  },
  {
    name: 'a pin set again replaces the one before, also in the count [I33]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.pin('a', 'x', 90)
      expectKind(await fixture.pin('a', 'y', 100), 'appended')
      assert.deepEqual((await fixture.row()).pins, { a: { entry: 2, tokens: 100 } })
    },
  },
  {
    name: 'removing a pin takes it out of the context and frees its tokens',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.pin('a', 'x', 90)
      const request = {
        ...fixture.fenced(),
        name: 'a',
        change: 'removed',
        body: null,
        tokens: 0,
      } as const
      fixture.tail = expectKind(await store.pin(request), 'appended').tail
      expectKind(await store.pin({ ...request, ...fixture.fenced() }), 'unknown-pin')
      expectKind(await fixture.pin('b', 'y', 100), 'appended')
    },
  },
  {
    name: 'a pin can have the name of a property that every object has',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      expectKind(await fixture.pin('__proto__', 'x', 10), 'appended')
      expectKind(await fixture.pin('constructor', 'x', 10), 'appended')
      assert.equal(Object.keys((await fixture.row()).pins).length, 2)
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'a pin name that is not a valid id is refused',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await assert.rejects(fixture.pin('a b', 'x', 1), { code: 'invalid-request' })
    },
  },
  {
    name: 'settings whose parts do not fit are refused [I33]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const limits = { ...LIMITS, hardTokens: 999 }
      const request = { ...fixture.fenced(), body: {}, tokens: 0, limits }
      expectKind(await store.changeSettings(request), 'limits-refused')
      assert.equal((await fixture.row()).tail, 0)
    },
  },
  {
    name: 'settings below the pins already set are refused [I33]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.pin('a', 'x', 90)
      const limits = { ...LIMITS, pinTokens: 50 }
      const request = { ...fixture.fenced(), body: {}, tokens: 0, limits }
      expectKind(await store.changeSettings(request), 'limits-refused')
    },
  },
  {
    name: 'the settings count towards the limit together with the pins [I33]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const change = async (tokens: number) =>
        await store.changeSettings({ ...fixture.fenced(), body: { system: 'be kind' }, tokens })
      fixture.tail = expectKind(await change(60), 'appended').tail
      expectKind(await fixture.pin('a', 'x', 41), 'no-room')
      expectKind(await fixture.pin('a', 'x', 40), 'appended')
      expectKind(await change(61), 'limits-refused')
    },
  },
  {
    name: 'a past context has the limits of its time [I9]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('one', 'first')
      const born = (await fixture.row()).tail
      const change = async (inputTokens: number) => {
        const limits = { ...LIMITS, inputTokens }
        const outcome = await store.changeSettings({
          ...fixture.fenced(),
          body: {},
          tokens: 0,
          limits,
        })
        fixture.tail = expectKind(outcome, 'appended').tail
      }
      await change(30)
      const second = (await fixture.row()).tail
      await change(20)
      const inputAt = async (upto?: EntryNumber) => {
        const query = { sessionId: fixture.id, ...(upto !== undefined && { upto }) }
        return (await store.readContext(query))?.limits.inputTokens
      }
      assert.deepEqual(
        [await inputAt(born), await inputAt(second), await inputAt()],
        [LIMITS.inputTokens, 30, 20],
      )
    },
  },
  {
    name: 'new settings are an entry and take effect at once',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const limits = { ...LIMITS, inputTokens: 30 }
      const change = { body: { model: 'm' }, tokens: 0, limits, policy: 'queue' } as const
      const outcome = await store.changeSettings({ ...fixture.fenced(), ...change })
      fixture.tail = expectKind(outcome, 'appended').tail
      const row = await fixture.row()
      assert.deepEqual([row.limits, row.policy, row.settings], [limits, 'queue', 1])
      await fixture.hear('10', '10', '10')
      const more = await fixture.admit('more')
      expectKind(await store.deliver({ ...fixture.fenced(), mail: [more] }), 'no-room')
    },
  },
  {
    name: 'a change settles the control that asked for it',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const mail = await fixture.admit({}, { lane: 'control', control: 'tasks', tokens: 0 })
      const outcome = await store.setTasks({
        ...fixture.fenced(),
        body: [],
        tokens: 0,
        settles: [mail],
      })
      expectKind(outcome, 'appended')
      assert.equal((await fixture.row()).pending.control, 0)
    },
  },
]
