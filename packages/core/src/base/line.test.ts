import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clip, indentLines, indentRest, oneLine, splitsCharacter } from './line.ts'

describe('oneLine', () => {
  it('replaces every run of white space by one space, and removes it at the ends', () => {
    expect(oneLine(' a\n\t b\u0085c\u2028d ')).toBe('a b c d')
  })
})

describe('foreign text under a label', () => {
  const BREAKS = ['\n', '\r\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029']

  it.each(BREAKS)('is indented after %j', (end) => {
    expect(indentLines(`a${end}b`)).toBe('  a\n  b')
    expect(indentRest(`a${end}b`)).toBe('a\n  b')
  })

  it('leaves empty lines empty', () => {
    expect(indentLines('a\n\nb')).toBe('  a\n\n  b')
    expect(indentRest('\na')).toBe('\n  a')
    expect(indentRest('')).toBe('')
  })
})

describe('clip', () => {
  it('cuts a text that is too long, and says so within the limit', () => {
    expect([clip('abcd', 4), clip('abcde', 4)]).toEqual(['abcd', 'abc…'])
    expect([clip('x'.repeat(160)).length, clip('x'.repeat(161)).length]).toEqual([160, 160])
    expect(clip('x'.repeat(161)).endsWith('…')).toBe(true)
  })

  it('leaves out a whole character where the cut would split it', () => {
    expect(clip('ab😀cd', 4)).toBe('ab…')
    expect(clip('a😀bcd', 4)).toBe('a😀…')
  })

  it('never splits a character, and loses no more than one', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 30 })
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 30 }), (whole, max) => {
        const cut = clip(whole, max)
        expect(cut.isWellFormed()).toBe(true)
        expect(cut.length).toBeLessThanOrEqual(max)
        if (whole.length <= max) expect(cut).toBe(whole)
        else expect(cut.length).toBeGreaterThanOrEqual(max - 1)
      }),
    )
  })
})

describe('splitsCharacter', () => {
  it('is true only between the two halves of a character', () => {
    const text = 'a😀b'
    expect([0, 1, 2, 3, 4].map((index) => splitsCharacter(text, index))).toEqual([
      ...[false, false, true, false, false],
    ])
    expect(splitsCharacter('a\ude00', 1)).toBe(false)
    expect(splitsCharacter('\ud83da', 1)).toBe(false)
  })
})
