import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { entryNumber, type SessionId, sessionId } from '../../base/ids.ts'
import type { AdoptedEntry } from '../adoption.ts'
import type { Store } from '../contract.ts'
import { newSession } from '../rules/create-session.ts'
import type { SessionRow } from '../tables/rows.ts'
import { create, expectKind, LIMITS, newOperation, register, StoreFixture, said } from './bench.ts'
import type { StoreCase } from './case.ts'

/** An empty imported session, and a fixture that holds it. */
async function imported(store: Store): Promise<StoreFixture> {
  const id = sessionId(`s-${randomUUID()}`)
  await adopt(store, id)
  return StoreFixture.acquire(store, id, await register(store))
}

async function adopt(
  store: Store,
  id: SessionId,
  written: Partial<SessionRow> = {},
): Promise<void> {
  const session = newSession({ id, agent: 'ada', limits: LIMITS, policy: 'steer' }, 'imported', {
    at: 5,
    seed: 'x',
  })
  const nothing = { entries: [], mail: [], replies: [], blobs: [] }
  const request = { session: { ...session, ...written }, ...nothing, operation: newOperation() }
  expectKind(await store.adoptSession(request), 'imported')
}

const entry = (row: number, more: Partial<AdoptedEntry> = {}): AdoptedEntry =>
  ({
    ...{ kind: 'input', lane: 'user', row, at: row * 1_000, tokens: 3, body: said(`row ${row}`) },
    ...more,
  }) as AdoptedEntry

async function take(fixture: StoreFixture, entries: readonly AdoptedEntry[]) {
  const outcome = await fixture.store.adoptEntries({ ...fixture.fenced(), entries })
  if (outcome.kind === 'appended') fixture.tail = outcome.tail
  return outcome
}

export { records } from './records.ts'

const ALL = { limit: 10, neighbours: 0 }

export const adoptions: readonly StoreCase[] = [
  {
    name: 'adopted history keeps its order, its times and its rows, and its chain checks [I1]',
    run: async ({ store }) => {
      const fixture = await imported(store)
      expectKind(
        await take(fixture, [entry(7), entry(9, { kind: 'assistant', calls: ['c'] })]),
        'appended',
      )
      const result = { kind: 'result', call: 'c', outcome: 'ok' } as const
      expectKind(await take(fixture, [entry(8, result), entry(12, { kind: 'aside' })]), 'appended')
      const page = { sessionId: fixture.id, from: entryNumber(1), to: entryNumber(9) }
      const entries = await store.readEntries(page)
      assert.deepEqual(
        entries.map(({ kind, at, meta }) => [kind, at, 'row' in meta ? meta.row : null]),
        [
          ['input', 7_000, 7],
          ['assistant', 9_000, 9],
          ['result', 8_000, 8],
          ['turn', 12_000, 12],
        ],
      )
      assert.deepEqual(await store.verify({ sessionId: fixture.id }), [])
    },
  },
  {
    name: 'an adopted handoff replaces the entries it covers, and the rest stays word for word [I9]',
    run: async ({ store }) => {
      const fixture = await imported(store)
      const handoff = { kind: 'compaction', covers: entryNumber(2) } as const
      await take(fixture, [entry(1), entry(2), entry(3), entry(4, handoff), entry(5)])
      const context = await store.readContext({ sessionId: fixture.id })
      assert.deepEqual([context?.effective, context?.covers], [4, 2])
      assert.deepEqual(
        context?.entries.map(({ number }) => number),
        [3, 4, 5],
      )
      assert.deepEqual(await store.verify({ sessionId: fixture.id }), [])
    },
  },
  {
    name: 'adopted input begins no turn and leaves the session at rest [I3]',
    run: async ({ store }) => {
      const fixture = await imported(store)
      await take(fixture, [entry(1), entry(2, { kind: 'assistant', calls: ['open'] }), entry(3)])
      const { seen, tail, turnState, openCalls, turn } = await fixture.row()
      assert.deepEqual([seen, tail, turnState, openCalls, turn], [3, 3, 'idle', [], 2])
      expectKind(await store.release({ lease: fixture.lease, reason: 'idle' }), 'done')
      assert.deepEqual(await store.readReady({ agents: ['ada'], at: 10, limit: 5 }), [])
      const again = await StoreFixture.acquire(store, fixture.id, await register(store))
      await again.exchange('and now?', 'now we go on')
      assert.deepEqual((await again.row()).settled.user, 1)
    },
  },
  {
    name: 'an imported session keeps nothing for forks, whatever its file says',
    run: async ({ store }) => {
      const id = sessionId(`s-${randomUUID()}`)
      await adopt(store, id, { retained: entryNumber(5) })
      assert.equal((await store.findSession(id))?.retained, 0)
    },
  },
  {
    name: 'only the holder at the newest entry adopts [I7, I8]',
    run: async ({ store }) => {
      const fixture = await imported(store)
      const old = fixture.fenced()
      await take(fixture, [entry(1)])
      const late = await store.adoptEntries({ ...old, entries: [entry(1)] })
      assert.deepEqual(late, { kind: 'superseded', by: 'tail' })
      await StoreFixture.acquire(store, fixture.id, fixture.lease.runner)
      const lost = await store.adoptEntries({ ...fixture.fenced(), entries: [entry(2)] })
      assert.deepEqual(lost, { kind: 'superseded', by: 'fence' })
      assert.equal((await fixture.row()).tail, 1)
    },
  },
  {
    name: 'only an imported session between turns accepts history',
    run: async ({ store }) => {
      const id = await create(store)
      const own = await StoreFixture.acquire(store, id, await register(store))
      expectKind(await take(own, [entry(1)]), 'not-imported')
      const fixture = await imported(store)
      await fixture.hear('long work')
      expectKind(await take(fixture, [entry(1)]), 'in-use')
      assert.equal((await fixture.row()).tail, 1)
    },
  },
  {
    name: 'a rewind removes the messages after its target from the context and keeps them in the transcript [I1, I9]',
    run: async ({ store }) => {
      const fixture = await imported(store)
      const back = (to: number, effective = 0) =>
        ({ kind: 'rewind', to: entryNumber(to), effective: entryNumber(effective) }) as const
      const numbers = async (upto?: number) => {
        const at = upto === undefined ? {} : { upto: entryNumber(upto) }
        const context = await store.readContext({ sessionId: fixture.id, ...at })
        const spoken = context?.entries.filter(({ kind }) => kind === 'input') ?? []
        return spoken.map(({ number }) => number as number)
      }
      await take(fixture, [entry(1), entry(2), entry(3)])
      await take(fixture, [entry(4, back(1)), entry(5), entry(6)])
      assert.deepEqual(await numbers(), [1, 5, 6])
      // The transcript is unchanged, and a later rewind can return to what an earlier one left.
      assert.deepEqual(await numbers(3), [1, 2, 3])
      await take(fixture, [entry(7, back(3)), entry(8)])
      assert.deepEqual(await numbers(), [1, 2, 3, 8])
      await take(fixture, [entry(9, back(0)), entry(10)])
      assert.deepEqual(await numbers(), [10])
      const { hits } = await store.search({ ...ALL, sessionId: fixture.id, text: 'row 6' })
      assert.ok(hits.some(({ entry: hit }) => hit.number === 6))
      assert.deepEqual(await store.verify({ sessionId: fixture.id }), [])
    },
  },
  {
    name: 'a rewind keeps a compaction that covers only entries up to its target, and no other [I9]',
    run: async ({ store }) => {
      const fixture = await imported(store)
      const handoff = { kind: 'compaction', covers: entryNumber(2) } as const
      await take(fixture, [entry(1), entry(2), entry(3), entry(4), entry(5, handoff), entry(6)])
      const to = entryNumber(3)
      const effective = entryNumber(5)
      await take(fixture, [entry(7, { kind: 'rewind', to, effective }), entry(8)])
      const context = await store.readContext({ sessionId: fixture.id })
      assert.deepEqual([context?.effective, context?.covers], [5, 2])
      const rows = context?.entries.filter(({ kind }) => kind !== 'revert')
      assert.deepEqual(
        rows?.map(({ number }) => number),
        [3, 5, 8],
      )
      const early = { kind: 'rewind', to: entryNumber(1), effective } as const
      await assert.rejects(take(fixture, [entry(9, early)]), /not a compaction of entries up to 1/)
      await take(fixture, [entry(9, { ...early, effective: entryNumber(0) })])
      assert.deepEqual([(await fixture.row()).effective, (await fixture.row()).covers], [0, 0])
      assert.deepEqual(await store.verify({ sessionId: fixture.id }), [])
    },
  },
  {
    name: 'a rewind without a target undoes a compaction and removes no message from the context [I9]',
    run: async ({ store }) => {
      const fixture = await imported(store)
      const handoff = { kind: 'compaction', covers: entryNumber(2), by: 'digest' } as const
      await take(fixture, [entry(1), entry(2), entry(3), entry(4, handoff), entry(5)])
      assert.equal((await fixture.row()).by, 'digest')
      await take(fixture, [entry(6, { kind: 'rewind', effective: entryNumber(0) }), entry(7)])
      const context = await store.readContext({ sessionId: fixture.id })
      const spoken = context?.entries.filter(({ kind }) => kind === 'input')
      assert.deepEqual(
        spoken?.map(({ number }) => number),
        [1, 2, 3, 5, 7],
      )
      assert.deepEqual([context?.effective, context?.covers], [0, 0])
      const audit = await store.readAudit({ sessionId: fixture.id, after: 0, limit: 100 })
      const undone = audit.find(({ kind }) => kind === 'compaction reverted')
      assert.deepEqual([undone?.facts['target'], undone?.facts['entry']], [4, 6])
      assert.deepEqual(await store.verify({ sessionId: fixture.id }), [])
    },
  },
]
