import { describe, expect, it } from 'vitest'
import { killRuns } from './kill-runs.ts'

describe('a loop of a framework that is killed', () => {
  it('runs no tool twice and records each turn once', async () => {
    const lines = [5, 2]
    const { kills, findings } = await killRuns('ai', 2, () => lines.shift() ?? 1)
    expect(findings).toEqual([])
    expect(kills).toBe(2)
  }, 120_000)

  // The second line is the end of the first tool call, which its framework has not seen yet.
  it('does not run a tool again that has ended, with another framework', async () => {
    const { kills, findings } = await killRuns('runner', 1, () => 2)
    expect(findings).toEqual([])
    expect(kills).toBe(1)
  }, 120_000)

  it('pays twice without the adapter', async () => {
    const { findings } = await killRuns('ai-bare', 1, () => 2)
    expect(findings).toContain('happened 2 times: end order-1')
  }, 120_000)
})
