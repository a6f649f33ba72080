import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../../../test/support/seeded-random.ts'
import { characterClasses } from './character-classes.ts'

const PATTERNS = [/\p{L}/u, /\s/, /[^\0-\x7f]/] as const
const classOf = characterClasses(...PATTERNS)
const codePoints = fc.nat({ max: 0x10ffff })

describe('characterClasses', () => {
  it('returns the patterns that match each code point, the same on every call', () => {
    fc.assert(
      fc.property(codePoints, (code) => {
        const character = String.fromCodePoint(code)
        const expected = PATTERNS.reduce(
          (bits, pattern, at) => bits | (pattern.test(character) ? 1 << at : 0),
          0,
        )
        expect([classOf(code), classOf(code)]).toEqual([expected, expected])
      }),
      { numRuns: tries(2_000) },
    )
  })
})
