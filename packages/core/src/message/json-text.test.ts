import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../../../test/support/seeded-random.ts'
import { findDepthFault, JSON_DEPTH_MAX, scanDocument } from './json-text.ts'

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('scanDocument', () => {
  it('finds the end of every document that JSON.parse accepts', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom('', ' ', '\n\t'), (text, blank) => {
        expect(scanDocument(blank + text + blank, 0)).toBe(blank.length + text.length)
      }),
    )
  })

  it('finds a fault exactly where JSON.parse refuses', () => {
    const damage = fc.record({
      text: fc.json({ maxDepth: 3 }),
      at: fc.nat(60),
      remove: fc.nat(2),
      insert: fc.constantFrom('', '"', '{', ']', ',', ':', '\\', '0', 'x', '\n', '-', '.', 'e'),
    })
    fc.assert(
      fc.property(damage, ({ text, at, remove, insert }) => {
        const damaged = text.slice(0, at) + insert + text.slice(at + remove)
        const end = scanDocument(damaged, 0)
        const isWhole = typeof end === 'number' && damaged.slice(end).trim() === ''
        expect(isWhole).toBe(parses(damaged))
      }),
      { numRuns: tries(2000) },
    )
  })
})

describe('scanDocument, from a place in the text', () => {
  const end = (at: number) => at
  it.each<[string, number, number | { at: number; problem: string }]>([
    ['', 0, { at: 0, problem: 'the text ends too early' }],
    ['[1, ', 0, { at: 4, problem: 'the text ends too early' }],
    ['[1 2]', 0, { at: 3, problem: 'expected "," or "]"' }],
    ['{"a":1]', 0, { at: 6, problem: 'expected "," or "}"' }],
    ['[1}', 0, { at: 2, problem: 'expected "," or "]"' }],
    ['{a:1}', 0, { at: 1, problem: 'expected a name in double quotes' }],
    ['{"a":1,}', 0, { at: 7, problem: 'expected a name in double quotes' }],
    ['{"a" 1}', 0, { at: 5, problem: 'expected ":" after the name' }],
    ['{"a\n":1}', 0, { at: 3, problem: 'a string holds the unescaped control character U+000a' }],
    ['["a\u001f"]', 0, { at: 3, problem: 'a string holds the unescaped control character U+001f' }],
    ['["a b"]', 0, end(7)],
    ['["\\x"]', 0, { at: 2, problem: 'a string holds an escape that JSON has not' }],
    ['["\\u12G4"]', 0, { at: 2, problem: 'a string holds an escape that JSON has not' }],
    ['["\\u12f4\\n\\\\"]', 0, end(14)],
    ['["a', 0, { at: 3, problem: 'a string is never closed' }],
    ['[1,]', 0, { at: 3, problem: 'expected a value' }],
    ['[nul]', 0, { at: 1, problem: 'expected a value' }],
    [']', 0, { at: 0, problem: 'expected a value' }],
    ['[]', 0, end(2)],
    [' \r\n\t{} {}', 0, end(6)],
    [' \r\n\t{} {}', 6, end(9)],
    ['{"a":[true,false,null,-0.5e+1]}x', 0, end(31)],
    ['01', 0, end(1)],
  ])('%j from %i is %j', (text, from, found) => {
    expect(scanDocument(text, from)).toEqual(found)
  })
})

describe('findDepthFault', () => {
  it('reads every text of more than 1,000 characters', () => {
    const problem = 'the nesting is deeper than 1000 levels'
    expect(findDepthFault('['.repeat(1_000))).toBeUndefined()
    expect(findDepthFault('['.repeat(1_001))).toEqual({ at: 1_000, problem })
    expect(findDepthFault(`${'[]'.repeat(2_000)}${'{'.repeat(1_001)}`)).toEqual({
      at: 5_000,
      problem,
    })
    expect(findDepthFault(`${'["\\\\",'.repeat(1_001)}`)).toEqual({ at: 6_000, problem })
    expect(findDepthFault(`"\\"${'['.repeat(2_000)}`)).toBeUndefined()
  })

  it('allows the maximum and names the first bracket beyond it', () => {
    const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`
    expect(findDepthFault(nested(JSON_DEPTH_MAX))).toBeUndefined()
    expect(findDepthFault(nested(JSON_DEPTH_MAX + 2))?.at).toBe(
      (JSON_DEPTH_MAX / 2) * '[{"a":'.length,
    )
  })

  it('reads no brackets inside strings', () => {
    expect(findDepthFault(JSON.stringify(`\\"${'['.repeat(5_000)}\\`))).toBeUndefined()
  })
})
