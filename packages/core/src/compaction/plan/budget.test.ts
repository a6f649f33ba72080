import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { allot, resolveBudget } from './budget.ts'

describe('resolveBudget', () => {
  it('gives the design’s numbers for a window of 200,000', () => {
    expect(resolveBudget()).toMatchObject({
      hardTokens: 180_000,
      softTokens: 135_000,
      targetTokens: 63_000,
      keepTokens: 20_000,
    })
    expect(resolveBudget().settings).toEqual({
      windowTokens: 200_000,
      outputTokensMax: 20_000,
      softShare: 0.75,
      targetShare: 0.35,
      protectFirst: 0,
      protectLast: 0,
    })
  })

  it('reserves at most a tenth of a small window for the answer', () => {
    expect(resolveBudget({ windowTokens: 8_000 }).hardTokens).toBe(7_200)
  })

  it('never aims above the hard limit', () => {
    expect(resolveBudget({ windowTokens: 8_000, targetTokens: 50_000 }).targetTokens).toBe(7_200)
  })

  it('has the limits of Hermes and of Codex as presets', () => {
    const hermes = resolveBudget({ windowTokens: 100_000 }, 'hermes')
    expect(hermes).toMatchObject({ softTokens: 45_000, targetTokens: 18_000 })
    expect(hermes.settings).toMatchObject({ protectFirst: 3, protectLast: 20 })
    const codex = resolveBudget({ windowTokens: 100_000 }, 'codex')
    expect(codex).toMatchObject({ softTokens: 81_000, keepTokens: 0 })
    expect(allot(90_000, codex)).toMatchObject({ keep: 0, user: 20_000 })
  })
})

describe('allot', () => {
  it('gives every section its maximum if the total is large enough', () => {
    expect(allot(63_000, resolveBudget())).toEqual({
      keep: 20_000,
      user: 20_000,
      ledger: 2_000,
      summary: 8_000,
      files: 800,
      tasks: 800,
    })
  })

  it('gives explicitly requested sizes before it divides the rest', () => {
    const budget = resolveBudget({ ledgerTokens: 3_000, userTokens: 0 })
    const allotment = allot(5_000, budget)
    expect(allotment).toMatchObject({ ledger: 3_000, user: 0 })
    expect(allotment.summary).toBeGreaterThan(500)
  })

  it('leaves some tokens for the summary, whatever else is requested', () => {
    const budget = resolveBudget({ userTokens: 20_000, ledgerTokens: 20_000 })
    expect(allot(4_000, budget).summary).toBeGreaterThan(200)
  })

  it('never exceeds the total, nor the maximum of a section', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -100, max: 200_000 }),
        fc.record(
          {
            keepTokens: fc.nat(50_000),
            userTokens: fc.nat(50_000),
            ledgerTokens: fc.nat(5_000),
            summaryTokens: fc.nat(9_000),
          },
          { requiredKeys: [] },
        ),
        (room, settings) => {
          const parts = Object.values(allot(room, resolveBudget(settings)))
          expect(parts.every((tokens) => tokens >= 0)).toBe(true)
          expect(parts.reduce((sum, tokens) => sum + tokens, 0)).toBeLessThanOrEqual(
            Math.max(0, room),
          )
        },
      ),
    )
  })
})
