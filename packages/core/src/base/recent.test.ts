import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Recent } from './recent.ts'

describe('Recent', () => {
  it('keeps the entries that were set last, and never more than its size', () => {
    const keys = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 })
    fc.assert(
      fc.property(keys, fc.integer({ min: 1, max: 8 }), (set, sizeMax) => {
        const recent = new Recent<number, string>(sizeMax)
        for (const key of set) recent.set(key, `${key}`)
        const newest = [...new Set(set.toReversed())].slice(0, sizeMax)
        expect([...recent.values()].toReversed()).toEqual(newest.map(String))
        expect(recent.size).toBe(newest.length)
        for (let key = 0; key <= 20; key++) expect(recent.has(key)).toBe(newest.includes(key))
      }),
    )
  })
})
