import { expect, it } from 'vitest'
import { SampledMap } from './sampled-map.ts'

it('keeps most of its entries when a key exceeds its size', () => {
  const map = new SampledMap<number, number>(100)
  let found = 0
  for (let round = 0; round < 10; round++) {
    for (let key = 0; key <= 100; key++) {
      if (map.get(key) === key) found++
      map.set(key, key)
    }
  }
  expect(found).toBeGreaterThan(800)
})

it('never holds more entries than its size', () => {
  const map = new SampledMap<number, number>(3)
  for (let key = 0; key < 50; key++) map.set(key, key)
  const left = Array.from({ length: 50 }, (_, key) => map.get(key)).filter(
    (value) => value !== undefined,
  )
  expect(left).toHaveLength(3)
  expect(left).toContain(49)
})
