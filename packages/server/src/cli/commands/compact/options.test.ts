import { describe, expect, it } from 'vitest'
import { parseTokens } from './options.ts'

describe('parseTokens', () => {
  it.each([
    ['0', 0],
    ['200000', 200_000],
    ['200_000', 200_000],
    ['200,000', 200_000],
    ['200k', 200_000],
    ['1.5M', 1_500_000],
    [' 8000 ', 8_000],
  ])('reads %j', (text, number) => {
    expect(parseTokens(text, 0)).toBe(number)
  })

  it.each(['', 'k', '-1', '1.5', '1e6', '0x10', 'many', '12 000', `${'9'.repeat(40)}`])(
    'refuses %j and names the accepted form',
    (text) => {
      expect(() => parseTokens(text, 0)).toThrow(/whole number of tokens, such as 200000 or 200k/)
    },
  )

  it('refuses a value below the minimum', () => {
    expect(() => parseTokens('0', 1)).toThrow('It must be at least 1.')
  })
})
