import { describe, expect, it } from 'vitest'
import { seededRandom } from '../support/seeded-random.ts'
import { killAgent } from './kill-agent.ts'

describe('an agent that is killed 100 times', () => {
  it('runs no tool twice, loses no message and answers each once', async () => {
    const random = seededRandom(18)
    let kills = 0
    while (kills < 100) {
      // Half of them between two lines, half at any moment.
      const round = await killAgent(100 - kills, () =>
        random() < 0.5
          ? { lines: 1 + Math.floor(random() * 20) }
          : { afterMs: 300 + Math.floor(random() * 900) },
      )
      expect(round.findings).toEqual([])
      kills += round.kills
    }
  }, 600_000)
})
