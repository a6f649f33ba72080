import { expect, it } from 'vitest'
import { create, newOperation } from '#core/store/contract-suite/bench'
import { openMemoryStore } from '#core/store/memory/open'
import { modelUsageOf } from '../../../runtime/usage.ts'
import { unpricedModels, unpricedText } from './prices-hint.ts'

type Calls = readonly (readonly [route: string, cost: number | null])[]

/** The models without a price in a store whose sessions made these calls, the newest last. */
async function models(...sessions: readonly Calls[]): Promise<readonly string[]> {
  const store = openMemoryStore()
  const listed: Parameters<typeof unpricedModels>[1][number][] = []
  for (const calls of sessions) {
    const id = await create(store)
    for (const [at, [modelRoute, cost]] of calls.entries()) {
      await store.recordAttempt({
        ...{ id: newOperation(), sessionId: id, task: 'turn', modelRoute, cost, at },
        ...{ outcome: 'answered', inputTokens: 1, outputTokens: 1 },
      })
    }
    listed.push({ id, usage: modelUsageOf(await store.sumAttempts({ sessionId: id, since: 0 })) })
  }
  return await unpricedModels(store, listed)
}

it('names each model without a price once, without its provider and place', async () => {
  expect(
    await models([
      ['local/org/big@a@b', null],
      ['openai/gpt-x@here', null],
      ['bare', null],
      ['openai/priced', 1],
      ['claude/gpt-x', null],
    ]),
  ).toEqual(['gpt-x', 'bare', 'org/big@a'])
})

it('names three models at most, the newest', async () => {
  expect(await models(['1', '2', '3', '4'].map((name) => [`p/${name}`, null]))).toEqual([
    ...['4', '3', '2'],
  ])
})

it('looks at the newest hundred calls of ten sessions that have one without a price', async () => {
  const old: Calls = [['p/old', null]]
  const later = (count: number): Calls => Array.from({ length: count }, () => ['p/priced', 1])
  expect(await models([...old, ...later(99)])).toEqual(['old'])
  expect(await models([...old, ...later(100)])).toEqual([])
  const nine = Array.from({ length: 9 }, (): Calls => [['p/a', null]])
  const b: Calls = [['p/b', null]]
  expect(await models(later(1), ...nine, b)).toEqual(['a', 'b'])
  expect(await models([['p/a', null]], ...nine, b)).toEqual(['a'])
})

it.each([
  [[], 'some models, so their calls'],
  [['a'], '"a", so its calls'],
  [['a', 'b'], '"a", "b", so their calls'],
])('says what to do about %j', (names, words) => {
  expect(unpricedText(names)).toBe(
    `A cost that is unknown or ends in +: no price is known for ${words} are not included. ` +
      "Set `limits.prices` in throughline.yaml, by the model's name. " +
      '`serve`, `run` and `proxy` read it when they start; earlier calls stay without a price.',
  )
})
