import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FAULTS } from './faults.ts'
import {
  collectCovers,
  DOCUMENTS,
  missingIn,
  placeOf,
  readTags,
  unknownIn,
  writeTable,
} from './tables.ts'

const covers = collectCovers()

describe.each(DOCUMENTS)('$path', (document) => {
  it('matches the titles of the tests (npm run tables)', () => {
    expect(readFileSync(placeOf(document), 'utf8')).toBe(writeTable(document, covers))
  })

  it('has a test in every row, and it is one that `npm test` runs', () => {
    const short = covers.filter(({ file }) => !file.endsWith('.full.test.ts'))
    expect(missingIn(document, short)).toEqual([])
  })
})

describe('the tags in titles', () => {
  it('name only rows of the tables', () => {
    expect(unknownIn(covers)).toEqual([])
  })

  it('number the faults without a gap', () => {
    let next = 1
    for (const [group, first, names] of FAULTS) {
      expect([group, first]).toEqual([group, next])
      next += names.length
    }
  })

  it('are single marks, lists and ranges, beside other marks', () => {
    const line = (tag: string) => `  it('a law ${tag}', () => {})`
    const read = (tag: string) => readTags('packages/core/src/store/x.test.ts', line(tag))
    expect(read('[fault 12]')).toEqual([
      { kind: 'D', file: 'packages/core/src/store/x.test.ts', title: 'a law', marks: ['fault 12'] },
    ])
    expect(read('[I1-I9, faults 1-3, 9]')[0]?.marks).toEqual([
      ...['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I8', 'I9'],
      ...['fault 1', 'fault 2', 'fault 3', 'fault 9'],
    ])
    expect(read('[S17, D2-D3, I5, fault 39]')[0]?.marks).toEqual([
      'S17',
      'D2',
      'D3',
      'I5',
      'fault 39',
    ])
    expect(read('[I26]')[0]?.marks).toEqual(['I26'])
    expect(read('[1, 2]')).toEqual([])
    expect(unknownIn(read('[S31, I42, faults 0, 88, 89]'))).toEqual([
      ...['S31', 'I42', 'fault 0', 'fault 89'],
    ])
    expect(() => read('[fault 1] and more')).toThrow('at the end of a title')
  })
})
