import { describe, expect, it } from 'vitest'
import { unfinished } from './quick.ts'

describe('test files that run again', () => {
  const batch = ['a', 'b', 'c', 'd']
  const begun = new Set(['a', 'b'])

  it('are none after a process that came to its end', () => {
    expect(unfinished(batch, { active: 7, begun, isHeldUp: false })).toEqual([])
  })

  it('are the one in which a mutant held the process up, and those behind it', () => {
    expect(unfinished(batch, { active: 7, begun, isHeldUp: true })).toEqual(['b', 'c', 'd'])
  })

  it('are only those behind one that stands still by itself', () => {
    expect(unfinished(batch, { active: 0, begun, isHeldUp: true })).toEqual(['c', 'd'])
  })
})
