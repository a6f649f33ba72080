import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { renderJson } from './json.ts'

describe('renderJson', () => {
  it('writes what JSON.stringify writes', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue())),
        (value) => {
          expect([...renderJson(value)].join('')).toBe(`${JSON.stringify(value, undefined, 2)}\n`)
        },
      ),
    )
  })

  it('leaves out undefined fields, and writes empty lists and objects on one line', () => {
    const value = { a: undefined, b: [], c: {}, d: [{}, [], 'line\nend'], e: null }
    expect([...renderJson(value)].join('')).toBe(`${JSON.stringify(value, undefined, 2)}\n`)
  })

  it('holds a small part of a long list at a time', () => {
    const value = { rows: Array.from({ length: 20_000 }, (_, id) => ({ id, text: 'a few words' })) }
    const pieces = [...renderJson(value)]
    expect(pieces.join('')).toBe(`${JSON.stringify(value, undefined, 2)}\n`)
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(70_000)
  })
})
