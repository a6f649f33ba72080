import { expect, test } from 'vitest'
import { cosineTo, packVectors } from './packed-vectors.ts'

const vector = (...values: number[]) => Float32Array.from(values)

test('a stored vector keeps its direction, whatever its length', () => {
  const stored = packVectors([vector(0.3, -0.1, 0.2), vector(-3, 1, -2), vector(0, 0, 0)], 3)
  const cosine = cosineTo(vector(30, -10, 20))
  const of = (place: number) => cosine(new Int8Array(stored.buffer), place)
  expect(of(0)).toBeCloseTo(1, 3)
  expect(of(1)).toBeCloseTo(-1, 3)
  expect(of(2)).toBe(0)
})
