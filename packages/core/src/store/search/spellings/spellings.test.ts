import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../../../../../test/support/timing.ts'
import { spelledIn, spellingsIn } from './spellings.ts'

describe('spellingsIn', () => {
  it.each([
    ['where is MAX_RETRY_COUNT?', ['MAX_RETRY_COUNT']],
    ['open `src/http/retry-policy.ts`.', ['src/http/retry-policy.ts']],
    ['readConfigFile() fails', ['readConfigFile']],
    [
      'at Object.<anonymous> (C:\\app\\main.js:10:5)',
      ['Object.<anonymous', 'C:\\app\\main.js:10:5'],
    ],
    ['npm i @scope/name --save-dev', ['scope/name', 'save-dev']],
    ['std::vector, ptr->next and a.b, a.b', ['std::vector', 'ptr->next', 'a.b']],
    ['定数MAX_COUNTの値', ['MAX_COUNT']],
    ["What didn't Anna say, in May 2024?", []],
    ['the end. - And then: (nothing) "quoted"', []],
    ['', []],
  ])('finds names and paths, not plain words: %s', (question, spellings) => {
    expect(spellingsIn(question)).toEqual(spellings)
  })

  it('finds none in a pasted text, and at most eight', () => {
    expect(spellingsIn(`a_b ${'word '.repeat(40)}`)).toEqual([])
    expect(spellingsIn('a_b\nc_d')).toEqual([])
    expect(spellingsIn(Array.from({ length: 20 }, (_, at) => `a_${at}`).join(' '))).toHaveLength(8)
  })
})

describe('spelledIn', () => {
  const weigh = (text: string) => spelledIn(text, ['MAX_COUNT', 'p1.x1'])

  it('weighs more spellings more, then those in the same case', () => {
    const texts = [
      'max count p1 x1 MAX_COUNTER p1.x12 aMAX_COUNT',
      'max_count',
      'MAX_COUNT',
      'Max_Count P1.X1',
      'max_count p1.x1',
      'MAX_COUNT p1.x1',
    ]
    const weights = texts.map(weigh)
    expect(weights[0]).toBe(0)
    expect(weights).toEqual([...new Set(weights)].toSorted((a, b) => a - b))
  })

  it.each(['p1.x12 src/p1.x1', '"p1.x1"', '定数p1.x1の', 'p1.x1.ts'])(
    'finds a spelling between signs, blanks and letters of other scripts: %s',
    (text) => {
      expect(weigh(text)).toBeGreaterThan(0)
    },
  )

  it('compares letters with their marks, however they are encoded', () => {
    const [one = ''] = spellingsIn('caf\u00e9_name')
    expect(spelledIn('cafe\u0301_name', [one])).toBe(spelledIn('caf\u00e9_name', [one]))
  })

  it('takes linear time for a hostile spelling in a hostile text', () => {
    const spellings = [`${'a_'.repeat(90)}b`, `${'a_'.repeat(90)}a`]
    const prepare = (size: number) => {
      const text = `${'a_'.repeat(size)}${'a'.repeat(size)}`
      return () => spelledIn(text, spellings)
    }
    expect(costOfTenfold(prepare, { size: 10_000, floorMs: 2 })).toBeLessThan(15)
  })
})
