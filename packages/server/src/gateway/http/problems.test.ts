import { describe, expect, it } from 'vitest'
import { HttpProblem, PROBLEMS, type ProblemCode } from './problems.ts'

describe('Problem', () => {
  it('that reports a limit always says when to retry', () => {
    const codes = Object.keys(PROBLEMS) as ProblemCode[]
    const tooMuch = codes
      .map((code) => new HttpProblem(code))
      .filter(({ status }) => status === 429)
    expect(tooMuch.length).toBeGreaterThan(2)
    for (const { headers } of tooMuch) expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    const headers = { 'retry-after': '60' }
    expect(new HttpProblem('rate-limited', { headers }).headers).toEqual(headers)
  })
})
