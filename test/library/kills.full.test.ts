import { describe, expect, it } from 'vitest'
import { seededRandom } from '../support/seeded-random.ts'
import { killAgent } from './kill-agent.ts'

describe('an agent that is killed 100 times', () => {
  it('runs no tool twice, loses no message and answers each once', async () => {
    const random = seededRandom(18)
    let kills = 0
    while (kills < 100) {
      const round = await killAgent(100 - kills, () => 1 + Math.floor(random() * 6))
      expect(round.findings).toEqual([])
      kills += round.kills
    }
  }, 600_000)
})
