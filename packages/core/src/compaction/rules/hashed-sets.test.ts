import { describe, expect, it } from 'vitest'
import { writeHashedSets } from '../../../../../bench/rules/write-hashed-sets.ts'
import { readHashedSets } from './hashed-sets.ts'

describe('hashed sets', () => {
  const named = (name: string, count: number) =>
    Array.from({ length: count }, (_, number) => `${name} ${number}`)
  const sets = new Map([
    ['few', named('few', 3)],
    ['many', named('many', 700)],
    ['one', ['один']],
  ])
  const labelOf = readHashedSets(writeHashedSets(sets, 10))

  it('contain every word they were made of', () => {
    for (const [label, words] of sets)
      expect(new Set(words.map(labelOf)), label).toEqual(new Set([label]))
  })

  it('contain hardly any other word', () => {
    const taken = named('other', 10_000).filter((word) => labelOf(word) !== undefined)
    // Of 1,024 one, so about ten.
    expect(taken.length).toBeGreaterThan(1)
    expect(taken.length).toBeLessThan(30)
  })
})
