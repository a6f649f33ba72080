import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { costOfTenfold } from '../../../../../test/support/timing.ts'
import { stem } from './languages/stem.ts'
import { passagesOf, questionOf, searchedText, wordsOf } from './words.ts'

describe('stem', () => {
  // From the published vocabulary of the algorithm.
  it.each([
    ['caresses', 'caress'],
    ['ponies', 'poni'],
    ['cats', 'cat'],
    ['feed', 'feed'],
    ['agreed', 'agre'],
    ['plastered', 'plaster'],
    ['motoring', 'motor'],
    ['sing', 'sing'],
    ['conflated', 'conflat'],
    ['troubled', 'troubl'],
    ['hopping', 'hop'],
    ['falling', 'fall'],
    ['filing', 'file'],
    ['happy', 'happi'],
    ['sky', 'sky'],
    ['relational', 'relat'],
    ['conditional', 'condit'],
    ['digitizer', 'digit'],
    ['operator', 'oper'],
    ['feudalism', 'feudal'],
    ['triplicate', 'triplic'],
    ['hopefulness', 'hope'],
    ['goodness', 'good'],
    ['revival', 'reviv'],
    ['allowance', 'allow'],
    ['adjustment', 'adjust'],
    ['adoption', 'adopt'],
    ['effective', 'effect'],
    ['probate', 'probat'],
    ['cease', 'ceas'],
    ['controll', 'control'],
    ['roll', 'roll'],
  ])('%s becomes %s', (word, root) => {
    expect(stem(word)).toBe(root)
  })

  it('leaves short words and other scripts alone', () => {
    for (const word of ['is', 'naïve2', '42', 'дела']) expect(stem(word)).toBe(word)
  })
})

describe('wordsOf', () => {
  it('folds case and marks, and cuts paths and identifiers at their signs', () => {
    expect(wordsOf('Café src/store_main.ts v2')).toEqual([
      'cafe',
      'src',
      'store',
      'main',
      'ts',
      'v2',
    ])
  })

  it('gives the same roots that existing stores have indexed', () => {
    const sample =
      'Ärger: 3 deployments FAILED_at /srv/app-2; 設計のレビュー, naïve don\u2019t \u00bd went indexSome'
    const { passages } = passagesOf({ kind: 'input', body: JSON.stringify(sample) })
    // If this changes, each engine needs a migration that empties its word index.
    expect([...(passages[0]?.roots ?? [])].join(' ')).toMatchInlineSnapshot(
      `"arger 3 deploy fail at srv app 2 設計 計の のレ レヒ ヒュ ュー naiv don t 1 go indexsom -index -some"`,
    )
    expect(passages).toMatchObject([{ words: 19, distinct: 18 }])
  })

  it('cuts text in a script without spaces into pairs', () => {
    expect(wordsOf('設計書ok')).toEqual(['設計', '計書', 'ok'])
  })

  it('gives words of letters and digits only for any text, at most 32 for a question', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        const words = questionOf(text, new Set(['en']))
        expect(words.length).toBeLessThanOrEqual(32)
        for (const { word } of words) expect(word).toMatch(/^[\p{L}\p{N}]+$/u)
      }),
    )
  })

  it('takes time in proportion to the text', () => {
    const prepare = (size: number) => {
      const text = 'a\u0301'.repeat(size / 2)
      return () => wordsOf(text)
    }
    expect(costOfTenfold(prepare, { size: 100_000, floorMs: 10 })).toBeLessThan(15)
  })
})

describe('textOf', () => {
  it('includes text, tool names and arguments, and leaves out ids and image data', () => {
    const body = JSON.stringify({
      role: 'assistant',
      parts: [
        { type: 'text', text: 'look' },
        { type: 'tool-call', id: 'c1', name: 'run', input: { command: 'npm test', type: 'bug' } },
        { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' } },
      ],
    })
    expect(searchedText({ body }).split('\n')).toEqual(['look', 'run', 'npm test', 'bug'])
    expect(searchedText({ body: null })).toBe('')
  })
})
