import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { calibrated, observe, predictNext, UNCALIBRATED } from './calibration.ts'

function learn(growths: readonly { estimated: number; reported: number }[]) {
  return growths.reduce(observe, UNCALIBRATED)
}

describe('observe', () => {
  it('finds a steady bias [fault 59]', () => {
    const high = learn(Array(60).fill({ estimated: 1_000, reported: 1_200 }))
    expect(high.ratio).toBeGreaterThan(1.17)
    expect(high.ratio).toBeLessThanOrEqual(1.2)
    const low = learn(Array(60).fill({ estimated: 1_000, reported: 800 }))
    expect(low.ratio).toBeLessThan(0.83)
    expect(low.ratio).toBeGreaterThanOrEqual(0.8)
  })

  it('moves the ratio by at most a tenth for one odd bill', () => {
    const growth = fc.record({
      estimated: fc.integer({ min: 1, max: 1_000_000 }),
      reported: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    })
    fc.assert(
      fc.property(fc.array(growth, { maxLength: 40 }), growth, (before, odd) => {
        const calibration = learn(before)
        expect(Math.abs(observe(calibration, odd).ratio - calibration.ratio)).toBeLessThan(0.1001)
      }),
    )
  })

  it('stays within bounds for any reported usage', () => {
    const anything = fc.record({ estimated: fc.double(), reported: fc.double() })
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 60 }), (growths) => {
        const { ratio } = learn(growths)
        expect(ratio).toBeGreaterThanOrEqual(0.6)
        expect(ratio).toBeLessThanOrEqual(1.7)
      }),
    )
  })

  it('ignores a compaction, a lost cache and an empty growth', () => {
    const calibration = learn([{ estimated: 1_000, reported: 1_100 }])
    expect(observe(calibration, { estimated: 1_000, reported: -90_000 })).toBe(calibration)
    expect(observe(calibration, { estimated: 1_000, reported: 80_000 })).toBe(calibration)
    expect(observe(calibration, { estimated: 0, reported: 500 })).toBe(calibration)
  })

  it('unlearns an old bias when the provider changes', () => {
    const before = learn(Array(60).fill({ estimated: 1_000, reported: 1_300 }))
    let after = before
    for (let call = 0; call < 200; call++)
      after = observe(after, { estimated: 1_000, reported: 900 })
    expect(Math.abs(after.ratio - 0.9)).toBeLessThan(0.03)
  })
})

describe('predictNext', () => {
  it('adds the corrected growth to the last bill', () => {
    const calibration = { ratio: 1.25, weight: 10_000 }
    expect(calibrated(calibration, 1_000)).toBe(1_250)
    expect(predictNext({ lastReportedTotal: 50_000, estimatedGrowth: 1_000, calibration })).toBe(
      51_250,
    )
  })

  it('an uncalibrated prediction is the estimate itself', () => {
    const known = { lastReportedTotal: 50_000, estimatedGrowth: 1_000, calibration: UNCALIBRATED }
    expect(predictNext(known)).toBe(51_000)
  })
})
