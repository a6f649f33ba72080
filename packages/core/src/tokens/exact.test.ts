import fc from 'fast-check'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { describe, expect, it } from 'vitest'
import { fastestMs } from '../../../../test/support/timing.ts'
import { countInSlices, exactCounter } from './exact.ts'

describe('countInSlices', () => {
  it('hands over the whole text in order, in slices of at most 1,000, no surrogate pair cut', () => {
    const run = fc.tuple(
      fc.constantFrom('a', 'é', '中', '😀', '\ud800', '\udc00', '\n'),
      fc.integer({ min: 1, max: 700 }),
    )
    fc.assert(
      fc.property(fc.array(run, { maxLength: 8 }), (runs) => {
        const whole = runs.map(([character, times]) => character.repeat(times)).join('')
        const slices: string[] = []
        countInSlices(whole, (slice) => slices.push(slice))
        expect(slices.join('')).toBe(whole)
        for (const [index, slice] of slices.entries()) {
          expect(slice.length).toBeLessThanOrEqual(1_000)
          const next = slices[index + 1] ?? ''
          expect(/[\ud800-\udbff]$/.test(slice) && /^[\udc00-\udfff]/.test(next)).toBe(false)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('adds up the counts of the slices', () => {
    expect(countInSlices('x'.repeat(2_500), (slice) => slice.length)).toBe(2_500)
    expect(countInSlices('', () => 1)).toBe(0)
  })
})

describe('exactCounter', () => {
  const count = exactCounter(countTokens)

  it('counts 200,000 repeated characters in less than 200 ms', () => {
    const text = 'a'.repeat(200_000)
    expect(fastestMs(() => count(text))).toBeLessThan(200)
    expect(count(text)).toBe(200 * countTokens('a'.repeat(1_000)))
  })

  it('counts the words of a special token as the text they are', () => {
    expect(count('a <|endoftext|> b')).toBeGreaterThan(3)
  })

  it('agrees with the whole text within half a percent on ordinary text', () => {
    const text = 'The runtime keeps the transcript whole; const total = sum(values) // 12\n'.repeat(
      200,
    )
    const whole = countTokens(text)
    expect(count(text)).toBeGreaterThanOrEqual(whole)
    expect(count(text)).toBeLessThanOrEqual(whole * 1.005)
  })
})
