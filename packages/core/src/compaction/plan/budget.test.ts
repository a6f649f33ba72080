import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { allot, resolveBudget } from './budget.ts'
import type { BudgetSettings } from './defaults.ts'

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

it.each([
  [{ windowTokens: 8_000 }, [7_200, 5_400, 2_520, 1_440]],
  [{ windowTokens: 8_000, outputTokensMax: 500 }, [7_500, 5_625, 2_625, 1_500]],
  [{ windowTokens: 1_000_000, outputTokensMax: 50_000 }, [980_000, 735_000, 343_000, 20_000]],
  [{ windowTokens: 8_000, keepTokens: 5, targetTokens: 100 }, [7_200, 5_400, 100, 5]],
  [{ windowTokens: 8_000, softShare: 0.5, targetShare: 1 }, [7_200, 3_600, 7_200, 1_440]],
  [{ windowTokens: 9_999 }, [9_000, 6_750, 3_150, 1_800]],
])('the limits of %j are %j', (settings, limits) => {
  const { hardTokens, softTokens, targetTokens, keepTokens } = resolveBudget(settings)
  expect([hardTokens, softTokens, targetTokens, keepTokens]).toEqual(limits)
})

it('the presets are those of the systems that they are named after', () => {
  const common = { windowTokens: 200_000, outputTokensMax: 20_000 }
  expect(resolveBudget({}, 'hermes').settings).toEqual({
    ...{ ...common, softShare: 0.5, targetShare: 0.2, protectFirst: 3, protectLast: 20 },
  })
  expect(resolveBudget({}, 'codex').settings).toEqual({
    ...{ ...common, softShare: 0.9, targetShare: 0.35, protectFirst: 0, protectLast: 0 },
    keepTokens: 0,
  })
  expect(resolveBudget({ softShare: 0.1 }, 'codex').settings.softShare).toBe(0.1)
})

describe('allot', () => {
  it.each<[number, Partial<BudgetSettings>, number | undefined, readonly number[]]>([
    // keep, user, ledger, summary, files, tasks
    [-5, {}, undefined, [0, 0, 0, 0, 0, 0]],
    [1_000, {}, undefined, [300, 140, 240, 240, 40, 40]],
    [10_000, {}, undefined, [3_157, 1_473, 2_000, 2_526, 421, 421]],
    [5_000, { ledgerTokens: 3_000, userTokens: 0 }, undefined, [967, 0, 3_000, 774, 129, 129]],
    [4_000, { userTokens: 20_000, ledgerTokens: 20_000 }, undefined, [290, 0, 3_400, 232, 38, 38]],
    [1_000, { summaryTokens: 5_000, keepTokens: 100 }, undefined, [0, 0, 0, 1_000, 0, 0]],
    [3_000, { summaryTokens: 900 }, 500, [986, 460, 789, 500, 131, 131]],
    [3_000, { keepTokens: 0 }, undefined, [0, 600, 1_028, 1_028, 171, 171]],
    [900, { userTokens: 100, keepTokens: 100, ledgerTokens: 700 }, 50, [50, 100, 700, 50, 0, 0]],
    [900, { userTokens: 1, keepTokens: 2, ledgerTokens: 3 }, 4, [2, 1, 3, 4, 445, 445]],
  ])('divides %i tokens of %j, with a summary of %s, as %j', (tokens, settings, summary, parts) => {
    expect(Object.values(allot(tokens, resolveBudget(settings), summary))).toEqual(parts)
  })

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
