import { describe, expect, it } from 'vitest'
import { findingsOf } from './checker.ts'
import { FAILPOINTS } from './failpoints.ts'
import { runStorm, type Storm, seeded } from './storm.ts'

/** 300 kills with those on PostgreSQL. They contend for different things: they run side by side. */
const STORMS: readonly Pick<Storm, 'processes' | 'kills' | 'failpoints'>[] = [
  { processes: 1, kills: 20, failpoints: [] },
  { processes: 4, kills: 75, failpoints: third(0) },
  { processes: 9, kills: 75, failpoints: third(1) },
  { processes: 13, kills: 87, failpoints: third(2) },
]

function third(which: number): readonly string[] {
  return FAILPOINTS.filter((_, index) => index % 3 === which)
}

const SEED = Number(process.env['THROUGHLINE_SEED'] ?? Math.floor(Math.random() * 1e6))
const STORM_MS_MAX = 400_000
/** Of the twenty failpoints of a storm. */
const MISSED_MAX = 3

describe.concurrent('kill -9 of agents on one SQLite file', () => {
  it.for(STORMS)(
    '$processes processes, $kills kills: nothing lost, doubled, reordered or renamed [I1-I10, I19, I20, I28, I31, I32, faults 1-10, 12-15, 18, 30, 33]',
    { timeout: STORM_MS_MAX },
    async (storm, { onTestFailed, onTestFinished }) => {
      onTestFailed(() => console.log(`THROUGHLINE_SEED=${SEED}`))
      const end = await runStorm({ ...storm, random: seeded(SEED) })
      const { verdict, kills, missed } = end
      onTestFinished(() => end.remove())
      expect(findingsOf(verdict)).toEqual([])
      // Whether a rare moment comes within its tries depends on the machine; what must hold does not.
      if (missed.length > 0) console.log(`failpoints not reached: ${missed.join(', ')}`)
      expect(missed.length).toBeLessThanOrEqual(MISSED_MAX)
      expect(kills).toBeGreaterThanOrEqual(storm.kills)
      expect(verdict.counts.acknowledged).toBeGreaterThan(storm.kills)
      expect(verdict.counts.compactions).toBeGreaterThan(0)
    },
  )
})
