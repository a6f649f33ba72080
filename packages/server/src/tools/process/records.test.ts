import { describe, expect, it } from 'vitest'
import { runnerId } from '#core/base/ids'
import { StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { FakeClock } from '../../../../../test/model/fake-clock.ts'
import { ProgramRecords, programId } from './records.ts'

const ELSEWHERE = { boot: 'another host', process: 7 }

/** A record that a process of another host wrote, and how this one sees it. */
async function recordedElsewhere() {
  const store = openMemoryStore()
  const fixture = await StoreFixture.open(store)
  const clock = new FakeClock()
  const records = new ProgramRecords({ store, clock, countTokens: () => 1 })
  const program = { id: programId({ key: 'k' }), sessionId: fixture.id, title: 'sleep' }
  await records.open(program)
  const [row] = await store.listSchedules({ sessionId: fixture.id, limit: 1 })
  if (row === undefined) throw new Error('no record')
  const repeat = JSON.stringify({ ...ELSEWHERE, instance: 'theirs' })
  const { id, sessionId, dueAt, tokens, body } = row
  await store.putSchedule({
    id,
    sessionId,
    dueAt,
    tokens,
    body: JSON.parse(body),
    repeat,
    from: dueAt,
  })
  return { store, fixture, clock, records }
}

describe('the record of a program on another host', () => {
  it('is reported after a minute in which none of its runners was seen, and not before', async () => {
    const { fixture, clock, records } = await recordedElsewhere()
    expect(await records.reportLost()).toEqual([])
    await clock.pass(59_999)
    expect(await records.reportLost()).toEqual([])
    await clock.pass(1)
    expect(await records.reportLost()).toEqual([fixture.id])
    expect(await records.reportLost()).toEqual([])
  })

  it('waits a whole minute again once its host was seen', async () => {
    const { store, fixture, clock, records } = await recordedElsewhere()
    await records.reportLost()
    await clock.pass(59_999)
    const id = runnerId('elsewhere')
    await store.registerRunner({ id, ...ELSEWHERE, startedAt: 0, leaseMs: 30_000 })
    await clock.pass(60_000)
    expect(await records.reportLost()).toEqual([])
    const { beat = 0 } = (await store.listRunners()).find((row) => row.id === id) ?? {}
    await store.dismissRunner({ runner: id, beat })
    expect(await records.reportLost()).toEqual([])
    await clock.pass(60_000)
    expect(await records.reportLost()).toEqual([fixture.id])
  })
})
