import { expect } from 'vitest'
import { Cores } from '../cores.ts'
import { missingCounters, tallyUp } from '../tally.ts'

const SEEDS_PER_ROUND = 500

/** At least so many seeds, and as many more as it takes until every bad moment has happened. */
export async function proveSeeds({
  least,
  most,
}: {
  readonly least: number
  readonly most: number
}): Promise<void> {
  const cores = new Cores()
  let tally = await cores.run(1, least)
  while (missingCounters(tally).length > 0 && tally.seeds < most)
    tally = tallyUp([tally, await cores.run(tally.seeds + 1, SEEDS_PER_ROUND)])
  await cores.close()
  expect(
    tally.violations.map(({ seed, law }) => `${law}: npm run sim -- --seed ${seed} --trace`),
  ).toEqual([])
  expect(missingCounters(tally)).toEqual([])
  expect(tally.seeds).toBeGreaterThanOrEqual(least)
}
