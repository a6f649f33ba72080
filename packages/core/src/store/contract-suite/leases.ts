import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { runnerId, sessionId } from '../../base/ids.ts'
import { create, expectKind, register, StoreFixture, said } from './bench.ts'
import type { StoreCase } from './case.ts'

export const leases: readonly StoreCase[] = [
  {
    name: 'the fence rises with every acquisition, also by the same runner [I7]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const again = await StoreFixture.acquire(store, fixture.id, fixture.lease.runner)
      assert.deepEqual([fixture.lease.fence, again.lease.fence], [1, 2])
      expectKind(await store.release({ lease: fixture.lease, reason: 'idle' }), 'superseded')
    },
  },
  {
    name: "acquiring a session that a live runner holds is refused with the holder's name [I8]",
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const runner = await register(store)
      const request = {
        sessionId: fixture.id,
        runner,
        holder: randomUUID(),
        fence: fixture.lease.fence,
      }
      const outcome = expectKind(await store.acquire(request), 'held')
      const [row] = (await store.listRunners()).filter(({ id }) => id === fixture.lease.runner)
      assert.deepEqual([outcome.by, outcome.beat], [fixture.lease.runner, row?.beat])
    },
  },
  {
    name: 'acquiring a session with an outdated fence is refused [I8, fault 22]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await store.release({ lease: fixture.lease, reason: 'idle' })
      const runner = await register(store)
      const request = { sessionId: fixture.id, runner, holder: randomUUID(), fence: 0 }
      assert.equal(expectKind(await store.acquire(request), 'fence-changed').fence, 1)
    },
  },
  {
    name: 'another runner can acquire a released session',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      expectKind(await store.release({ lease: fixture.lease, reason: 'idle' }), 'done')
      const next = await StoreFixture.acquire(store, fixture.id, await register(store))
      assert.equal(next.lease.fence, 2)
    },
  },
  {
    name: 'a runner that is not registered acquires nothing',
    run: async ({ store }) => {
      const id = await create(store)
      const runner = runnerId('nobody')
      expectKind(await store.acquire({ sessionId: id, runner, holder: 'h', fence: 0 }), 'lost')
    },
  },
  {
    name: 'an unknown session is not acquired',
    run: async ({ store }) => {
      const runner = await register(store)
      const id = sessionId('nobody')
      expectKind(await store.acquire({ sessionId: id, runner, holder: 'h', fence: 0 }), 'unknown')
    },
  },
  {
    name: 'a runner id is registered once',
    run: async ({ store }) => {
      const id = await register(store)
      const host = { boot: 'b', process: 2, startedAt: 0, leaseMs: 1 }
      expectKind(await store.registerRunner({ id, ...host }), 'taken')
    },
  },
  {
    name: 'a renewal changes the beat of the runner, in its one row',
    run: async ({ store }) => {
      const runner = await register(store)
      const beats = [(await store.listRunners())[0]?.beat]
      for (let round = 0; round < 2; round++) {
        beats.push(expectKind(await store.renew({ runner }), 'renewed').beat)
      }
      assert.equal(new Set(beats).size, 3)
      assert.deepEqual(
        (await store.listRunners()).map(({ beat }) => beat),
        beats.slice(-1),
      )
    },
  },
  {
    name: 'a runner that registers again under its id starts with another beat [I25]',
    run: async ({ store }) => {
      const beats = new Set<number>()
      for (let life = 0; life < 3; life++) {
        await register(store, 'same')
        beats.add((await store.listRunners())[0]?.beat ?? 0)
        expectKind(await store.retireRunner({ runner: runnerId('same') }), 'done')
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
      assert.equal(beats.size, 3)
    },
  },
  {
    name: 'a runner whose beat moved is not dismissed [I25]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const [seen] = await store.listRunners()
      await store.renew({ runner: fixture.lease.runner })
      const outcome = await store.dismissRunner({
        runner: fixture.lease.runner,
        beat: seen?.beat ?? 0,
      })
      expectKind(outcome, 'alive')
      await fixture.hear('still here')
    },
  },
  {
    name: 'a dismissed runner cannot renew, and its sessions can be acquired [I7, fault 23]',
    run: async ({ store, dismiss }) => {
      const fixture = await StoreFixture.open(store)
      await dismiss(fixture.lease.runner)
      expectKind(await store.renew({ runner: fixture.lease.runner }), 'lost')
      const next = await StoreFixture.acquire(store, fixture.id, await register(store))
      assert.equal(next.lease.fence, fixture.lease.fence + 1)
    },
  },
  {
    name: 'a dismissed runner cannot acquire a session',
    run: async ({ store, dismiss }) => {
      const runner = await register(store)
      await dismiss(runner)
      const id = await create(store)
      expectKind(await store.acquire({ sessionId: id, runner, holder: 'h', fence: 0 }), 'lost')
    },
  },
  {
    name: "a former holder's delivery is refused after another runner took over [I7, I8, fault 20]",
    run: async ({ store, dismiss }) => {
      const zombie = await StoreFixture.open(store)
      const mail = await zombie.admit(said('hi'))
      await dismiss(zombie.lease.runner)
      const next = await StoreFixture.acquire(store, zombie.id, await register(store))
      const late = await store.deliver({ ...zombie.fenced(), mail: [mail] })
      assert.deepEqual(late, { kind: 'superseded', by: 'fence' })
      assert.deepEqual(await next.deliver(mail), [1])
    },
  },
  {
    name: 'a session in a turn can be released at shutdown, but not as idle',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      expectKind(await store.release({ lease: fixture.lease, reason: 'idle' }), 'in-use')
      expectKind(await store.release({ lease: fixture.lease, reason: 'shutdown' }), 'done')
      assert.equal((await fixture.row()).turnState, 'running')
    },
  },
  {
    name: 'a session with a running compaction cannot be released as idle',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('a', 'b')
      await fixture.claim(1)
      expectKind(await store.release({ lease: fixture.lease, reason: 'idle' }), 'in-use')
    },
  },
  {
    name: 'a retiring runner releases all its sessions',
    run: async ({ store }) => {
      const runner = await register(store)
      const one = await StoreFixture.acquire(store, await create(store), runner)
      const two = await StoreFixture.acquire(store, await create(store), runner)
      expectKind(await store.retireRunner({ runner }), 'done')
      assert.equal((await one.row()).runner, null)
      expectKind(await store.setWake({ lease: two.lease, wakeAt: 1 }), 'superseded')
      expectKind(await store.retireRunner({ runner }), 'lost')
    },
  },
  {
    name: "an acquisition abandons the previous holder's operation, with an audit line [I6, I20]",
    run: async ({ store, dismiss }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('a', 'b')
      const operation = await fixture.claim(1)
      await dismiss(fixture.lease.runner)
      const next = await StoreFixture.acquire(store, fixture.id, await register(store))
      assert.equal((await store.findOperation(operation))?.state, 'abandoned')
      const lines = await store.readAudit({ after: 0, sessionId: fixture.id, limit: 100 })
      const phases = lines.filter((line) => line.operation === operation).map((line) => line.phase)
      assert.deepEqual(phases, ['started', 'abandoned'])
      await next.claim(1)
    },
  },
  {
    name: 'the audit has one line for every acquired fence, in rising order [I20]',
    run: async ({ store, dismiss }) => {
      const fixture = await StoreFixture.open(store)
      await dismiss(fixture.lease.runner)
      await StoreFixture.acquire(store, fixture.id, await register(store))
      const lines = await store.readAudit({ after: 0, sessionId: fixture.id, limit: 100 })
      const fences = lines
        .filter((line) => line.kind === 'lease acquired')
        .map((line) => line.facts['fence'])
      assert.deepEqual(fences, [1, 2])
    },
  },
  {
    name: 'a session with mail and no holder is ready; one that is held is not [I23]',
    run: async ({ store }) => {
      const id = await create(store)
      const ready = async () =>
        (await store.readReady({ agents: ['ada'], at: 0, limit: 10 })).map((row) => row.id)
      assert.deepEqual(await ready(), [])
      const mail = { to: { sessionId: id }, source: 'a', key: 'k', lane: 'user' } as const
      await store.admit({ ...mail, tokens: 1, body: null })
      assert.deepEqual(await ready(), [id])
      await StoreFixture.acquire(store, id, await register(store))
      assert.deepEqual(await ready(), [])
    },
  },
  {
    name: 'a session whose holder was dismissed in mid-turn is ready [I23]',
    run: async ({ store, dismiss }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.hear('work')
      await dismiss(fixture.lease.runner)
      const ready = await store.readReady({ agents: ['ada'], at: 0, limit: 10 })
      assert.deepEqual(
        ready.map((row) => row.id),
        [fixture.id],
      )
    },
  },
  {
    name: 'a session whose holder was dismissed during a compaction is ready [I23]',
    run: async ({ store, dismiss }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('a', 'b')
      await fixture.claim(1)
      await dismiss(fixture.lease.runner)
      const ready = await store.readReady({ agents: ['ada'], at: 0, limit: 10 })
      assert.deepEqual(
        ready.map((row) => row.id),
        [fixture.id],
      )
    },
  },
  {
    name: 'a session with a digest is ready until all tries to rewrite it are used [I23, I27]',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      await fixture.exchange('a', 'b')
      await fixture.compact(1, 'digest')
      const ready = async () => {
        expectKind(await store.release({ lease: fixture.lease, reason: 'idle' }), 'done')
        const rows = await store.readReady({ agents: ['ada'], at: 0, limit: 10 })
        const again = await StoreFixture.acquire(store, fixture.id, fixture.lease.runner)
        fixture.lease = again.lease
        return rows.length
      }
      assert.equal(await ready(), 1)
      for (let tries = 0; tries < 3; tries++) {
        const operation = await fixture.claim(1, 'rewrite')
        const { fence } = fixture.lease
        const failed = { operation, fence, state: 'failed', reason: 'model-down' } as const
        expectKind(await store.failCompaction(failed), 'done')
      }
      expectKind(await fixture.tryClaim(1, 'rewrite'), 'tries-used')
      assert.equal(await ready(), 0)
    },
  },
  {
    name: 'an alarm makes a session ready when it is due, and not before',
    run: async ({ store }) => {
      const fixture = await StoreFixture.open(store)
      const released = { lease: fixture.lease, reason: 'idle', wakeAt: 1_000 } as const
      expectKind(await store.release(released), 'done')
      const ready = async (at: number) =>
        (await store.readReady({ agents: ['ada'], at, limit: 10 })).length
      assert.deepEqual([await ready(999), await ready(1_000)], [0, 1])
      const { lease } = await StoreFixture.acquire(store, fixture.id, fixture.lease.runner)
      expectKind(await store.setWake({ lease, wakeAt: null }), 'done')
      expectKind(await store.release({ lease, reason: 'idle' }), 'done')
      assert.equal(await ready(1_000), 0)
    },
  },
  {
    name: 'sessions of agents that a process does not serve are not ready for it',
    run: async ({ store }) => {
      const id = await create(store, { agent: 'bob' })
      const mail = { to: { sessionId: id }, source: 'a', key: 'k', lane: 'user' } as const
      await store.admit({ ...mail, tokens: 1, body: null })
      assert.deepEqual(await store.readReady({ agents: ['ada'], at: 0, limit: 10 }), [])
      assert.equal((await store.readReady({ agents: ['bob'], at: 0, limit: 10 })).length, 1)
    },
  },
  {
    name: 'mail for a session without a holder waits for the next holder [I1]',
    run: async ({ store }) => {
      const id = await create(store)
      const mail = { to: { sessionId: id }, source: 'a', key: 'k', lane: 'user' } as const
      await store.admit({ ...mail, tokens: 1, body: said('wait for me') })
      const fixture = await StoreFixture.acquire(store, id, await register(store))
      assert.equal((await store.listMail({ sessionId: id, state: 'pending', limit: 5 })).length, 1)
      assert.equal(fixture.lease.fence, 1)
    },
  },
]
