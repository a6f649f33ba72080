import { expect, it } from 'vitest'
import { CUE_PHRASES, CUE_WORDS } from '../../packages/core/src/compaction/rules/cues/cues.ts'
import { writeLexicons } from './lexicons.ts'
import { measure } from './measure.ts'
import { scenarios } from './scenarios.ts'

it('keeps a person’s rules over ten compactions, and little else as a rule', async () => {
  const some = scenarios().filter((_, index) => index % 9 === 0)
  const outcomes = []
  for (const scenario of some) outcomes.push(await measure(scenario))
  const survived = outcomes.filter((outcome) => outcome.survived)
  expect(survived.length / some.length).toBeGreaterThanOrEqual(0.95)
  expect(outcomes.flatMap(({ wrong }) => wrong).length / some.length).toBeLessThanOrEqual(0.05)
})

it('was fitted after the last change of a lexicon', () => {
  expect(writeLexicons()).toEqual({ words: CUE_WORDS, phrases: CUE_PHRASES })
})
