import { expect, it } from 'vitest'
import { DAY_MS } from '#core/base/clock'
import {
  create,
  expectKind,
  newOperation,
  register,
  replyTo,
  StoreFixture,
} from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { MemoryTables } from '#core/store/memory/tables'
import { callSweep, sentSweep, stagedSweep } from './retention.ts'

/** A clock that stays at `now` and records its timers. */
function standingClock() {
  const planned: (() => void)[] = []
  const clock = {
    time: 0,
    now: () => clock.time,
    monotonic: () => clock.time,
    after: (_delayMs: number, callback: () => void) => {
      planned.push(callback)
      return () => planned.splice(planned.indexOf(callback), 1)
    },
  }
  const round = async () => {
    const before = planned.length
    planned.shift()?.()
    await expect.poll(() => planned.length).toBe(before)
  }
  return { clock, planned, round }
}

function recordingLogger() {
  const told: unknown[] = []
  const tell = (facts: unknown) => told.push(facts)
  return { told, logger: { debug: tell, info: tell, warn: tell, error: tell } }
}

it('drops sent replies older than the days to keep, in pieces, and starts over at the end', async () => {
  const { clock, planned, round } = standingClock()
  const store = openMemoryStore({ tables: new MemoryTables({ clock: clock.now }) })
  const fixture = await StoreFixture.open(store)
  const claimant = await register(store)
  const answer = async () => {
    await fixture.exchange('q', 'a', [replyTo('ana')])
    const claimed = await store.claimReply({ edge: 'telegram', claimant, at: clock.now() })
    const { sessionId, number, attempt } = expectKind(claimed, 'claimed').reply
    const result = { kind: 'sent', receipt: '' } as const
    await store.settleReply({ sessionId, number, attempt, claimant, result })
  }
  const kept = async () => {
    const replies = await store.listReplies({ sessionId: fixture.id, limit: 2_000 })
    return replies.map(({ number }) => number)
  }
  const { told, logger } = recordingLogger()
  const pieces: unknown[] = []
  const sweep = sentSweep({
    ...{ clock, logger, retention: { sent: 7, calls: 1 } },
    store: {
      ...store,
      dropSent: async (request) => {
        pieces.push(request.after ?? 'start')
        return await store.dropSent({ ...request, limit: 2 })
      },
    },
  })
  for (let count = 0; count < 3; count++) await answer()
  clock.time = DAY_MS
  await answer()
  await answer()
  sweep.start()
  clock.time = 7 * DAY_MS
  for (let count = 0; count < 3; count++) await round()
  expect(await kept()).toEqual([1, 2, 3, 4, 5])
  clock.time += 1
  for (let count = 0; count < 3; count++) await round()
  expect(await kept()).toEqual([4, 5])
  expect(told).toEqual([{ count: 2 }, { count: 1 }])
  const { id: sessionId } = fixture
  const walk = ['start', { sessionId, number: 2 }, { sessionId, number: 4 }]
  expect(pieces).toEqual([...walk, ...walk])
  await sweep.close()
  expect(planned).toEqual([])
})

it('replaces the model calls of days before those to keep by their sums', async () => {
  const { clock, planned, round } = standingClock()
  const store = openMemoryStore({ tables: new MemoryTables({ clock: clock.now }) })
  const { id } = await StoreFixture.open(store)
  const call = { task: 'turn', modelRoute: 'main', outcome: 'ok', inputTokens: 100, cost: 7 }
  for (const at of [5, DAY_MS - 1, DAY_MS]) {
    await store.recordAttempt({ ...call, id: newOperation(), sessionId: id, outputTokens: 9, at })
  }
  const listed = async () => (await store.readAttempts({ since: 0, limit: 9 })).map(({ at }) => at)
  const { told, logger } = recordingLogger()
  const sweep = callSweep({ store, clock, logger, retention: { sent: 1, calls: 7 } })
  sweep.start()
  clock.time = 8 * DAY_MS - 1
  await round()
  expect(await listed()).toEqual([DAY_MS, DAY_MS - 1, 5])
  clock.time += 1
  await round()
  expect(await listed()).toEqual([DAY_MS])
  expect(await store.sumAttempts({ since: 0 })).toMatchObject({ attempts: 3, cost: 21 })
  expect(told).toEqual([{ count: 2 }])
  await sweep.close()
  expect(planned).toEqual([])
})

it('drops a file that no message used within a day, and keeps a younger one', async () => {
  const { clock, planned, round } = standingClock()
  const store = openMemoryStore({ tables: new MemoryTables({ clock: clock.now }) })
  const sessionId = await create(store)
  const stage = (byte: number) =>
    store.stageBlob({ sessionId, mediaType: 'a/b', bytes: new Uint8Array([byte]) })
  const { told, logger } = recordingLogger()
  const sweep = stagedSweep({ store, clock, logger })
  sweep.start()
  const old = await stage(1)
  clock.time = DAY_MS
  const young = await stage(2)
  clock.time = DAY_MS + 3_600_000
  await round()
  await sweep.close()
  const hashes = [old, young].map((staged) => ('hash' in staged ? staged.hash : ''))
  const found = await Promise.all(hashes.map((hash) => store.findBlob({ sessionId, hash })))
  expect(found.map((blob) => blob !== undefined)).toEqual([false, true])
  expect(told).toEqual([{ count: 1 }])
  expect(planned).toEqual([])
})
