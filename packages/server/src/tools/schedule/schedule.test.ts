import { describe, expect, it } from 'vitest'
import type { JsonObject } from '#core/base/json'
import type { Store } from '#core/store/contract'
import { DamagedRowError, StoreBusyError } from '#core/store/errors'
import { ToolHost } from '../../../../../test/support/tool-host.ts'
import { scheduleTool } from './schedule.ts'
import { Scheduler } from './scheduler.ts'

/** One store, one runner, and any number of processes that fire. */
async function ada(schedulers = 1) {
  const host = new ToolHost(['ada'])
  const { store, clock, countTokens } = host
  host.tools.set('ada', [scheduleTool({ store, clock, countTokens, timezone: 'UTC' })])
  const id = await host.open('ada', 's-ada')
  host.start()
  const started = Array.from({ length: schedulers }, () => {
    const onCrash = (error: unknown) => host.crashes.push(error)
    return new Scheduler({ store, clock, pollMs: 10_000, onFired: () => {}, onCrash })
  })
  for (const scheduler of started) scheduler.start()
  const reminders = async () => {
    const lines = await host.transcript(id)
    return lines.filter(
      ({ kind, body }) => kind === 'input' && JSON.stringify(body).includes('A reminder'),
    ).length
  }
  return { host, id, reminders, started }
}

const schedule = (input: JsonObject) => [{ tool: 'schedule', input }]
const add = (when: JsonObject) => schedule({ action: 'add', text: 'look', ...when })

describe('a schedule', () => {
  it('fires once at its time, with any number of processes [fault 18]', async () => {
    const { host, id, reminders } = await ada(4)
    const [answer] = await host.ask(id, 'go', add({ at: '2026-03-01T13:30:00+01:00' }))
    expect(answer).toMatch(/^Planned as t-[0-9a-f]{16}: once, next 2026-03-01T12:30:00.000Z\.$/)
    await host.pass(25 * 60_000)
    expect(await reminders()).toBe(0)
    await host.pass(10 * 60_000)
    expect(await reminders()).toBe(1)
    await host.pass(60 * 60_000)
    expect(await reminders()).toBe(1)
  })

  it('that waits costs no reading, and one that another process adds is found', async () => {
    const { host, id, reminders } = await ada(0)
    const { store, clock } = host
    let reads = 0
    const listSchedules: Store['listSchedules'] = (query) => {
      reads++
      return store.listSchedules(query)
    }
    const onCrash = (error: unknown) => host.crashes.push(error)
    const parts = { clock, pollMs: 10_000, onFired: () => {}, onCrash }
    new Scheduler({ ...parts, store: { ...store, listSchedules } }).start()
    await host.ask(id, 'go', add({ at: '2026-03-01T13:30:00+01:00' }))
    await host.pass(60_000)
    reads = 0
    await host.pass(20 * 60_000)
    // Of 120 rounds, one in thirty reads in spite of the silence.
    expect(reads).toBeLessThan(20)
    await host.pass(15 * 60_000)
    expect(await reminders()).toBe(1)
  })

  it('that repeats fires once per time, and ends when cancelled', async () => {
    const { host, id, reminders } = await ada(2)
    await host.ask(id, 'go', add({ every_seconds: 600 }))
    await host.pass(35 * 60_000)
    expect(await reminders()).toBe(3)
    const [list = ''] = await host.ask(id, 'what?', schedule({ action: 'list' }))
    expect(list).toMatch(/every 600000: A reminder that you scheduled: look$/)
    const [, name = ''] = /- (t-[0-9a-f]+)/.exec(list) ?? []
    await host.ask(id, 'stop it', schedule({ action: 'cancel', id: name }))
    await host.pass(60 * 60_000)
    expect(await reminders()).toBe(3)
  })

  it('that fires while it is being cancelled is not reported as cancelled', async () => {
    const { host, id, reminders } = await ada(0)
    await host.ask(id, 'go', add({ in_seconds: 60 }))
    const { store, clock, countTokens } = host
    const [{ id: name = '', dueAt = 0 } = {}] = await store.listSchedules({ limit: 1 })
    const cancelSchedule = async (request: { readonly id: string }) => {
      await store.fireSchedule({ id: name, dueAt, nextDueAt: null })
      return await store.cancelSchedule(request)
    }
    const parts = { store: { ...store, cancelSchedule }, clock, countTokens, timezone: 'UTC' }
    host.tools.set('ada', [scheduleTool(parts)])
    const answers = await host.ask(id, 'stop it', schedule({ action: 'cancel', id: name }))
    expect(answers).toEqual([`Too late: ${name} has just come.`])
    expect(await reminders()).toBe(1)
  })

  it('that was due while no process ran fires once, then at its next time', async () => {
    const { host, id, reminders, started } = await ada(1)
    await host.ask(id, 'go', add({ cron: '0 * * * *' }))
    await started[0]?.close()
    await host.pass(5 * 3_600_000 + 60_000)
    expect(await reminders()).toBe(0)
    const { store, clock } = host
    const onCrash = (error: unknown) => host.crashes.push(error)
    new Scheduler({ store, clock, pollMs: 10_000, onFired: () => {}, onCrash }).start()
    await host.pass(60_000)
    expect(await reminders()).toBe(1)
    await host.pass(3_600_000)
    expect(await reminders()).toBe(2)
  })

  it.each([
    [{ at: '2026-03-01T12:10:00Z' }, [0, 1, 1]],
    [{ in_seconds: 600 }, [0, 1, 1]],
    [{ every_seconds: 600 }, [0, 1, 2]],
    [{ cron: '*/10 * * * *' }, [0, 1, 2]],
  ])(
    'for %j is one however often its call is repeated, at its first time, also after it came',
    async (when, wanted) => {
      const { host, id, reminders } = await ada(1)
      const [tool] = host.tools.get('ada') ?? []
      const call = { sessionId: id, agent: 'ada', turn: 1, entry: 1, key: 'same' }
      const input = { action: 'add', text: 'look', ...when }
      const counts: number[] = []
      // As a starting process does that finds the call unanswered.
      const repeat = async () => {
        const answer = await tool?.run({ ...call, input }, new AbortController().signal)
        expect(answer?.output).toMatch(/^Planned as t-[0-9a-f]{16}[.:]/)
      }
      await repeat()
      await host.pass(9 * 60_000)
      for (const minutes of [0, 2, 10]) {
        await host.pass(minutes * 60_000)
        await repeat()
        counts.push(await reminders())
      }
      expect(counts).toEqual(wanted)
    },
  )

  it.each([
    [{ at: '2026-03-01T11:00:00Z' }, 'That is past; it is 2026-03-01T12:00:0'],
    [{ at: '2026-03-01T13:00:00' }, '`at` is a time with its zone'],
    [{ at: 'tomorrow' }, '`at` is a time with its zone'],
    [{ at: '2026-13-45T99:00:00Z' }, '`at` is a time with its zone'],
    [{ at: '2027-02-29T12:00Z' }, '`at` is a time with its zone'],
    [{ cron: '* * * * * *' }, 'five fields'],
    [{ cron: '0 0 31 2 *' }, 'never comes'],
    [
      { cron: '0 9 * * *', timezone: 'No/Where' },
      'There is no time zone No/Where; give a name such as Europe/Berlin',
    ],
    [{ in_seconds: 5, every_seconds: 60 }, 'exactly one of'],
    [{}, 'exactly one of'],
  ])('for %j is refused with the reason', async (when, reason) => {
    const { host, id } = await ada(0)
    const [answer] = await host.ask(id, 'go', add(when))
    expect(answer).toContain(reason)
    expect(await host.store.listSchedules({ limit: 5 })).toEqual([])
  })
})

describe('the scheduler', () => {
  it.each([
    [
      'a damaged row',
      () => new DamagedRowError({ row: 's-bad', column: 'pins', problem: 'holds no JSON' }),
    ],
    ['a body that is no JSON', () => new SyntaxError('no JSON')],
  ])('fires the schedules after %s, and reports that once', async (_, error) => {
    const host = new ToolHost(['ada'])
    const bad = await host.open('ada', 's-bad')
    const good = await host.open('ada', 's-good')
    const { clock } = host
    const store: Store = {
      ...host.store,
      fireSchedule: async (request) => {
        if (request.id.endsWith('-bad')) throw error()
        return await host.store.fireSchedule(request)
      },
    }
    const body = { message: { role: 'user', parts: [{ type: 'text', text: 'look' }] } }
    const put = (id: string, sessionId: typeof bad, dueAt: number, repeat: string | null) =>
      store.putSchedule({ id, sessionId, dueAt, repeat, body, tokens: 5 })
    await put('t-bad', bad, clock.now() + 1, null)
    await put('t-good', good, clock.now() + 2, null)
    // Held messages, followed by other mail; in the order of ids the bad one is first.
    const far = clock.now() + 86_400_000
    await put('held-1-bad', bad, far, 'held 0 1')
    await put('held-2', good, far, 'held 0 1')
    for (const id of [bad, good]) await host.say(id, 'hello')
    const fired: string[] = []
    const told: unknown[] = []
    const onCrash = (error: unknown) => told.push(error)
    const onFired = (id: string) => fired.push(id)
    new Scheduler({ store, clock, pollMs: 10_000, onFired, onCrash }).start()
    await host.pass(60_000)
    expect(fired).toEqual([good, good])
    expect(told).toHaveLength(2)
  })

  it.each([
    [
      'says nothing of a busy store',
      new StoreBusyError({ waitedMs: 5, problem: 'it is locked' }),
      0,
    ],
    ['reports a fault of its own', new TypeError('not a function'), 1],
  ])('%s, and continues', async (_, error, reports) => {
    const { host, id, reminders } = await ada(0)
    await host.ask(id, 'go', add({ in_seconds: 60 }))
    let failures = 1
    const listSchedules: Store['listSchedules'] = async (query) => {
      if (failures-- > 0) throw error
      return await host.store.listSchedules(query)
    }
    const told: unknown[] = []
    const onCrash = (crash: unknown) => told.push(crash)
    const parts = { clock: host.clock, pollMs: 10_000, onFired: () => {}, onCrash }
    new Scheduler({ ...parts, store: { ...host.store, listSchedules } }).start()
    await host.pass(5 * 60_000)
    expect(told).toHaveLength(reports)
    expect(await reminders()).toBe(1)
  })

  it.each([
    [{ every_seconds: 600 }, 'while it runs'],
    [{ cron: '*/10 * * * *' }, 'while it runs'],
    [{ every_seconds: 600 }, 'before it starts'],
    [{ cron: '*/10 * * * *' }, 'before it starts'],
  ])(
    'goes on with %j when a clock that was ten years ahead came back %s [fault 75]',
    async (when, how) => {
      const { host, id, reminders, started } = await ada(0)
      await host.ask(id, 'go', add(when))
      const { store } = host
      let aheadMs = 0
      const clock = { ...host.clock, now: () => host.clock.now() + aheadMs }
      const start = () => {
        const onCrash = (error: unknown) => host.crashes.push(error)
        const scheduler = new Scheduler({
          store,
          clock,
          pollMs: 10_000,
          onFired: () => {},
          onCrash,
        })
        scheduler.start()
        started.push(scheduler)
      }
      start()
      await host.pass(11 * 60_000)
      expect(await reminders()).toBe(1)
      aheadMs = 10 * 365 * 86_400_000
      // Once for the skipped years, and once for the ten minutes.
      await host.pass(12 * 60_000)
      const ahead = await reminders()
      expect(ahead).toBeGreaterThan(1)
      if (how === 'before it starts') await started[0]?.close()
      aheadMs = 0
      if (how === 'before it starts') start()
      await host.pass(60 * 60_000)
      expect((await reminders()) - ahead).toBe(6)
    },
  )

  it('leaves schedules alone that a host with a clock minutes ahead has set', async () => {
    const { host, id } = await ada(0)
    await host.ask(id, 'go', add({ every_seconds: 60 }))
    const { store, clock } = host
    const [{ id: name = '', dueAt = 0 } = {}] = await store.listSchedules({ limit: 1 })
    const nextDueAt = dueAt + 10 * 60_000
    await store.fireSchedule({ id: name, dueAt, nextDueAt })
    const onCrash = (error: unknown) => host.crashes.push(error)
    new Scheduler({ store, clock, pollMs: 10_000, onFired: () => {}, onCrash }).start()
    await host.pass(5 * 60_000)
    expect(await store.listSchedules({ limit: 1 })).toMatchObject([{ dueAt: nextDueAt }])
  })

  it('fires reminders that follow any number of others for a full mailbox', async () => {
    const host = new ToolHost(['ada'])
    const { store, clock } = host
    const full = await host.open('ada', 's-full', { laneMailMax: 1, sourceMailMax: 1 })
    const free = await host.open('ada', 's-free')
    const body = { message: { role: 'user', parts: [{ type: 'text', text: 'look' }] } }
    const put = (id: string, sessionId: typeof full, dueAt: number) =>
      store.putSchedule({ id, sessionId, dueAt, repeat: null, body, tokens: 5 })
    for (let n = 100; n < 200; n++) await put(`t-${n}`, full, clock.now() + n)
    await put('t-behind', free, clock.now() + 1_000)
    const fired: string[] = []
    const onCrash = (error: unknown) => host.crashes.push(error)
    const onFired = (id: string) => fired.push(id)
    new Scheduler({ store, clock, pollMs: 10_000, onFired, onCrash }).start()
    await host.pass(60_000)
    expect(fired).toEqual([full, free])
  })
})
