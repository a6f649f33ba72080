import { describe, expect, it } from 'vitest'
import { parseRanges, parseSpan } from './numbers.ts'

describe('parseRanges', () => {
  it('lists each entry once, in ascending order', () => {
    expect(parseRanges('9, 3-5,4-6')).toEqual([3, 4, 5, 6, 9])
  })

  it.each(['', '0', '5-3', 'a', '1-', '1--2', '1-99999999999', '1-20000'])('refuses %j', (text) => {
    expect(() => parseRanges(text)).toThrow(/list of entries|at most/)
  })
})

describe('parseSpan', () => {
  it.each([
    ['90s', 90_000],
    ['15m', 900_000],
    ['12h', 43_200_000],
    ['30d', 2_592_000_000],
  ])('reads %j', (text, ms) => {
    expect(parseSpan(text)).toBe(ms)
  })

  it.each(['', '0s', '5', '-1h', '1w', '1.5h'])('refuses %j', (text) => {
    expect(() => parseSpan(text)).toThrow('such as 90s, 15m, 12h or 30d')
  })
})
