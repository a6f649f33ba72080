import assert from 'node:assert/strict'
import { entryNumber, type MailNumber } from '../../base/ids.ts'
import type { Fenced } from '../commits.ts'
import type { Lease } from '../contract.ts'
import { Desk, newOperation, register, said } from './bench.ts'
import type { StoreCase } from './case.ts'

/** A session in which every verb below would succeed, and the verbs, under a given fence. */
interface Scene {
  readonly desk: Desk
  readonly mail: MailNumber
}

type Attempt = (scene: Scene, fenced: Fenced) => Promise<{ readonly kind: string }>

const content = { body: 'x', tokens: 1 }

const APPENDS: Readonly<Record<string, Attempt>> = {
  deliver: ({ desk, mail }, fenced) => desk.store.deliver({ ...fenced, mail: [mail] }),
  commitReply: ({ desk }, fenced) => {
    const step = { upto: entryNumber(1), renderer: 'r', calls: [], ...content }
    return desk.store.commitReply({ ...fenced, turn: 2, step })
  },
  commitResults: ({ desk }, fenced) => desk.store.commitResults({ ...fenced, results: [] }),
  recover: ({ desk }, fenced) =>
    desk.store.recover({ ...fenced, repeatable: [], attemptsMax: 3, failureReplies: [] }),
  commitCompaction: async ({ desk }, fenced) => {
    const row = await desk.row()
    const operation = row.operation ?? newOperation()
    return desk.store.commitCompaction({ ...fenced, operation, ...content, result: {} })
  },
  revert: async ({ desk }, fenced) => {
    const { effective } = await desk.row()
    return desk.store.revert({ ...fenced, target: effective, tokensAfter: 1 })
  },
  pin: ({ desk }, fenced) => desk.store.pin({ ...fenced, name: 'p', change: 'set', ...content }),
  setTasks: ({ desk }, fenced) => desk.store.setTasks({ ...fenced, ...content }),
  changeSettings: ({ desk }, fenced) => desk.store.changeSettings({ ...fenced, ...content }),
  eraseEntries: ({ desk }, fenced) =>
    desk.store.eraseEntries({
      ...fenced,
      entries: [entryNumber(1)],
      reason: 'r',
      replacement: content,
    }),
}

const LEASED: Readonly<
  Record<string, (desk: Desk, lease: Lease) => Promise<{ readonly kind: string }>>
> = {
  release: (desk, lease) => desk.store.release({ lease, reason: 'shutdown' }),
  setWake: (desk, lease) => desk.store.setWake({ lease, wakeAt: 7 }),
  settleControl: (desk, lease) => desk.store.settleControl({ lease, mail: [] }),
  claimCompaction: (desk, lease) =>
    desk.store.claimCompaction({
      lease,
      operation: newOperation(),
      by: 'model',
      trigger: 'manual',
      reason: '',
      covers: entryNumber(3),
    }),
}

async function scene(bench: Parameters<StoreCase['run']>[0]): Promise<Scene> {
  const desk = await Desk.open(bench.store)
  await desk.exchange('one', 'first')
  await desk.hear('two')
  await desk.reply('calling', { calls: ['c'] })
  await desk.results('c')
  await desk.compact(1)
  await desk.claim(4)
  return { desk, mail: await desk.admit(said('three')) }
}

/** Ways in which a caller's picture is old, and how the store says so. */
const OLD_PICTURES = [
  { what: 'another holder has taken over', by: 'fence' },
  { what: 'the same runner has acquired it again', by: 'fence' },
  { what: 'the fence is right but the holder was not drawn here', by: 'fence' },
  { what: 'the session was deleted', by: 'gone' },
] as const

async function age(
  { desk }: Scene,
  bench: Parameters<StoreCase['run']>[0],
  what: string,
): Promise<Lease> {
  const { lease } = desk
  switch (what) {
    case OLD_PICTURES[0].what:
      await bench.dismiss(lease.runner)
      await Desk.acquire(bench.store, desk.id, await register(bench.store))
      return lease
    case OLD_PICTURES[1].what:
      await Desk.acquire(bench.store, desk.id, lease.runner)
      return lease
    case OLD_PICTURES[2].what:
      return { ...lease, holder: 'restored-from-a-backup' }
    default:
      await bench.store.deleteSession({
        sessionId: desk.id,
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
          const before = await set.desk.row()
          const { tail } = set.desk
          const outcome = await attempt(set, { lease, tail, operation: newOperation() })
          assert.deepEqual(outcome, { kind: 'superseded', by })
          assert.deepEqual(await set.desk.row(), before)
        },
      }),
    ),
    ...(['number', 'hash'] as const).map(
      (part): StoreCase => ({
        name: `${verb} changes nothing when the ${part} of the tail is not the known one [I8]`,
        run: async (bench) => {
          const set = await scene(bench)
          const before = await set.desk.row()
          const { lease, tail } = set.desk
          const old =
            part === 'number'
              ? { ...tail, number: entryNumber(tail.number - 1) }
              : { ...tail, hash: '0'.repeat(64) }
          const outcome = await attempt(set, { lease, tail: old, operation: newOperation() })
          assert.deepEqual(outcome, { kind: 'superseded', by: 'tail' })
          assert.deepEqual(await set.desk.row(), before)
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
          const before = await set.desk.row()
          assert.deepEqual(await attempt(set.desk, lease), { kind: 'superseded', by })
          assert.deepEqual(await set.desk.row(), before)
        },
      }),
    ),
  ),
]
