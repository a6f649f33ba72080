import { expect, it } from 'vitest'
import { expectKind, register, replyTo, StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { MemoryTables } from '#core/store/memory/tables'
import { sentSweep } from './sent-sweep.ts'

const DAY = 86_400_000

it('drops what was sent before the days to keep, a piece each round, and starts over at the end', async () => {
  let now = 0
  const planned: (() => void)[] = []
  const clock = {
    now: () => now,
    monotonic: () => now,
    after: (_delayMs: number, callback: () => void) => {
      planned.push(callback)
      return () => planned.splice(planned.indexOf(callback), 1)
    },
  }
  const store = openMemoryStore({ tables: new MemoryTables({ clock: () => now }) })
  const fixture = await StoreFixture.open(store)
  const claimant = await register(store)
  const answer = async () => {
    await fixture.exchange('q', 'a', [replyTo('ana')])
    const claimed = await store.claimReply({ edge: 'telegram', claimant, at: now })
    const { sessionId, number, attempt } = expectKind(claimed, 'claimed').reply
    const result = { kind: 'sent', receipt: '' } as const
    await store.settleReply({ sessionId, number, attempt, claimant, result })
  }
  const kept = async () => {
    const replies = await store.listReplies({ sessionId: fixture.id, limit: 2_000 })
    return replies.map(({ number }) => number)
  }
  const told: unknown[] = []
  const tell = (facts: unknown) => told.push(facts)
  const logger = { debug: tell, info: tell, warn: tell, error: tell }
  const pieces: unknown[] = []
  const sweep = sentSweep({
    ...{ clock, logger, keepSentDays: 7 },
    store: {
      dropSent: async (request) => {
        pieces.push(request.after ?? 'start')
        return await store.dropSent({ ...request, limit: 2 })
      },
    },
  })
  const round = async () => {
    const before = planned.length
    planned.shift()?.()
    await expect.poll(() => planned.length).toBe(before)
  }

  for (let count = 0; count < 3; count++) await answer()
  now = DAY
  await answer()
  await answer()
  sweep.start()
  now = 7 * DAY
  for (let count = 0; count < 3; count++) await round()
  expect(await kept()).toEqual([1, 2, 3, 4, 5])
  now += 1
  for (let count = 0; count < 3; count++) await round()
  expect(await kept()).toEqual([4, 5])
  expect(told).toEqual([{ count: 2 }, { count: 1 }])
  const { id: sessionId } = fixture
  const walk = ['start', { sessionId, number: 2 }, { sessionId, number: 4 }]
  expect(pieces).toEqual([...walk, ...walk])
  await sweep.close()
  expect(planned).toEqual([])
})
