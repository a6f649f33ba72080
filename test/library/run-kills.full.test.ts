import { describe, expect, it } from 'vitest'
import { seededRandom } from '../support/seeded-random.ts'
import { type Host, killRuns } from './kill-runs.ts'

describe('a loop of a framework that is killed 100 times', () => {
  it.each<Host>(['ai', 'ai-stream', 'ai6', 'ai6-stream', 'langchain', 'langgraph', 'runner'])(
    'runs no tool twice and records each turn once, with %s',
    async (host) => {
      const random = seededRandom(18)
      let kills = 0
      while (kills < 100) {
        const round = await killRuns(host, 100 - kills, () => 1 + Math.floor(random() * 5))
        expect(round.findings).toEqual([])
        kills += round.kills
      }
    },
    900_000,
  )
})
