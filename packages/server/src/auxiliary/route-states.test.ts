import { expect, it } from 'vitest'
import { operationId, sessionId } from '#core/base/ids'
import { FakeClock } from '../../../../test/model/fake-clock.ts'
import { MemoryAttempts } from '../../../../test/model/memory-attempts.ts'
import { destinationOf, type ModelRoute } from '../model/routes/route.ts'
import type { Attempt, AttemptQuery, Attempts } from './attempts.ts'
import { RouteStates } from './route-states.ts'

const HERE = sessionId('here')
const ROUTE: ModelRoute = {
  ...{ name: 'aux', provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', model: 'm' },
  credential: { kind: 'none' },
}

/** One permanent failure a minute ago: the pause is over, and one call may try the route. */
async function rested() {
  const clock = new FakeClock()
  const attempts = new MemoryAttempts()
  await attempts.record({
    ...{ id: operationId('failed'), sessionId: HERE, task: 'title' },
    ...{ modelRoute: destinationOf(ROUTE), outcome: 'refused:bad-key' },
    ...{ inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost: 0, at: clock.now() },
  })
  await clock.pass(60_000)
  const claims: Attempt[] = []
  const watched: Attempts = {
    read: (query) => attempts.read(query),
    sum: (query) => attempts.sum(query),
    record: async (attempt) => {
      claims.push(attempt)
      return await attempts.record(attempt)
    },
  }
  const states = new RouteStates(watched, clock)
  const enter = async () => {
    const entrance = await states.enter('title', [ROUTE], HERE)
    return entrance.kind === 'entered' ? entrance.leave : entrance
  }
  return { clock, enter, claims }
}

it('after its pause a route is tried by one call at a time', async () => {
  const { clock, enter } = await rested()
  const leave = await enter()
  if (typeof leave !== 'function') throw new Error('it is still resting')
  // The claim in the store has expired; only the running call of this process blocks others.
  await clock.pass(60_000)
  expect(await enter()).toEqual({ kind: 'resting', until: clock.now() + 30_000 })
  leave()
  expect(await enter()).toBeTypeOf('function')
})

it('a route that another process tries is available once that claim expires', async () => {
  const { clock, enter } = await rested()
  const leave = await enter()
  if (typeof leave !== 'function') throw new Error('it is still resting')
  leave()
  expect(await enter()).toMatchObject({ kind: 'resting' })
  await clock.pass(30_000)
  expect(await enter()).toBeTypeOf('function')
})

it('every process that would try it in one half minute claims it under one id', async () => {
  const { clock, enter, claims } = await rested()
  const ids: string[] = []
  const claim = async (waitMs: number) => {
    await clock.pass(waitMs)
    const leave = await enter()
    if (typeof leave === 'function') leave()
    ids.push(String(claims.at(-1)?.id))
    return ids.length
  }
  await claim(0)
  // The claim of this process is on record, and no second one is made under its id.
  await claim(29_999)
  await claim(1)
  await claim(60_000)
  const [first, again, second, third] = ids
  expect(again).toBe(first)
  expect(new Set([first, second, third]).size).toBe(3)
  expect(claims.every(({ id }) => /^probe-[0-9a-f]{32}$/.test(id))).toBe(true)
  expect(claims[0]).toMatchObject({ task: 'title', outcome: 'probing', inputTokens: 0, cost: 0 })
})

/** Routes of which the named ones have failed for good a while ago. */
async function stage(failed: { readonly [name: string]: number }, Kept = MemoryAttempts) {
  const clock = new FakeClock()
  await clock.pass(10_000_000)
  const attempts = new Kept()
  const read: AttemptQuery[] = []
  const watched: Attempts = {
    record: (attempt) => attempts.record(attempt),
    read: (query) => {
      read.push(query)
      return attempts.read(query)
    },
    sum: (query) => attempts.sum(query),
  }
  const routes = ['first', 'second', 'third'].map((name) => ({ ...ROUTE, name, model: name }))
  for (const [name, agoMs] of Object.entries(failed)) {
    await attempts.record({
      ...{ id: operationId(`failed-${name}`), sessionId: HERE, task: 'title' },
      ...{ modelRoute: `openai-compatible/${name}@127.0.0.1:1`, outcome: 'refused:bad-key' },
      ...{ inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost: 0, at: clock.now() - agoMs },
    })
  }
  const states = new RouteStates(watched, clock)
  const enter = async (task = 'title') => {
    const entrance = await states.enter(task, routes, HERE)
    if (entrance.kind === 'resting') return entrance.until
    return { names: entrance.routes.map(({ name }) => name), leave: entrance.leave }
  }
  return { clock, attempts, read, states, routes, enter, now: clock.now() }
}

it('reads the attempts of the task on each route, as far back as the breaker looks', async () => {
  const { read, enter, now } = await stage({})
  expect(await enter('memory')).toMatchObject({ names: ['first', 'second', 'third'] })
  const query = { task: 'memory', since: now - 3_600_000, limit: 200 }
  expect(read).toEqual([
    { modelRoute: 'openai-compatible/first@127.0.0.1:1', ...query },
    { modelRoute: 'openai-compatible/second@127.0.0.1:1', ...query },
    { modelRoute: 'openai-compatible/third@127.0.0.1:1', ...query },
  ])
})

it('passes over routes that rest, and tells the soonest end if all of them do', async () => {
  const some = await stage({ first: 1_000 })
  expect(await some.enter()).toMatchObject({ names: ['second', 'third'] })
  const all = await stage({ first: 1_000, second: 9_000, third: 5_000 })
  expect(await all.enter()).toBe(all.now + 21_000)
  expect(await all.enter('memory')).toMatchObject({ names: ['first', 'second', 'third'] })
})

it('claims a first route after its pause in the record, and nothing for a fallback', async () => {
  const { attempts, enter, now } = await stage({ first: 60_000, second: 60_000 })
  const entered = await enter()
  expect(entered).toMatchObject({ names: ['first', 'second', 'third'] })
  const claims = await attempts.read({
    ...{ modelRoute: 'openai-compatible/first@127.0.0.1:1', since: now, limit: 9 },
  })
  expect(claims).toEqual([
    {
      id: expect.stringMatching(/^probe-[0-9a-f]{32}$/),
      ...{ sessionId: HERE, task: 'title', modelRoute: 'openai-compatible/first@127.0.0.1:1' },
      ...{ outcome: 'probing', inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost: 0, at: now },
    },
  ])
  const second = { modelRoute: 'openai-compatible/second@127.0.0.1:1', since: now, limit: 9 }
  expect(await attempts.read(second)).toEqual([])
  // Both are being tried; others use the third until that is over.
  expect(await enter()).toMatchObject({ names: ['third'] })
  if (typeof entered === 'object') entered.leave()
  expect(await enter()).toMatchObject({ names: ['second', 'third'] })
})

it('tries a route whose claim cannot be recorded, and all routes if nothing can be read', async () => {
  class Unwritable extends MemoryAttempts {
    override record(attempt: Attempt) {
      return attempt.outcome === 'probing'
        ? Promise.reject(new Error('full'))
        : super.record(attempt)
    }
  }
  const { enter } = await stage({ first: 60_000 }, Unwritable)
  expect(await enter()).toMatchObject({ names: ['first', 'second', 'third'] })
  class Unreadable extends MemoryAttempts {
    override read(): Promise<never> {
      return Promise.reject(new Error('gone'))
    }
  }
  const blind = await stage({ first: 1_000 }, Unreadable)
  expect(await blind.enter()).toMatchObject({ names: ['first', 'second', 'third'] })
})
