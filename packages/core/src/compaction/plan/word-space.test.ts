import { describe, expect, it } from 'vitest'
import { assistant, user } from '../../../../../test/support/builders.ts'
import { compact } from '../compact.ts'
import type { CompactOptions } from '../compact-options.ts'

const turns = (count: number, answer = '') =>
  Array.from({ length: count }, (_, at) => [
    user(`The harbour of ${'abcdefghij'[at % 10]?.repeat(1 + at / 10)} has ${at} cranes now.`),
    assistant(`Noted, the list is longer. ${answer}`),
  ]).flat()

describe('space for the user’s short sentences', () => {
  it.each([
    [30, 1_500],
    [40, 2_000],
    [60, 3_000],
  ])(
    'keeps the handoff of a short conversation smaller than the part it replaces: %d turns, %d tokens',
    async (count, targetTokens) => {
      const result = await compact(turns(count), { budget: { targetTokens, keepTokens: 0 } })
      expect(result.outcome).toBe('compacted')
    },
  )

  const answered = (text: string) => [
    user(text),
    assistant('It was checked again. '.repeat(1_500)),
    ...turns(1),
  ]
  const wordTokens = async (text: string, options: CompactOptions) => {
    const { plan } = await compact(answered(text), options)
    return plan?.kind === 'compact' ? plan.allotment.user : 0
  }
  const budget = { targetTokens: 2_600, keepTokens: 0 }
  const said = Array.from(
    { length: 200 },
    (_, at) => `The crane with number ${at} is painted red.`,
  ).join('\n')

  it('is taken from a digest and from no other summary, nor from a size that the caller set', async () => {
    const usual = await wordTokens(said, { budget, summary: 'The cranes were counted.' })
    expect(await wordTokens(said, { budget })).toBeGreaterThan(2 * usual)
    expect(await wordTokens(said, { budget: { ...budget, userTokens: 300 } })).toBe(300)
  })

  it('is less for a plan that the program sends in the user’s place', async () => {
    const end = 'If you need specific details from before exiting plan mode, read a.jsonl'
    const plan = `Implement the following plan:\n\n${said}\n\n${end}`
    const tokens = await wordTokens(plan, { budget })
    expect(budget.targetTokens - tokens).toBeGreaterThan(1_100)
    expect(await wordTokens(said, { budget })).toBeGreaterThan(tokens + 100)
  })
})
