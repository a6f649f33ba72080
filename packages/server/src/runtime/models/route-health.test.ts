import { expect, it } from 'vitest'
import { operationId, sessionId } from '#core/base/ids'
import { MemoryAttempts } from '../../../../../test/model/memory-attempts.ts'
import type { ModelRoute } from '../../model/routes/route.ts'
import { destinationOf } from '../../model/routes/route.ts'
import type { ResolvedAgent } from '../agent.ts'
import { readRouteHealth } from './route-health.ts'

const NOW = 10_000_000
const route = (model: string): ModelRoute => ({
  ...{ name: model, provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1', model },
  credential: { kind: 'none' },
})
const agent = (main: readonly string[], tasks: readonly string[] = []) =>
  ({
    routes: { forMain: () => main.map(route), forTask: () => tasks.map(route) },
  }) as unknown as ResolvedAgent

type Call = readonly [model: string, task: string, outcome: string, agoMs: number]

/** What is told of the routes of these agents after these calls, the oldest first. */
async function health(agents: readonly ResolvedAgent[], calls: readonly Call[]) {
  const attempts = new MemoryAttempts()
  for (const [at, [model, task, outcome, agoMs]] of calls.entries()) {
    await attempts.record({
      ...{ id: operationId(`call-${at}`), sessionId: sessionId('s'), task, outcome },
      ...{ modelRoute: destinationOf(route(model)), at: NOW - agoMs },
      ...{ inputTokens: 0, outputTokens: 0, cachedTokens: 0, cost: 0 },
    })
  }
  return await readRouteHealth(attempts, agents, NOW)
}

const shown = (model: string, task: string, more: object) => ({
  ...{ route: destinationOf(route(model)), task, model, failures: 0, failuresInHour: 0 },
  ...{ failedAt: null, answeredAt: null, state: 'closed', retryAt: null, ...more },
})
const DOWN = 'refused:server-error'

it('lists the routes that were used, each with its task, once', async () => {
  const agents = [agent(['a', 'b'], ['c']), agent(['a'])]
  expect(await health(agents, [])).toEqual([])
  const calls: Call[] = [
    ['a', 'turn', 'answered', 500],
    ['c', 'title', 'answered', 400],
    ['c', 'turn', 'answered', 300],
    ['b', 'turn', 'interrupted', 200],
    ['a', 'turn', 'answered', 100],
  ]
  expect(await health(agents, calls)).toEqual([
    shown('a', 'turn', { answeredAt: NOW - 100 }),
    shown('b', 'turn', {}),
    shown('c', 'title', { answeredAt: NOW - 400 }),
  ])
})

it('counts failures of the route alone, since its last answer and within the hour', async () => {
  const calls: Call[] = [
    ['a', 'turn', DOWN, 3_600_001],
    ['a', 'turn', DOWN, 900],
    ['a', 'turn', 'answered', 800],
    ['a', 'turn', DOWN, 700],
    ['a', 'turn', 'overflow', 600],
    ['a', 'turn', DOWN, 500],
  ]
  expect(await health([agent(['a'])], calls)).toEqual([
    shown('a', 'turn', {
      ...{ failures: 2, failuresInHour: 3, failedAt: NOW - 500, answeredAt: NOW - 800 },
    }),
  ])
})

it('pauses a failing route for tasks, and for turns calls it failing', async () => {
  const failed = (task: string): Call[] =>
    [30_000, 20_000, 10_000].map((agoMs) => ['a', task, DOWN, agoMs])
  const [turn] = await health([agent(['a'])], failed('turn'))
  const [title] = await health([agent([], ['a'])], failed('title'))
  const three = { failures: 3, failuresInHour: 3, failedAt: NOW - 10_000 }
  expect(turn).toEqual(shown('a', 'turn', { ...three, state: 'failing' }))
  expect(title).toEqual(
    shown('a', 'title', { ...three, state: 'open', retryAt: expect.any(Number) }),
  )
  expect(title?.retryAt).toBeGreaterThan(NOW)
})
