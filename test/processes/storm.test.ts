import { describe, it } from 'vitest'
import { every, proveStorm, STORM_MS_MAX, type StormSize } from './prove-storm.ts'

/** Small beside the storms of `npm run test:full`. */
const STORMS: readonly StormSize[] = [{ processes: 4, kills: 20, failpoints: every(9, 4) }]

describe('kill -9 of agents on one SQLite file', () => {
  it.for(STORMS)(
    '$processes processes, $kills kills: nothing lost, doubled, reordered or renamed [I1-I10, I19, I20, I28, I31, I32, faults 1-10, 12-15, 18, 30, 33]',
    { timeout: STORM_MS_MAX },
    proveStorm,
  )
})
