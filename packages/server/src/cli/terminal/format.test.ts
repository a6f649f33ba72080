import { describe, expect, it } from 'vitest'
import { ago, countText, grouped, moment, short } from './format.ts'
import { printable } from './printable.ts'
import { indentedJson, jsonLine } from './stderr.ts'
import { drawFill } from './usage-bar.ts'

describe('numbers and times for people', () => {
  it.each<[number, string]>([
    [-5_000, 'now'],
    [999, 'now'],
    [1_000, '1 s ago'],
    [59_999, '59 s ago'],
    [60_000, '1 min ago'],
    [3_599_999, '59 min ago'],
    [3_600_000, '1 h ago'],
    [86_399_999, '23 h ago'],
    [86_400_000, '1 d ago'],
    [200 * 86_400_000, '200 d ago'],
  ])('%i ms before is %s', (ms, text) => {
    expect(ago(1_700_000_000_000 - ms, 1_700_000_000_000)).toBe(text)
  })

  it.each<[number, string, string]>([
    [0, '0', '0'],
    [999, '999', '999'],
    [1_000, '1,000', '1.0k'],
    [12_345, '12,345', '12.3k'],
    [999_949, '999,949', '999.9k'],
    [999_950, '999,950', '1.0M'],
    [4_500_000, '4,500,000', '4.5M'],
  ])('%i is %s, or %s', (count, long, brief) => {
    expect([grouped(count), short(count)]).toEqual([long, brief])
  })

  it('count things', () => {
    expect([0, 1, 2, 1_000].map((count) => countText(count, 'row'))).toEqual([
      ...['0 rows', '1 row', '2 rows', '1,000 rows'],
    ])
    expect([1, 2].map((count) => countText(count, 'entry', 'entries'))).toEqual([
      ...['1 entry', '2 entries'],
    ])
  })

  it("use the reader's time zone", () => {
    expect(moment(new Date(2026, 0, 5, 3, 4, 9).getTime())).toBe('2026-01-05 03:04:09')
    expect(moment(new Date(2026, 10, 15, 18, 30, 59).getTime())).toBe('2026-11-15 18:30:59')
  })
})

describe('the bar of a context', () => {
  it.each<[number, number, string, string]>([
    [0, 100, '░░░░░░░░░░ 0 %', 'green'],
    [5, 100, '█░░░░░░░░░ 5 %', 'green'],
    [74, 100, '███████░░░ 74 %', 'green'],
    [75, 100, '████████░░ 75 %', 'yellow'],
    [94, 100, '█████████░ 94 %', 'yellow'],
    [95, 100, '██████████ 95 %', 'red'],
    [130, 100, '██████████ 130 %', 'red'],
    [5, 0, '░░░░░░░░░░ 0 %', 'green'],
    [1, 1, '██████████ 100 %', 'red'],
  ])('of %i tokens in %i', (tokens, windowTokens, text, colour) => {
    expect(drawFill({ tokens, windowTokens })).toEqual({ text, colour })
  })
})

const OBEYED = [
  ...'\u0000\u0007\u001b\u007f\u0085\u009b\u009d\u00ad\u061c\u200b\u200f\u2028\u202e\u2066\ufeff\u{e0041}',
]

it.each(OBEYED)('prints JSON without a character that a terminal obeys: %j', (character) => {
  const value = { [`name${character}`]: [`before ${character}31m after`, 'café 😀\n'] }
  for (const text of [jsonLine(value), indentedJson(value)]) {
    expect(text).not.toContain(character)
    expect(JSON.parse(text)).toEqual(value)
  }
  expect(jsonLine(value)).toContain('café 😀')
})

describe('printable', () => {
  it.each([
    ['a\x1b]0;title\x07b\x1b]0;title\x1b\\c', 'abc'],
    ['a\x1b]0;b\x1b[31mc\x1b[0m', 'a 0;bc'],
    ['a\x1b]0;b\x07c\x1b]d', 'ac d'],
    ['\u202ea\tb\u009b\n', ' a    b \n'],
  ])('takes what a terminal obeys out of %j', (text, expected) => {
    expect(printable(text)).toBe(expected)
  })

  it('reads a megabyte of titles that never end', () => {
    const titles = '\x1b]'.repeat(500_000)
    expect(printable(`a\x07${titles}b`)).toBe(`a ${' '.repeat(500_000)}b`)
  })
})
