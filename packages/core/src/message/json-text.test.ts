import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../../../test/support/seeded-random.ts'
import { findDepthFault, JSON_DEPTH_MAX, scanDocument } from './json-text.ts'

function parses(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

describe('scanDocument', () => {
  it('finds the end of every document that JSON.parse accepts', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom('', ' ', '\n\t'), (text, blank) => {
        expect(scanDocument(blank + text + blank, 0)).toBe(blank.length + text.length)
      }),
    )
  })

  it('finds a fault exactly where JSON.parse refuses', () => {
    const damage = fc.record({
      text: fc.json({ maxDepth: 3 }),
      at: fc.nat(60),
      remove: fc.nat(2),
      insert: fc.constantFrom('', '"', '{', ']', ',', ':', '\\', '0', 'x', '\n', '-', '.', 'e'),
    })
    fc.assert(
      fc.property(damage, ({ text, at, remove, insert }) => {
        const damaged = text.slice(0, at) + insert + text.slice(at + remove)
        const end = scanDocument(damaged, 0)
        const isWhole = typeof end === 'number' && damaged.slice(end).trim() === ''
        expect(isWhole).toBe(parses(damaged))
      }),
      { numRuns: tries(2000) },
    )
  })
})

describe('findDepthFault', () => {
  it('allows the maximum and names the first bracket beyond it', () => {
    const nested = (depth: number) => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`
    expect(findDepthFault(nested(JSON_DEPTH_MAX))).toBeUndefined()
    expect(findDepthFault(nested(JSON_DEPTH_MAX + 2))?.at).toBe(
      (JSON_DEPTH_MAX / 2) * '[{"a":'.length,
    )
  })

  it('reads no brackets inside strings', () => {
    expect(findDepthFault(JSON.stringify(`\\"${'['.repeat(5_000)}\\`))).toBeUndefined()
  })
})
