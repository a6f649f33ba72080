import { describe, expect, it } from 'vitest'
import { system, turns, user } from '../../../../test/support/builders.ts'
import { estimateMessage } from '../tokens/estimate.ts'
import { compact } from './compact.ts'

/** System text of about this many tokens. */
function text(tokens: number, word: string) {
  const one = system(`${word} `.repeat(100))
  const perWord = estimateMessage(one, 'generic') / 100
  return system(`${word} `.repeat(Math.round(tokens / perWord)))
}

const budget = { windowTokens: 8_000, targetTokens: 2_000 }
const outcomeOf = async (messages: Parameters<typeof compact>[0]) => {
  const { outcome, reason } = await compact(messages, { budget, family: 'generic' })
  return [outcome, reason]
}
const [early, late] = [turns(40), turns(10)]
const tooLarge = ['cannot-fit', 'fixed-part-too-large']

describe('the space of a compaction', () => {
  it('counts system text at the beginning once', async () => {
    const [first] = await outcomeOf([text(1_200, 'rule'), ...early, ...late, user('Next?')])
    expect(first).toBe('compacted')
    const two = [text(600, 'rule'), text(600, 'order'), ...early, ...late, user('Next?')]
    expect((await outcomeOf(two))[0]).toBe('compacted')
    expect(await outcomeOf([text(1_900, 'rule'), ...early, ...late])).toEqual(tooLarge)
  })

  it('counts system text in the middle, which stays wherever the cut is', async () => {
    const [first] = await outcomeOf([...early, text(1_200, 'rule'), ...late])
    expect(first).toBe('compacted')
    expect(await outcomeOf([...early, text(1_900, 'rule'), ...late])).toEqual(tooLarge)
    const both = [text(1_000, 'rule'), ...early, text(900, 'order'), ...late]
    expect(await outcomeOf(both)).toEqual(tooLarge)
  })

  it('counts repeated system text once', async () => {
    const again = [...early, text(1_000, 'rule'), ...late, text(1_000, 'rule'), ...late]
    expect((await outcomeOf(again))[0]).toBe('compacted')
  })
})
