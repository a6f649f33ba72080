import { describe, expect, it } from 'vitest'
import { killAgent } from './kill-agent.ts'

describe('an agent that is killed', () => {
  it('runs no tool twice, loses no message and answers each once', async () => {
    const deaths = [3, 12, 8, 20]
    const { kills, findings } = await killAgent(4, () => ({ lines: deaths.pop() ?? 1 }))
    expect(findings).toEqual([])
    expect(kills).toBe(4)
  }, 120_000)
})
