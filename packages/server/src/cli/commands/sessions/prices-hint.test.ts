import { expect, it } from 'vitest'
import { unpricedModels, unpricedText } from './prices-hint.ts'

const session = (id: string, unpricedCalls: number) => ({ id, usage: { unpricedCalls } }) as never

/** The models without a price, and which calls were read for them. */
async function models(
  sessions: readonly never[],
  calls: Readonly<Record<string, readonly (readonly [string, number | null])[]>>,
) {
  const asked: unknown[] = []
  const store = {
    readAttempts: async (query: { sessionId: string }) => {
      asked.push(query)
      return (calls[query.sessionId] ?? []).map(([modelRoute, cost]) => ({ modelRoute, cost }))
    },
  }
  return { found: await unpricedModels(store as never, sessions), asked }
}

it('names the models of calls without a price, by their newest hundred calls', async () => {
  const calls = {
    a: [
      ['openai/gpt-x@here', null],
      ['openai/gpt-y@here', 5],
      ['claude/claude-z', null],
    ],
    c: [
      ['openai/gpt-x@there', null],
      ['local/a/b@c@d', null],
      ['bare', null],
    ],
  } as const
  const { found, asked } = await models([session('a', 1), session('b', 0), session('c', 2)], calls)
  expect(found).toEqual(['gpt-x', 'claude-z', 'a/b@c'])
  const query = { since: 0, limit: 100 }
  expect(asked).toEqual([
    { sessionId: 'a', ...query },
    { sessionId: 'c', ...query },
  ])
  expect((await models([session('d', 1)], { d: [['bare', null]] })).found).toEqual(['bare'])
})

it('looks at ten sessions at most', async () => {
  const many = Array.from({ length: 12 }, (_, at) => session(`s${at}`, 1))
  const { found, asked } = await models([session('free', 0), ...many], {})
  expect([found, asked.length]).toEqual([[], 10])
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
