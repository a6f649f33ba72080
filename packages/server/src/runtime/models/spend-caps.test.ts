import { expect, it } from 'vitest'
import { sessionId } from '#core/base/ids'
import { SILENT } from '#core/base/logger'
import type { Store } from '#core/store/contract'
import { openMemoryStore } from '#core/store/memory/open'
import { mailOf, open, say, soon } from '../../../../../test/support/runtime-place.ts'
import { until } from '../../../../../test/support/until.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Session } from '../runtime.ts'
import type { SpendLimits } from './spend-caps.ts'

const PRICES = { 'stand-in': { input: 100, output: 1_000 } }

/** A store that several runtimes share and that is closed once, at the end. */
function shared(): Store {
  return { ...openMemoryStore(), close: async () => {} }
}

const openWith = async (spend: SpendLimits, store = shared()) => {
  const logged: unknown[] = []
  const logger = { ...SILENT, warn: (fields: object, text: string) => logged.push([text, fields]) }
  const place = await open({ store, logger, auxiliary: { prices: PRICES, spend } })
  place.runtime.reconfigure([{ ...place.agent, tools: [AGAIN] }])
  const session = async (id: string) => {
    await place.runtime.createSession({ agent: 'main', id })
    return place.runtime.session(sessionId(id))
  }
  return { ...place, session, logged }
}

// A turn that would run for long: every step calls a tool.
const RUNAWAY = Array.from({ length: 40 }, () => 'use again {}').join('\nthen\n')
const AGAIN: Tool = {
  ...{ name: 'again', description: 'Does nothing.', inputSchema: { type: 'object' } },
  isRepeatable: true,
  run: async () => ({ outcome: 'ok', output: 'Done.' }),
}

const paused = (session: Session) =>
  until(async () => (await session.summary())?.state === 'waiting-for-approval')
/** Calls of turns only; the title is an auxiliary call. */
const callsOf = async (session: Session) =>
  (await session.usage({ by: 'turn', limit: 99 })).reduce((sum, { calls }) => sum + calls, 0)

it('stops a runaway turn within one model call, says why, and resumes when a person continues it', async () => {
  const { session: make, runtime, logged } = await openWith({ turn: { tokens: 1 } })
  const session = await make('runaway')
  const notices: string[] = []
  const stop = new AbortController()
  const listening = (async () => {
    for await (const event of session.events({}, stop.signal)) {
      if (event.type === 'live' && event.kind === 'notice') notices.push(event.text)
    }
  })()
  const mail = mailOf(await session.admit(say(RUNAWAY, '1')))
  await paused(session)
  expect(await callsOf(session)).toBe(1)
  expect((await session.summary())?.wait?.text).toMatch(/^Paused\. This turn spent \d+ of 1 tokens/)
  const reason = expect.stringContaining('limits.spend.turn')
  expect(logged).toEqual([['paused at a spending limit', { sessionId: 'runaway', reason }]])
  await until(async () => notices.length > 0)
  stop.abort()
  await listening
  await session.continue({ source: 'test', key: 'c1', pastLimit: true })
  await until(async () => (await callsOf(session)) === 2)
  await paused(session)
  expect(await callsOf(session)).toBe(2)
  await session.stop({ source: 'test', key: 's' })
  expect(await session.reply(mail, soon())).toMatchObject({ ended: 'stopped' })
  // Spending is counted by turn, step, session, agent and day.
  const sums = await Promise.all([
    session.usage({ by: 'turn', limit: 9 }),
    runtime.usage({ by: 'agent', limit: 9 }),
    runtime.usage({ by: 'session', limit: 9 }),
    runtime.usage({ by: 'day', limit: 9 }),
  ])
  expect(sums.map((groups) => groups.map(({ calls }) => calls))).toEqual([[2], [2], [2], [2]])
  expect(sums[0]?.[0]?.cost).toBeGreaterThan(0)
  const steps = await session.usage({ by: 'step', turn: 1, limit: 9 })
  expect(steps.map(({ calls }) => calls)).toEqual([1, 1])
})

it('does not wait any more once a person has stopped the paused turn', async () => {
  const { session: make } = await openWith({ turn: { tokens: 1 } })
  const session = await make('stopped')
  const first = mailOf(await session.admit(say(RUNAWAY, '1')))
  await paused(session)
  await session.stop({ source: 'test', key: 's' })
  expect(await session.reply(first, soon())).toMatchObject({ ended: 'stopped' })
  const notices: string[] = []
  const stop = new AbortController()
  const listening = (async () => {
    for await (const event of session.events({}, stop.signal)) {
      if (event.type === 'live' && event.kind === 'notice') notices.push(event.text)
    }
  })()
  const next = mailOf(await session.admit(say('Hello.', '2')))
  await until(async () => notices.length > 0 || (await session.summary())?.lastTurn === 'answered')
  expect(notices).toEqual([])
  expect(await session.reply(next, soon())).toMatchObject({ ended: 'answered' })
  stop.abort()
  await listening
})

it('enforces a limit across restarts and sessions; continuing one session lifts it for that one only', async () => {
  const store = shared()
  const first = await openWith({ day: { cost: 1 } }, store)
  const one = await first.session('one')
  await one.reply(mailOf(await one.admit(say('Hello.', '1'))), soon())
  await first.runtime.close()
  const second = await openWith({ day: { cost: 1 } }, store)
  const [other, again] = [await second.session('other'), await second.session('again')]
  const mail = mailOf(await other.admit(say('Hello.', '2')))
  await again.admit(say('Hello.', '3'))
  await paused(other)
  await paused(again)
  expect([await callsOf(other), await callsOf(again)]).toEqual([0, 0])
  await other.continue({ source: 'test', key: 'c', pastLimit: true })
  expect(await other.reply(mail, soon())).toMatchObject({ ended: 'answered' })
  expect(await callsOf(again)).toBe(0)
  expect((await again.summary())?.wait?.text).toContain('limits.spend.day')
})

it.each([
  ['session', { session: { tokens: 1 } }],
  ['agent', { agent: { tokens: 1 } }],
])('pauses the second turn of a %s at its limit', async (_, limits) => {
  const { session: make } = await openWith(limits)
  const session = await make('s')
  await session.reply(mailOf(await session.admit(say('Hello.', '1'))), soon())
  await session.admit(say('Hello again.', '2'))
  await paused(session)
  expect(await callsOf(session)).toBe(1)
})
