import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import { parseJson } from './json-body.ts'
import { HttpProblem } from './problems.ts'

const limits = { depthMax: 5, valuesMax: 10 }
const faultOf = (text: string) => {
  try {
    parseJson(text, limits)
    return null
  } catch (error) {
    return error instanceof HttpProblem ? (error.detail ?? '') : 'not a problem'
  }
}

describe('parseJson', () => {
  it('reads what JSON.parse reads, including every escape in names and strings', () => {
    const wide = { depthMax: 1_000, valuesMax: 1_000_000 }
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 }), (value) => {
        const text = JSON.stringify(value)
        fc.pre(!text.includes('__proto__'))
        expect(parseJson(text, wide)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('returns a value or a problem for any text', () => {
    const piece = fc.constantFrom(
      ...['{', '}', '[', ']', '"', '\\', ':', ',', '1e9', '-', ' ', 'a'],
    )
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        expect(faultOf(pieces.join(''))).not.toBe('not a problem')
      }),
    )
  })

  it.each([
    ['nesting beyond the limit', '[[[[[[1]]]]]]', 'nesting'],
    ['nesting that is never closed', '['.repeat(100_000), 'nesting'],
    ['a name twice', '{"a":1,"a":2}', 'twice'],
    ['a name twice in two spellings', '{"a":1,"\\u0061":2}', 'twice'],
    ['the name of a prototype', '{"__proto__":{}}', '__proto__'],
    ['the same in escapes', '{"\\u005f_proto__":{}}', '__proto__'],
    ['the same further down', '{"a":[{"__proto__":1}]}', '__proto__'],
    ['a number beyond all numbers', '{"a":1e999}', 'number'],
    ['a number of a thousand digits', '1'.repeat(1_000), 'number'],
    [
      'too many names',
      JSON.stringify(Object.fromEntries([...Array(11)].map((_, i) => [i, i]))),
      'more than 10 values',
    ],
    ['too many members of lists', '[[0,0,0,0],[0,0,0,0,0,0]]', 'more than 10 values'],
    ['too many empty members', '[{},{},{},{},[],{}]', 'more than 10 values'],
    ['half a text', '{"a":', 'not JSON'],
    ['a string without an end', '{"a":"', 'never closed'],
  ])('refuses %s', (_, text, word) => {
    expect(faultOf(text)).toContain(word)
  })

  it('accepts the same name in two objects, and braces inside strings', () => {
    expect(faultOf('[{"a":1},{"a":2},"{{{[[[[[[","\\"",{"b":"__proto__"}]')).toBeNull()
  })

  it('counts no commas and braces inside strings', () => {
    expect(faultOf('{"a,{[":",,,,,,,,,,{{","b":[0,0,0,0,0,0,0]}')).toBeNull()
  })

  it('takes linear time for any input [checklist 19]', () => {
    const wide = { depthMax: 64, valuesMax: 1_000_000 }
    const shapes = [
      (size: number) => `"${'\\\\'.repeat(size / 2)}"`,
      (size: number) => `[${'"",'.repeat(size / 3)}""]`,
      (size: number) => `{"${'a'.repeat(size)}":1}`,
      (size: number) => `${'1'.repeat(size)}`,
      (size: number) => `${' '.repeat(size)}1`,
      (size: number) => `["a"${' '.repeat(size)}]`,
      (size: number) => '"a" '.repeat(size / 4),
    ]
    for (const shape of shapes) {
      const prepare = (size: number) => {
        const text = shape(size)
        return () => faultWith(text, wide)
      }
      expect(costOfTenfold(prepare, { size: 100_000, floorMs: 0 })).toBeLessThan(15)
    }
  })
})

function faultWith(text: string, wide: typeof limits): void {
  try {
    parseJson(text, wide)
  } catch {
    // Only the time matters here.
  }
}
