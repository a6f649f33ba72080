import { expect, it } from 'vitest'
import { newOperation, StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { MemoryTables } from '#core/store/memory/tables'
import { ActivityLog } from './activity.ts'

const HOUR = 3_600_000
const START = 500_000 * HOUR

function openLog() {
  let now = START
  const store = openMemoryStore({ tables: new MemoryTables({ clock: () => now }) })
  let rowsRead = 0
  const counting = {
    readStore: store.readStore,
    groupAttempts: store.groupAttempts,
    async readAudit(query: Parameters<typeof store.readAudit>[0]) {
      const rows = await store.readAudit(query)
      rowsRead += rows.length
      return rows
    },
  }
  return {
    store,
    log: new ActivityLog(counting, { now: () => now }),
    to: (at: number) => {
      now = at
    },
    takeRowsRead: () => {
      const taken = rowsRead
      rowsRead = 0
      return taken
    },
  }
}

it('counts turns, failures, compactions and usage by the hour in which they ended', async () => {
  const { store, log, to } = openLog()
  const fixture = await StoreFixture.open(store)
  await fixture.exchange('one', 'first')
  to(START + HOUR - 1)
  await fixture.exchange('two', 'second')
  to(START + HOUR)
  await fixture.hear('three')
  await fixture.reply('no', { ends: 'failed' })
  await fixture.tryCommit(await fixture.claim(2))
  const call = { task: 'turn', modelRoute: 'main', outcome: 'ok', inputTokens: 5, outputTokens: 1 }
  const attempt = { ...call, id: newOperation(), sessionId: fixture.id, cost: 7, at: START + HOUR }
  await store.recordAttempt(attempt)
  to(START + 2 * HOUR + 1)
  const { hours } = await log.read()
  expect(hours).toHaveLength(24)
  expect(hours[0]?.at).toBe(START - 21 * HOUR)
  const facts = hours.map(({ turns, failedTurns, compactions, calls, cost }) => [
    ...[turns, failedTurns, compactions, calls, cost],
  ])
  expect(facts.slice(-4)).toEqual([
    [0, 0, 0, 0, 0],
    [2, 0, 0, 0, 0],
    [1, 1, 1, 1, 7],
    [0, 0, 0, 0, 0],
  ])
})

it('names the five turns that took longest, and none that was quick', async () => {
  const { store, log, to } = openLog()
  const fixture = await StoreFixture.open(store)
  const seconds = [9, 30, 10, 60, 40, 20, 50]
  let at = START
  for (const each of seconds) {
    await fixture.hear('question')
    at += each * 1_000
    to(at)
    await fixture.reply('answer', { ends: 'answered' })
    if (each === 9) expect((await log.read()).slowest).toEqual([])
  }
  const { slowest } = await log.read()
  expect(slowest.map(({ durationMs }) => durationMs / 1_000)).toEqual([60, 50, 40, 30, 20])
  const [first] = slowest
  const [ended] = await store.readEntries({
    ...{ sessionId: fixture.id, from: first?.entry as never, to: first?.entry as never },
  })
  expect([first?.sessionId, first?.turn, ended?.at]).toEqual([fixture.id, 4, first?.endedAt])
})

it('forgets events older than a day, and reads no commit of an older time or twice', async () => {
  const { store, log, to, takeRowsRead } = openLog()
  const fixture = await StoreFixture.open(store)
  for (let turn = 0; turn < 300; turn++) await fixture.exchange('old', 'answer')
  to(START + 24 * HOUR)
  await fixture.exchange('new', 'answer')
  const turns = async () => (await log.read()).hours.reduce((sum, hour) => sum + hour.turns, 0)
  expect(await turns()).toBe(1)
  // Halving reads one row of each half, and then there are those of one exchange.
  expect(takeRowsRead()).toBeLessThan(25)
  to(START + 24 * HOUR + 1)
  await fixture.exchange('newer', 'answer')
  expect(await turns()).toBe(2)
  expect(takeRowsRead()).toBeLessThan(10)
  expect(await turns()).toBe(2)
  expect(takeRowsRead()).toBe(0)
  to(START + 47 * HOUR)
  expect(await turns()).toBe(2)
  to(START + 48 * HOUR)
  expect(await turns()).toBe(0)
})
