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

// The second line is the end of the first tool call, which its framework has not seen yet.
describe('a loop of a framework that is killed when a tool has ended', () => {
  it.each<Host>(['langchain', 'langgraph'])(
    'does not run the tool again, with %s',
    async (host) => {
      const { kills, findings } = await killRuns(host, 1, () => 2)
      expect(findings).toEqual([])
      expect(kills).toBe(1)
    },
    120_000,
  )

  it.each<Host>(['langchain-bare', 'runner-bare'])(
    'pays twice without the adapter, with %s',
    async (host) => {
      const { findings } = await killRuns(host, 1, () => 2)
      expect(findings).toContain('happened 2 times: end order-1')
    },
    120_000,
  )
})
