import { expect, it } from 'vitest'
import { measure } from './measure.ts'
import { scenarios } from './scenarios.ts'

it('keeps what a person ruled over ten compactions, and little else as a rule', async () => {
  const some = scenarios().filter((_, index) => index % 9 === 0)
  const outcomes = []
  for (const scenario of some) outcomes.push(await measure(scenario))
  const survived = outcomes.filter((outcome) => outcome.survived)
  expect(survived.length / some.length).toBeGreaterThanOrEqual(0.95)
  expect(outcomes.flatMap(({ wrong }) => wrong).length / some.length).toBeLessThanOrEqual(0.05)
})
