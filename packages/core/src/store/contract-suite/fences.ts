import assert from 'node:assert/strict'
import { entryNumber, type MailNumber } from '../../base/ids.ts'
import type { Fenced } from '../commits.ts'
import type { Lease } from '../contract.ts'
import { newOperation, register, StoreFixture, said } from './bench.ts'
import type { StoreCase } from './case.ts'

/** A session in which every verb below would succeed, and the verbs under a given fence. */
interface Scene {
  readonly fixture: StoreFixture
  readonly mail: MailNumber
}

type Attempt = (scene: Scene, fenced: Fenced) => Promise<{ readonly kind: string }>

const content = { body: 'x', tokens: 1 }

const APPENDS: Readonly<Record<string, Attempt>> = {
  deliver: ({ fixture, mail }, fenced) => fixture.store.deliver({ ...fenced, mail: [mail] }),
  commitReply: ({ fixture }, fenced) => {
    const step = { upto: entryNumber(1), renderer: 'r', calls: [], ...content }
    return fixture.store.commitReply({ ...fenced, turn: 2, step })
  },
  commitResults: ({ fixture }, fenced) => fixture.store.commitResults({ ...fenced, results: [] }),
  recover: ({ fixture }, fenced) =>
    fixture.store.recover({
      ...{ ...fenced, repeatable: [], attemptsMax: 3, lossesMax: 3, failureReplies: [] },
    }),
  commitCompaction: async ({ fixture }, fenced) => {
    const row = await fixture.row()
    const operation = row.operation ?? newOperation()
    return fixture.store.commitCompaction({ ...fenced, operation, ...content, result: {} })
  },
  revert: async ({ fixture }, fenced) => {
    const { effective } = await fixture.row()
    return fixture.store.revert({ ...fenced, target: effective, tokensAfter: 1 })
  },
  pin: ({ fixture }, fenced) =>
    fixture.store.pin({ ...fenced, name: 'p', change: 'set', ...content }),
  setTasks: ({ fixture }, fenced) => fixture.store.setTasks({ ...fenced, ...content }),
  changeSettings: ({ fixture }, fenced) => fixture.store.changeSettings({ ...fenced, ...content }),
  eraseEntries: ({ fixture }, fenced) =>
    fixture.store.eraseEntries({
      ...fenced,
      entries: [entryNumber(1)],
      reason: 'r',
      replacement: content,
    }),
}

const LEASED: Readonly<
  Record<string, (fixture: StoreFixture, lease: Lease) => Promise<{ readonly kind: string }>>
> = {
  release: (fixture, lease) => fixture.store.release({ lease, reason: 'shutdown' }),
  setWake: (fixture, lease) => fixture.store.setWake({ lease, wakeAt: 7 }),
  settleControl: (fixture, lease) => fixture.store.settleControl({ lease, mail: [] }),
  claimCompaction: (fixture, lease) =>
    fixture.store.claimCompaction({
      lease,
      operation: newOperation(),
      by: 'model',
      trigger: 'manual',
      reason: '',
      covers: entryNumber(3),
    }),
}

async function scene(bench: Parameters<StoreCase['run']>[0]): Promise<Scene> {
  const fixture = await StoreFixture.open(bench.store)
  await fixture.exchange('one', 'first')
  await fixture.hear('two')
  await fixture.reply('calling', { calls: ['c'] })
  await fixture.results('c')
  await fixture.compact(1)
  await fixture.claim(4)
  return { fixture, mail: await fixture.admit(said('three')) }
}

/** Ways in which a caller's view is out of date, and the store's answer to each. */
const OLD_PICTURES = [
  { what: 'another runner has acquired the session', by: 'fence' },
  { what: 'the same runner has acquired the session again', by: 'fence' },
  { what: 'the fence is right but the holder is unknown', by: 'fence' },
  { what: 'the session was deleted', by: 'gone' },
] as const

async function age(
  { fixture }: Scene,
  bench: Parameters<StoreCase['run']>[0],
  what: string,
): Promise<Lease> {
  const { lease } = fixture
  switch (what) {
    case OLD_PICTURES[0].what:
      await bench.dismiss(lease.runner)
      await StoreFixture.acquire(bench.store, fixture.id, await register(bench.store))
      return lease
    case OLD_PICTURES[1].what:
      await StoreFixture.acquire(bench.store, fixture.id, lease.runner)
      return lease
    case OLD_PICTURES[2].what:
      return { ...lease, holder: 'restored-from-a-backup' }
    default:
      await bench.store.deleteSession({
        sessionId: fixture.id,
        operation: newOperation(),
        reason: 'asked for',
      })
      return lease
  }
}

export const fences: readonly StoreCase[] = [
  ...Object.entries(APPENDS).flatMap(([verb, attempt]) => [
    ...OLD_PICTURES.map(
      ({ what, by }): StoreCase => ({
        name: `${verb} changes nothing when ${what} [I7, I8]`,
        run: async (bench) => {
          const set = await scene(bench)
          const lease = await age(set, bench, what)
          const before = await set.fixture.row()
          const { tail } = set.fixture
          const outcome = await attempt(set, { lease, tail, operation: newOperation() })
          assert.deepEqual(outcome, { kind: 'superseded', by })
          assert.deepEqual(await set.fixture.row(), before)
        },
      }),
    ),
    ...(['number', 'hash'] as const).map(
      (part): StoreCase => ({
        name: `${verb} changes nothing when the caller expects another ${part} of the tail [I8]`,
        run: async (bench) => {
          const set = await scene(bench)
          const before = await set.fixture.row()
          const { lease, tail } = set.fixture
          const old =
            part === 'number'
              ? { ...tail, number: entryNumber(tail.number - 1) }
              : { ...tail, hash: '0'.repeat(64) }
          const outcome = await attempt(set, { lease, tail: old, operation: newOperation() })
          assert.deepEqual(outcome, { kind: 'superseded', by: 'tail' })
          assert.deepEqual(await set.fixture.row(), before)
        },
      }),
    ),
  ]),
  ...Object.entries(LEASED).flatMap(([verb, attempt]) =>
    OLD_PICTURES.map(
      ({ what, by }): StoreCase => ({
        name: `${verb} changes nothing when ${what} [I7]`,
        run: async (bench) => {
          const set = await scene(bench)
          const lease = await age(set, bench, what)
          const before = await set.fixture.row()
          assert.deepEqual(await attempt(set.fixture, lease), { kind: 'superseded', by })
          assert.deepEqual(await set.fixture.row(), before)
        },
      }),
    ),
  ),
]
