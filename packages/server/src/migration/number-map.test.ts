import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NumberMap } from './number-map.ts'

describe('NumberMap', () => {
  it('holds what a Map holds, whatever the numbers and however many are expected', () => {
    const key = fc.oneof(fc.maxSafeInteger(), fc.integer({ min: 0, max: 50 }))
    const pairs = fc.array(fc.tuple(key, fc.integer({ min: 1, max: 2 ** 31 - 1 })))
    fc.assert(
      fc.property(fc.nat(100), pairs, fc.array(key), (expected, given, others) => {
        const [map, numbers] = [new Map<number, number>(), new NumberMap(expected)]
        for (const [one, value] of given) {
          map.set(one, value)
          numbers.set(one, value)
        }
        for (const one of [...others, ...map.keys()]) expect(numbers.get(one)).toBe(map.get(one))
      }),
    )
  })
})
