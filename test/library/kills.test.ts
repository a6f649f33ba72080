import { describe, expect, it } from 'vitest'
import { killAgent } from './kill-agent.ts'

describe('an agent that is killed', () => {
  it('runs no tool twice, loses no message and answers each once', async () => {
    let number = 0
    const { kills, findings } = await killAgent(6, () => [3, 1, 6, 2, 5, 4][number++ % 6] ?? 1)
    expect(findings).toEqual([])
    expect(kills).toBeGreaterThan(3)
  }, 120_000)
})
