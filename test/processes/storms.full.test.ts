import { describe, it } from 'vitest'
import { every, proveStorm, STORM_MS_MAX, type StormSize } from './prove-storm.ts'

/** They compete for different resources, so they run in parallel. */
const STORMS: readonly StormSize[] = [
  { processes: 1, kills: 20, failpoints: [] },
  { processes: 4, kills: 60, failpoints: every(3, 0) },
  { processes: 9, kills: 75, failpoints: every(3, 1) },
  { processes: 13, kills: 87, failpoints: every(3, 2) },
]

describe.concurrent('kill -9 of agents on one SQLite file', () => {
  it.for(STORMS)(
    '$processes processes, $kills kills: nothing lost, doubled, reordered or renamed [I1-I10, I19, I20, I28, I31, I32, faults 1-10, 12-15, 18, 30, 33]',
    { timeout: STORM_MS_MAX },
    proveStorm,
  )
})
