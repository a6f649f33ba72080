import { describe, expect, it } from 'vitest'
import { unfinished } from './quick.ts'

describe('test files that run again', () => {
  const batch = ['a', 'b', 'c', 'd']
  const begun = new Set(['a', 'b'])

  it('are none after a process that ended on its own', () => {
    expect(unfinished(batch, { active: 7, begun, isHeldUp: false })).toEqual([])
  })

  it('are the one in which a mutant blocked the process, and those after it', () => {
    expect(unfinished(batch, { active: 7, begun, isHeldUp: true })).toEqual(['b', 'c', 'd'])
  })

  it('are only those after one that hangs on its own', () => {
    expect(unfinished(batch, { active: 0, begun, isHeldUp: true })).toEqual(['c', 'd'])
  })
})
