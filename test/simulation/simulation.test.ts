import { describe, expect, it } from 'vitest'
import { runOnAllCores } from './cores.ts'
import { runSeed } from './run.ts'
import { missingCounters } from './tally.ts'

const SEEDS = 10_000

describe('the simulation', () => {
  it(`keeps every law after every step of ${SEEDS} seeds, and makes every bad moment`, async () => {
    const tally = await runOnAllCores(1, SEEDS)
    expect(
      tally.violations.map(({ seed, law }) => `${law}: npm run sim -- --seed ${seed} --trace`),
    ).toEqual([])
    expect(missingCounters(tally)).toEqual([])
    expect(tally.seeds).toBe(SEEDS)
  }, 230_000)

  it('gives the same run for the same seed, event for event', async () => {
    const [first, second] = [await runSeed(7, undefined, true), await runSeed(7, undefined, true)]
    expect(first.trace.length).toBeGreaterThan(100)
    expect(second.trace).toEqual(first.trace)
  })
})
