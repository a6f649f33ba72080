import { expect, it } from 'vitest'
import { checkBudget } from './defaults.ts'

const TOKENS = [
  ...['windowTokens', 'outputTokensMax', 'targetTokens', 'keepTokens', 'userTokens'],
  ...['ledgerTokens', 'summaryTokens', 'summarizerWindowTokens'],
]

it('a budget is checked: numbers of tokens, of messages, and shares', () => {
  const told = (budget: object) => {
    try {
      checkBudget(budget)
      return 'taken'
    } catch (error) {
      return (error as Error).message
    }
  }
  expect(told({})).toBe('taken')
  expect(told(Object.fromEntries(TOKENS.map((name) => [name, 1])))).toBe('taken')
  expect(told({ protectFirst: 0, protectLast: 3, softShare: 0, targetShare: 1 })).toBe('taken')
  for (const name of [...TOKENS, 'protectFirst', 'protectLast', 'softShare', 'targetShare']) {
    expect(told({ [name]: -1 })).toContain(`"budget.${name}" is -1`)
    expect(told({ [name]: 'x' })).toContain(`"budget.${name}" is "x"`)
  }
  const share = 'is 1.1. It is from 0 to 1.'
  expect(told({ softShare: 1.1 })).toContain(`"budget.softShare" ${share}`)
  expect(told({ targetShare: 1.1 })).toContain(`"budget.targetShare" ${share}`)
  expect(told({ windowTokens: 0 })).toContain('"budget.windowTokens" is 0')
  expect(told({ keepTokens: 0, targetTokens: 0 })).toBe('taken')
  expect(told({ keep: 1 })).toContain('keep')
})
