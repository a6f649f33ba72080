import { describe, expect, it } from 'vitest'
import { COMPOSITION } from '../simulation/composition.ts'
import { runSeeds } from '../simulation/tally.ts'
import { MUTANTS } from './all.ts'

/** The rarest needs some hundred; most are caught by the first ten. */
const SEEDS_MAX = 2_000

describe('the simulation catches', () => {
  it.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))('%s', async (_name, mutant) => {
    const planted = mutant.plant(COMPOSITION)
    const tally = await runSeeds(1, SEEDS_MAX, planted, ({ violations }) => violations.length > 0)
    const [caught] = tally.violations
    expect(caught, `${mutant.story} Not caught in ${SEEDS_MAX} seeds.`).toBeDefined()
  })

  it('at least thirty of them, each under its own name', () => {
    const names = new Set(MUTANTS.map((mutant) => mutant.name))
    expect(names.size).toBe(MUTANTS.length)
    expect(names.size).toBeGreaterThanOrEqual(30)
  })
})
