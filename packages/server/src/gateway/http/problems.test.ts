import { describe, expect, it } from 'vitest'
import { StoreBusyError } from '#core/store/errors'
import { HttpProblem, PROBLEMS, type ProblemCode, toHttpProblem } from './problems.ts'

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

  it('of a store that cannot serve now names the cause, and when to retry', () => {
    const problem = toHttpProblem(new StoreBusyError({ waitedMs: 5, problem: 'it is locked' }))
    expect(problem).toMatchObject({ code: 'unavailable', facts: { cause: 'store-busy' } })
    expect(problem.headers).toEqual({ 'retry-after': '1' })
  })
})
