import { describe, expect, it } from 'vitest'
import { bundle, PROGRAMS } from './bundle.ts'

describe('a bundle of the pure part', () => {
  it.each([
    ['compactMessages, openaiChat', 65_000],
    ['compactMessages, all formats', 73_000],
  ])('imports nothing of Node and keeps its size: %s', async (name, most) => {
    const { imports, gzipped } = await bundle(PROGRAMS[name] ?? '')
    expect(imports).toEqual([])
    expect(gzipped).toBeLessThanOrEqual(most)
    expect(gzipped).toBeGreaterThan(10_000)
  })

  it('leaves out what is not imported', async () => {
    const { bytes } = await bundle(PROGRAMS['isThroughlineError alone'] ?? '')
    expect(bytes).toBeLessThan(1_000)
  })
})
