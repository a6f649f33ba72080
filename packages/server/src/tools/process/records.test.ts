import { describe, expect, it } from 'vitest'
import { mailNumber, runnerId, sessionId } from '#core/base/ids'
import { StoreFixture } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { FakeClock } from '../../../../../test/model/fake-clock.ts'
import { ProgramRecords, programId } from './records.ts'

const ELSEWHERE = { boot: 'another host', process: 7 }

/** A record written on another host, and its state as seen here. */
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
  it('is reported after a minute without a sign of its runners, and not before', async () => {
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

describe('the records of programs', () => {
  async function open() {
    const store = openMemoryStore()
    const fixture = await StoreFixture.open(store)
    const clock = new FakeClock()
    const fired: string[] = []
    const beforeFire = async (id: string) => void fired.push(id)
    const records = new ProgramRecords({ store, clock, countTokens: () => 1, beforeFire })
    const program = (key: string) => ({
      ...{ id: programId({ key }), sessionId: fixture.id, title: `title ${key}` },
    })
    return { store, fixture, clock, records, program, fired }
  }

  it('report the outcome of each program', async () => {
    const { records, program, fixture } = await open()
    const [running, stopped, ended] = [program('a'), program('b'), program('c')]
    for (const each of [running, stopped, ended]) expect(await records.open(each)).toBeNull()
    await records.cancel(stopped)
    expect(await records.report(ended, `It ended.\n${'x'.repeat(300)}`)).toBe(true)
    const told = new Map((await records.list(fixture.id)).map(({ id, text }) => [id, text]))
    expect(told.get(running.id)).toBe(
      `${running.id} (title a) was started by another process of the server`,
    )
    expect(told.get(stopped.id)).toBe(`${stopped.id} (title b) was stopped`)
    expect(told.get(ended.id)).toMatch(/^It ended\. x+…$/)
    expect(told.get(ended.id)?.length).toBeLessThanOrEqual(200)
    expect(told.size).toBe(3)
  })

  it('list the twenty newest, the newest last, and no reminder', async () => {
    const { store, records, program, fixture } = await open()
    const programs = Array.from({ length: 22 }, (_, at) => program(`k${at}`))
    for (const each of programs) await records.open(each)
    const plan = { id: 'r-1', sessionId: fixture.id, dueAt: 9, tokens: 1, body: {} }
    await store.putSchedule({ ...plan, repeat: null })
    const listed = await records.list(fixture.id)
    expect(listed).toHaveLength(20)
    expect(listed.every(({ id }) => id.startsWith('p-'))).toBe(true)
    const other = await StoreFixture.open(store)
    expect(await records.list(other.id)).toEqual([])
  })

  it('treat no program of this process as lost, and report each end once', async () => {
    const { store, clock, records, program, fixture, fired } = await open()
    await records.open(program('a'))
    const neighbour = new ProgramRecords({ store, clock, countTokens: () => 1 })
    await clock.pass(120_000)
    expect(await records.reportLost()).toEqual([])
    expect(await neighbour.reportLost()).toEqual([])
    // After close, no runtime of this process runs it.
    records.close()
    expect(await neighbour.reportLost()).toEqual([fixture.id])
    expect(await neighbour.reportLost()).toEqual([])
    expect(fired).toEqual([])
    const [mail] = await store.listMail({ sessionId: fixture.id, after: mailNumber(0), limit: 1 })
    expect(JSON.stringify(mail)).toContain('ended without a report')
    neighbour.close()
  })

  it('are not created for a missing session', async () => {
    const { records, program } = await open()
    const elsewhere = { ...program('a'), sessionId: sessionId('nowhere') }
    expect(await records.open(elsewhere)).toBe('There is no such session.')
  })

  it('wake the session before its mail is admitted', async () => {
    const { records, program, fixture, fired } = await open()
    await records.open(program('a'))
    await records.report(program('a'), 'It ended.')
    expect(fired).toEqual([fixture.id])
  })
})
