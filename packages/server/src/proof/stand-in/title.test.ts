import { describe, expect, it } from 'vitest'
import { titleOf } from './title.ts'

describe('titleOf', () => {
  it('is the first words that were said, whatever quotes them', () => {
    const text = 'How do I bake bread with rye flour? And how long does it take?'
    expect(titleOf(`===== conversation\n#1 user:\n${text}\n=====`)).toBe(
      'How do I bake bread with rye flour',
    )
    expect(titleOf('')).toBe('')
  })
})
