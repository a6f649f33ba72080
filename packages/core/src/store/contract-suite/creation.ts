import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { sessionId } from '../../base/ids.ts'
import type { Store } from '../contract.ts'
import { create, expectKind, LIMITS, newOperation, StoreFixture, said } from './bench.ts'
import type { StoreCase } from './case.ts'

const route = { agent: 'ada', channel: 'telegram', address: '42' }

async function afresh(store: Store, fields: { key?: string; version?: number; id?: string } = {}) {
  return store.startAfresh({
    source: 'telegram',
    key: fields.key ?? randomUUID(),
    route,
    version: fields.version ?? 0,
    id: sessionId(fields.id ?? `s-${randomUUID()}`),
    limits: LIMITS,
    policy: 'queue',
    operation: newOperation(),
  })
}

export const creation: readonly StoreCase[] = [
  {
    name: 'a created session is open, empty and at fence 0 [I5]',
    run: async ({ store }) => {
      const id = await create(store)
      const session = await store.findSession(id)
      assert.equal(session?.id, id)
      assert.deepEqual(
        [session?.state, session?.tail, session?.mail, session?.fence, session?.birth],
        ['open', 0, 0, 0, 'created'],
      )
    },
  },
  {
    name: 'an id is used once [I5]',
    run: async ({ store }) => {
      const id = await create(store)
      const again = { id, agent: 'bob', limits: LIMITS, policy: 'steer' } as const
      const outcome = await store.createSession({ ...again, operation: newOperation() })
      expectKind(outcome, 'exists')
      assert.equal((await store.findSession(id))?.agent, 'ada')
    },
  },
  {
    name: 'ids are letters, digits, "_" and "-", 1 to 64 of them; derived names are not ids [I5, fault 39]',
    run: async () => {
      for (const bad of ['', 'a.snapshot.3', 'a b', 'ä', 'x'.repeat(65), 'a\nb', '../a']) {
        assert.throws(() => sessionId(bad), { code: 'invalid-id' }, bad)
      }
      assert.equal(sessionId('A-z_09'), 'A-z_09')
    },
  },
  {
    name: 'an id, a lane, a limit or a count of the wrong type or range is refused [I5, I24, I33]',
    run: async ({ store }) => {
      const plain = { agent: 'ada', limits: LIMITS, policy: 'steer', operation: newOperation() }
      const born = (fields: object) => store.createSession({ ...plain, ...fields } as never)
      const fixture = await StoreFixture.open(store)
      const host = { boot: 'b', process: 1, startedAt: 0, leaseMs: 1 }
      for (const request of [
        ...['../x', 'a.b', '', 'x\n', 5].map((id) => () => born({ id })),
        ...[Number.NaN, -1, 0.5, '7', undefined].map(
          (handoffTokens) => () => born({ id: 'odd', limits: { ...LIMITS, handoffTokens } }),
        ),
        () => store.registerRunner({ ...host, id: '../x' } as never),
        () => store.dismissRunner({ runner: '../x', beat: 1 } as never),
        () => fixture.tryAdmit('hi', { lane: 'bogus' } as never),
        () => fixture.tryAdmit('hi', { tokens: 2 ** 60 }),
      ]) {
        await assert.rejects(request, { code: 'invalid-request' })
      }
      assert.deepEqual(
        (await store.listSessions({ limit: 9 })).map(({ id }) => id),
        [fixture.id],
      )
      assert.deepEqual(await store.verify({}), [])
    },
  },
  {
    name: 'creating a session writes its own audit line, with its operation [I20, I30]',
    run: async ({ store }) => {
      const operation = newOperation()
      const id = await create(store, { operation })
      const [line] = await store.readAudit({ after: 0, sessionId: id, limit: 10 })
      assert.equal(line?.kind, 'session created')
      assert.equal(line?.operation, operation)
    },
  },
  {
    name: 'limits whose parts exceed the hard limit are refused at creation [I33]',
    run: async ({ store }) => {
      const limits = { ...LIMITS, inputTokens: LIMITS.inputTokens + 1 }
      const id = sessionId('too-much')
      const request = {
        id,
        agent: 'ada',
        limits,
        policy: 'steer',
        operation: newOperation(),
      } as const
      const outcome = expectKind(await store.createSession(request), 'limits-refused')
      assert.deepEqual([outcome.neededTokens, outcome.hardTokens], [1_001, 1_000])
      assert.equal(await store.findSession(id), undefined)
    },
  },
  {
    name: 'a session created with a route is found by it',
    run: async ({ store }) => {
      const id = await create(store, { route })
      assert.deepEqual(await store.findRoute(route), { ...route, sessionId: id, version: 1 })
    },
  },
  {
    name: 'a new session cannot take a route that leads to another one',
    run: async ({ store }) => {
      const first = await create(store, { route })
      const second = sessionId('second')
      const plain = { agent: 'ada', limits: LIMITS, policy: 'steer' } as const
      const request = { ...plain, id: second, route, operation: newOperation() }
      const outcome = expectKind(await store.createSession(request), 'route-taken')
      assert.equal(outcome.sessionId, first)
      assert.equal(await store.findSession(second), undefined)
    },
  },
  {
    name: 'a route changes only for a caller that names its current version',
    run: async ({ store }) => {
      const one = await create(store, { route })
      const two = await create(store)
      expectKind(await store.pointRoute({ route, sessionId: two, version: 0 }), 'route-changed')
      assert.equal((await store.findRoute(route))?.sessionId, one)
      expectKind(await store.pointRoute({ route, sessionId: two, version: 1 }), 'pointed')
      assert.deepEqual(await store.findRoute(route), { ...route, sessionId: two, version: 2 })
    },
  },
  {
    name: 'a route cannot point to a session that does not exist [I5]',
    run: async ({ store }) => {
      const nobody = sessionId('nobody')
      expectKind(await store.pointRoute({ route, sessionId: nobody, version: 0 }), 'gone')
    },
  },
  {
    name: 'starting afresh creates a session, moves the route to it and returns the old one [I30]',
    run: async ({ store }) => {
      const old = await create(store, { route })
      const outcome = expectKind(await afresh(store, { version: 1, id: 'fresh' }), 'started')
      assert.equal(outcome.left, old)
      assert.equal((await store.findRoute(route))?.sessionId, 'fresh')
      assert.equal((await store.findSession(old))?.state, 'open')
      const lines = await store.readAudit({ after: 0, sessionId: sessionId('fresh'), limit: 5 })
      assert.deepEqual(lines[0]?.facts, { agent: 'ada', birth: 'afresh', scope: old })
    },
  },
  {
    name: 'one key starts afresh at most once [I4]',
    run: async ({ store }) => {
      await create(store, { route })
      expectKind(await afresh(store, { key: 'k', version: 1, id: 'fresh-1' }), 'started')
      const again = await afresh(store, { key: 'k', version: 2, id: 'fresh-2' })
      assert.equal(expectKind(again, 'duplicate').sessionId, 'fresh-1')
      assert.equal(await store.findSession(sessionId('fresh-2')), undefined)
    },
  },
  {
    name: 'starting afresh from an outdated version of the route changes nothing',
    run: async ({ store }) => {
      const old = await create(store, { route })
      expectKind(await afresh(store, { version: 0, id: 'fresh' }), 'route-changed')
      assert.equal((await store.findRoute(route))?.sessionId, old)
      assert.equal(await store.findSession(sessionId('fresh')), undefined)
    },
  },
  {
    name: 'starting afresh stops the running turn of the old session [I11]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store, { route })
      await fixture.hear('long work')
      expectKind(await afresh(store, { version: 1 }), 'started')
      const [stop] = await store.listMail({ sessionId: fixture.id, lane: 'control', limit: 5 })
      assert.deepEqual([stop?.control, stop?.turnAt, stop?.state], ['stop', 1, 'pending'])
    },
  },
  {
    name: 'a key that started a session afresh is refused for a message [I4]',
    run: async ({ store }) => {
      await create(store, { route })
      expectKind(await afresh(store, { key: 'k', version: 1 }), 'started')
      const outcome = await store.admit({
        to: { route },
        source: 'telegram',
        key: 'k',
        lane: 'user',
        body: said('hi'),
        tokens: 1,
      })
      expectKind(outcome, 'conflict')
    },
  },
  {
    name: 'sessions are listed by agent, in pages, in the order of their ids',
    run: async ({ store }) => {
      for (const id of ['c', 'a', 'b']) await create(store, { id: sessionId(id) })
      await create(store, { id: sessionId('other'), agent: 'bob' })
      const page = await store.listSessions({ agent: 'ada', limit: 2 })
      assert.deepEqual(
        page.map((row) => row.id),
        ['a', 'b'],
      )
      const next = await store.listSessions({ agent: 'ada', after: sessionId('b'), limit: 2 })
      assert.deepEqual(
        next.map((row) => row.id),
        ['c'],
      )
    },
  },
]
