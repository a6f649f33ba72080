import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fixedTokensMax, limitsFor, WindowTooSmallError } from './limits.ts'

describe('limitsFor', () => {
  it('divides a window so that the parts fit beside the pins, or refuses', () => {
    const windows = fc.integer({ min: 1_000, max: 2_000_000 })
    const fixed = fc.integer({ min: 0, max: 20_000 })
    fc.assert(
      fc.property(windows, fixed, (windowTokens, fixedTokens) => {
        if (fixedTokens > fixedTokensMax({ windowTokens })) {
          expect(() => limitsFor({ windowTokens, fixedTokens })).toThrow(WindowTooSmallError)
          return
        }
        const limits = limitsFor({ windowTokens, fixedTokens })
        const { pinTokens, handoffTokens, inputTokens, stepTokens, outputTokens } = limits
        const sum = pinTokens + handoffTokens + inputTokens + stepTokens + outputTokens
        expect(sum).toBeLessThanOrEqual(limits.hardTokens)
        expect(pinTokens).toBeGreaterThanOrEqual(fixedTokens + Math.floor(windowTokens * 0.05))
        for (const part of [handoffTokens, inputTokens, stepTokens]) {
          expect(part).toBeGreaterThanOrEqual(Math.floor(windowTokens / 10))
        }
      }),
    )
  })

  it('gives each part a quarter if there is space, and less beside many tools', () => {
    const roomy = { handoffTokens: 25_000, inputTokens: 25_000, stepTokens: 25_000 }
    expect(limitsFor({ windowTokens: 100_000, fixedTokens: 2_000 })).toMatchObject(roomy)
    const { handoffTokens } = limitsFor({ windowTokens: 8_000, fixedTokens: 1_500 })
    expect(handoffTokens).toBeGreaterThan(1_600)
    expect(handoffTokens).toBeLessThan(2_000)
  })
})
