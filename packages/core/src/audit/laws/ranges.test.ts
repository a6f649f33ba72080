import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RangeSet } from './ranges.ts'

const range = fc
  .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 9 }))
  .map(([from, more]) => ({ from, to: from + more }))
const ranges = fc.array(range, { maxLength: 30 })

function setOf(list: readonly { from: number; to: number }[]): RangeSet {
  const set = new RangeSet()
  for (const { from, to } of list) set.add(from, to)
  return set
}

function numbersOf(list: Iterable<{ from: number; to: number }>): number[] {
  return [...list].flatMap(({ from, to }) =>
    Array.from({ length: to - from + 1 }, (_, at) => from + at),
  )
}

const inOrder = (numbers: Iterable<number>) => [...new Set(numbers)].sort((a, b) => a - b)

it('contains the same numbers as a set, added in any order', () => {
  fc.assert(
    fc.property(ranges, (list) => {
      const set = setOf(list)
      const numbers = numbersOf(list)
      expect(numbersOf(set.ranges())).toEqual(inOrder(numbers))
      expect(set.size).toBe(new Set(numbers).size)
      expect(set.max).toBe(Math.max(0, ...numbers))
      const { doubled } = set
      expect(doubled !== null).toBe(new Set(numbers).size < numbers.length)
      if (doubled !== null)
        expect(numbers.filter((one) => one === doubled).length).toBeGreaterThan(1)
    }),
  )
})

it('removes the numbers of other ranges', () => {
  fc.assert(
    fc.property(ranges, ranges, ranges, (own, one, other) => {
      const gone = new Set(numbersOf([...one, ...other]))
      const left = numbersOf(setOf(own).without(setOf(one), setOf(other)))
      expect(left).toEqual(inOrder(numbersOf(own).filter((each) => !gone.has(each))))
    }),
  )
})

it('keeps consecutive numbers as one range, added in any order', () => {
  const rows = Array.from({ length: 5_000 }, (_, at) => ({ from: at + 1, to: at + 1 }))
  const shuffled = [
    ...rows.filter(({ from }) => from % 2 === 0),
    ...rows.filter(({ from }) => from % 2),
  ]
  for (const list of [rows, shuffled, rows.toReversed()]) {
    expect([...setOf(list).ranges()]).toEqual([{ from: 1, to: 5_000 }])
  }
})
