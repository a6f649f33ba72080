import fc from 'fast-check'
import { expect, it } from 'vitest'
import { splitIntoPieces } from './pieces.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)
const split = (texts: readonly string[], tokensMax: number) =>
  splitIntoPieces(texts, { tokensMax, countTokens })

it('has every character in exactly one piece, and no piece too large', () => {
  const word = fc.string({
    unit: fc.constantFrom('a', 'é', '字', '😀', '.'),
    minLength: 1,
    maxLength: 40,
  })
  const text = fc.array(word, { minLength: 1, maxLength: 60 }).map((words) => words.join(' '))
  fc.assert(
    fc.property(
      fc.array(text, { maxLength: 6 }),
      fc.integer({ min: 60, max: 200 }),
      (texts, max) => {
        const pieces = split(texts, max)
        const said = (all: readonly string[]) => all.join('').replaceAll(/\s/g, '')
        expect(said(pieces)).toBe(said(texts))
        for (const piece of pieces) {
          expect(countTokens(piece)).toBeLessThanOrEqual(max)
          expect(piece.isWellFormed()).toBe(true)
        }
      },
    ),
  )
})

it('cuts between words, and in a word only where it is longer than a line', () => {
  const words = Array.from({ length: 200 }, (_, at) => `word-number-${at}`)
  const pieces = split([words.join(' ')], 50)
  expect(pieces.length).toBeGreaterThan(3)
  expect(pieces.flatMap((piece) => piece.split(/\s+/)).filter(Boolean)).toEqual(words)
  const long = 'x'.repeat(5_000)
  expect(split([long], 50).join('').replaceAll(/\s/g, '')).toBe(long)
})

it('fills a piece before it begins the next', () => {
  const texts = Array.from({ length: 10 }, () => 'a'.repeat(36))
  expect(split(texts, 100).map((piece) => piece.split('\n\n').length)).toEqual([10])
  expect(split(texts, 99).map((piece) => piece.split('\n\n').length)).toEqual([9, 1])
  expect(split([], 99)).toEqual([])
})

it.each([
  ['short texts together', ['aaaa', 'bbbb'], 10, ['aaaa\n\nbbbb']],
  ['one more than fits alone', ['aaaa', 'bbbb', 'cccc'], 4, ['aaaa\n\nbbbb', 'cccc']],
  ['a text of the size of a piece', ['a'.repeat(12), 'b'], 4, ['a'.repeat(12), 'b']],
  // It takes a token more than fits: its slices have half a piece of characters each.
  [
    'a longer one in slices between words',
    ['aaa bbb ccc ddd e'],
    5,
    ['aaa \n\nbbb ', 'ccc \n\nddd e'],
  ],
])('packs %s', (_, texts, tokensMax, pieces) => {
  expect(split(texts, tokensMax)).toEqual(pieces)
})

it('cuts a word only if it is longer than 200 characters, and never a character', () => {
  // A slice has 238 characters.
  const sliceOf = (text: string) => split([text], 120)[0]?.split('\n\n')[0]
  const [near, far] = [37, 36].map((at) => `${'a'.repeat(at)} ${'b'.repeat(801 - at)}`)
  expect([sliceOf(near ?? ''), sliceOf(far ?? '')]).toEqual([
    near?.slice(0, 38),
    far?.slice(0, 238),
  ])
  const smile = `${'x'.repeat(237)}😀${'y'.repeat(563)}`
  expect(sliceOf(smile)).toBe(smile.slice(0, 239))
})
