import { expect, type TestContext } from 'vitest'
import { findingsOf } from './checker.ts'
import { FAILPOINTS } from './failpoints.ts'
import { runStorm, type Storm, seeded } from './storm.ts'

export type StormSize = Pick<Storm, 'processes' | 'kills' | 'failpoints'>

export const STORM_MS_MAX = 400_000
const SEED = Number(process.env['THROUGHLINE_SEED'] ?? Math.floor(Math.random() * 1e6))
/** Whether a rare moment occurs within its tries depends on the machine; the laws do not. */
const MISSED_MAX = 3

/** Every third of the failpoints, or every ninth. */
export function every(step: 3 | 9, which: number): readonly string[] {
  return FAILPOINTS.filter((_, index) => index % step === which)
}

/** A storm on one SQLite file ends with nothing lost, doubled, reordered or renamed. */
export async function proveStorm(storm: StormSize, context: TestContext): Promise<void> {
  context.onTestFailed(() => console.log(`THROUGHLINE_SEED=${SEED}`))
  const end = await runStorm({ ...storm, random: seeded(SEED) })
  const { verdict, kills, missed } = end
  context.onTestFinished(() => end.remove())
  expect(findingsOf(verdict)).toEqual([])
  if (missed.length > 0) console.log(`failpoints not reached: ${missed.join(', ')}`)
  expect(missed.length).toBeLessThanOrEqual(MISSED_MAX)
  expect(kills).toBeGreaterThanOrEqual(storm.kills)
  expect(verdict.counts.acknowledged).toBeGreaterThan(storm.kills)
  expect(verdict.counts.compactions).toBeGreaterThan(0)
}
