import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FAULTS } from './faults.ts'
import { collectCovers, coveredBy, DOCUMENT, readTags, unknownIn, writeTable } from './table.ts'

const covers = collectCovers()
const FAULTS_ALL = 88

describe('the table of faults', () => {
  it('is what the titles of the tests say (npm run faults)', () => {
    expect(readFileSync(DOCUMENT, 'utf8')).toBe(writeTable(covers))
  })

  it('has a test for every fault, and none for a fault that is not there', () => {
    expect(unknownIn(covers)).toEqual([])
    expect(coveredBy(covers).size).toBe(FAULTS_ALL)
  })

  it('numbers the faults without a gap', () => {
    let next = 1
    for (const [group, first, names] of FAULTS) {
      expect([group, first]).toEqual([group, next])
      next += names.length
    }
    expect(next).toBe(FAULTS_ALL + 1)
  })

  it('reads single numbers, lists and ranges, beside other marks', () => {
    const line = (tag: string) => `  it('a law ${tag}', () => {})`
    const read = (tag: string) => readTags('src/store/x.test.ts', line(tag))
    expect(read('[fault 12]')).toEqual([
      { kind: 'D', file: 'src/store/x.test.ts', title: 'a law', faults: [12] },
    ])
    expect(read('[I1-I9, faults 1-3, 9, 20-21]')[0]?.faults).toEqual([1, 2, 3, 9, 20, 21])
    expect(read('[I26]')).toEqual([])
    expect(unknownIn(read('[faults 0, 88, 89]'))).toEqual([0, 89])
    expect(() => read('[fault 1] and more')).toThrow('at the end of a title')
  })
})
