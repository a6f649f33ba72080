import { expect, it } from 'vitest'
import { Sample } from './sample.ts'

it('keeps most of what it knows when there is one key more than room', () => {
  const sample = new Sample<number, number>(100)
  let found = 0
  for (let round = 0; round < 10; round++) {
    for (let key = 0; key <= 100; key++) {
      if (sample.get(key) === key) found++
      sample.set(key, key)
    }
  }
  expect(found).toBeGreaterThan(800)
})

it('never holds more than it has room for', () => {
  const sample = new Sample<number, number>(3)
  for (let key = 0; key < 50; key++) sample.set(key, key)
  const left = Array.from({ length: 50 }, (_, key) => sample.get(key)).filter(
    (value) => value !== undefined,
  )
  expect(left).toHaveLength(3)
  expect(left).toContain(49)
})
