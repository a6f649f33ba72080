import { expect, it } from 'vitest'
import { firstOf } from './first-of.ts'

it.each([0, 1, 3, 50, 200])('finds the first %i of a hundred as sorting them does', (count) => {
  let seed = 5
  const scores = Float64Array.from({ length: 100 }, () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return seed % 9
  })
  const items = [...scores.keys()]
  const sorted = items.toSorted((a, b) => (scores[b] as number) - (scores[a] as number) || b - a)
  expect(firstOf(items, count, scores)).toEqual(sorted.slice(0, count))
})
