import { expect, it } from 'vitest'
import { measureOutrun } from './outrun.ts'

const SUMMARY_MS = 120_000

it('never waits for a model, however slowly it writes the summary', async () => {
  const { answersMs, compactions } = await measureOutrun({
    ...{ atHardLimit: 'digest', store: 'memory', summaryMs: SUMMARY_MS, paceMs: 0, messages: 16 },
  })
  expect(compactions).toBeGreaterThan(0)
  expect(Math.max(...answersMs)).toBeLessThan(SUMMARY_MS / 2)
})
