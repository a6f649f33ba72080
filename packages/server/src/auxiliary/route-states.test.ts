import { expect, it } from 'vitest'
import { operationId, sessionId } from '#core/base/ids'
import { FakeClock } from '../../../../test/model/fake-clock.ts'
import { MemoryAttempts } from '../../../../test/model/memory-attempts.ts'
import { destinationOf, type ModelRoute } from '../model/routes/route.ts'
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
  const states = new RouteStates(attempts, clock)
  const enter = async () => {
    const entrance = await states.enter('title', [ROUTE], HERE)
    return entrance.kind === 'entered' ? entrance.leave : entrance
  }
  return { clock, enter }
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
