import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { thisHost } from '#core/base/host'
import { runnerId } from '#core/base/ids'
import type { Edge } from '#core/session/sender'
import { expectKind, register, replyTo, StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { readHealth } from './health.ts'

const NOTHING = {
  runner: null,
  edges: [],
  models: { health: async () => [], connections: { opened: 0, open: 0, evicted: 0 } },
  storeError: null,
  problems: [],
}

it('lists the processes that use the store, without one killed on this host', async (context) => {
  if (process.platform !== 'linux') return context.skip('not run: only Linux tells who is gone')
  const store = openMemoryStore()
  const { boot } = thisHost()
  const past = spawnSync(process.execPath, ['-e', '']).pid
  const about = { startedAt: 0, leaseMs: 1_000 }
  const killed = { boot, process: past }
  await store.registerRunner({ id: runnerId('killed'), ...killed, ...about })
  await store.registerRunner({ id: runnerId('elsewhere'), ...killed, boot: 'other', ...about })
  await store.registerRunner({ id: runnerId('living'), ...thisHost(), ...about })
  const { runners } = await readHealth({ store, ...NOTHING })
  expect(runners.map(({ id }) => id).sort()).toEqual(['elsewhere', 'living'])
})

it('is whole: what it holds, who uses the store, and what needs attention', async () => {
  const store = openMemoryStore()
  const about = { boot: 'other', process: 77, startedAt: 5, leaseMs: 1_000 }
  await store.registerRunner({ id: runnerId('r1'), ...about })
  const { schema, commits } = await store.readStore()
  const [{ beat } = { beat: -1 }] = await store.listRunners()
  const edges = [
    { name: 'chat', problems: () => ['It rains.'] },
    { name: 'mail' },
  ] as unknown as Edge[]
  const connections = { opened: 3, open: 2, evicted: 1 }
  const models = { health: async () => ['route'] as never, connections }
  const parts = { ...NOTHING, store, edges, models, problems: ['The disk is full.'] }
  const whole = {
    ...{ isReady: true, reason: null, store: { schema, commits } },
    runner: { id: null, holdsLease: false, sessions: 0 },
    runners: [{ id: 'r1', process: 77, startedAt: 5, beat, leaseMs: 1_000 }],
    ...{ routes: ['route'], connections },
    edges: [
      { name: 'chat', waiting: 0, dead: 0 },
      { name: 'mail', waiting: 0, dead: 0 },
    ],
    problems: ['It rains.', 'The disk is full.'],
  }
  expect(await readHealth(parts)).toEqual(whole)
  const runner = (mayAct: boolean) => ({
    ...{ id: runnerId('r1'), mayAct: () => mayAct, sessions: ['a', 'b'] as never },
  })
  expect(await readHealth({ ...parts, runner: runner(true) })).toEqual({
    ...{ ...whole, runner: { id: 'r1', holdsLease: true, sessions: 2 } },
  })
  expect(await readHealth({ ...parts, runner: runner(false) })).toEqual({
    ...{ ...whole, isReady: false, reason: 'no-lease' },
    runner: { id: 'r1', holdsLease: false, sessions: 2 },
  })
  const storeError = { code: 'store-busy', message: 'It is busy.' } as never
  expect(await readHealth({ ...parts, runner: runner(false), storeError })).toEqual({
    ...{ ...whole, isReady: false, reason: 'store-busy' },
    runner: { id: 'r1', holdsLease: false, sessions: 2 },
    problems: ['It is busy.', 'It rains.', 'The disk is full.'],
  })
})

it('counts for each edge the replies that wait there and those that could not be sent', async () => {
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store)
  const to = (edge: string) => ({ ...replyTo('ana'), edge })
  await fixture.exchange('hi', 'hello', ['mail', 'gone', 'chat', 'chat', 'mail'].map(to))
  const claimant = await register(store)
  for (const edge of ['mail', 'gone']) {
    const claimed = await store.claimReply({ edge, claimant, at: 0 })
    const { sessionId, number, attempt } = expectKind(claimed, 'claimed').reply
    const result = { kind: 'failed', retryAt: 0, attemptsMax: 1 } as const
    await store.settleReply({ sessionId, number, attempt, claimant, result })
  }
  const edges = ['chat', 'mail', 'hook'].map((name) => ({ name }) as Edge)
  const { edges: counted, problems } = await readHealth({ store, ...NOTHING, edges })
  expect(counted).toEqual([
    { name: 'chat', waiting: 2, dead: 0 },
    { name: 'mail', waiting: 1, dead: 1 },
    { name: 'hook', waiting: 0, dead: 0 },
  ])
  expect(problems).toEqual(['2 replies could not be sent'])
})
