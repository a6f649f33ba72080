import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { user } from '../../../../../test/support/builders.ts'
import { type Coverage, coverageOf } from './coverage.ts'

const WORD =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{2,}|[\p{L}\p{N}_]{4,}/gu
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

/** The stems by their definition: slow, but obviously correct. */
function stemsOf(text: string): readonly string[] {
  return [...text.toLowerCase().matchAll(WORD)].flatMap(([word]) =>
    DENSE.test(word)
      ? Array.from({ length: word.length - 1 }, (_, at) => word.slice(at, at + 2))
      : [word.slice(0, 6)],
  )
}

function expectedOf(text: string, stretches: readonly string[]): Coverage {
  const own = new Set(stemsOf(text))
  const sets = stretches.map((stretch) => new Set(stemsOf(stretch)))
  const counts = sets.map((stems) => {
    const only = [...stems].filter((stem) => sets.filter((set) => set.has(stem)).length === 1)
    return { all: only.length, named: only.filter((stem) => own.has(stem)).length }
  })
  const known = counts.filter(({ all }) => all >= 20)
  const sum = (of: 'all' | 'named') => known.reduce((total, each) => total + each[of], 0)
  return {
    stretches: known.length,
    mentioned: known.filter(({ named }) => named >= 2).length,
    named: sum('named'),
    distinctive: sum('all'),
  }
}

/** Letters of several scripts, some outside the basic plane, with and without spaces. */
const letter = fc.constantFrom(...'abcdefgXYZ019_ éßжЯ港の地カ한글𠮷𝒜😀.-\n\u0301\ud800')
/** Words that several texts share, alone and inside a run of an unspaced script. */
const word = fc.constantFrom('deploy ', '港deploy', 'port9000 ', 'port9000地', 'größe ', 'größeの')
const piece = fc.oneof({ weight: 4, arbitrary: letter }, { weight: 1, arbitrary: word })
const text = fc.array(piece, { minLength: 100, maxLength: 300 }).map((pieces) => pieces.join(''))

describe('coverageOf', () => {
  it('counts the stems of every script by their definition', () => {
    fc.assert(
      fc.property(text, fc.array(text, { minLength: 5, maxLength: 5 }), (own, stretches) => {
        const found = coverageOf(own, stretches.map(user))
        expect(found).toEqual(expectedOf(own, stretches))
      }),
    )
  })
})
