import { expect, it } from 'vitest'
import { measureOutrun, type OutrunTerms } from './outrun.ts'

/** Whether a turn waited for the model: of the time that the model takes, a quarter is enough. */
async function waitsForModel(terms: Pick<OutrunTerms, 'atHardLimit' | 'summaryMs' | 'messages'>) {
  const outrun = await measureOutrun({ ...terms, store: 'memory', paceMs: 0 })
  expect(outrun.compactions).toBeGreaterThan(0)
  return Math.max(...outrun.answersMs) >= terms.summaryMs / 4
}

it('never waits for a model, however slowly it writes the summary', async () => {
  const terms = { atHardLimit: 'digest', summaryMs: 120_000, messages: 16 } as const
  expect(await waitsForModel(terms)).toBe(false)
})

it('would be seen to wait, if turns waited as they once did', async () => {
  const terms = { atHardLimit: 'wait', summaryMs: 10_000, messages: 16 } as const
  expect(await waitsForModel(terms)).toBe(true)
})
