import { expect, it } from 'vitest'
import { findBulk } from './bulk.ts'

const PROSE = 'We met at the pier and spoke of the tide.'
/** No letters: 20 characters with its line break. */
const NUMBERS = '1024 4096 8192 16384'
const numbers = (lines: number) => Array.from({ length: lines }, () => NUMBERS).join('\n')
/** Nineteen lines of 21 characters, and one that makes 400 of them. */
const SHORTEST = `${numbers(19)}\n1`

/** The stretches as [first character, last character, length]. */
const bulk = (...lines: readonly string[]) => {
  const text = lines.join('\n')
  return findBulk(text).map(({ from, to, name }) => {
    expect(name).toBe('bulk')
    return [from, to]
  })
}

it.each<[string, readonly string[], readonly (readonly number[])[]]>([
  ['prose', [PROSE.repeat(20)], []],
  ['400 characters of numbers', [SHORTEST], [[0, 400]]],
  ['399 characters of numbers', [SHORTEST.slice(0, -1)], []],
  ['numbers between prose', [PROSE, numbers(20), PROSE], [[42, 462]]],
  ['numbers with blank lines', [PROSE, numbers(10), '', ' ', numbers(10), '', PROSE], [[42, 466]]],
  ['numbers that prose divides', [numbers(10), PROSE, numbers(10), PROSE.repeat(2)], []],
  ['blank lines before numbers', ['', '', numbers(20)], [[2, 421]]],
  ['a fence', [PROSE, '```', PROSE, PROSE, ...Array(9).fill(PROSE), '  ```', PROSE], [[42, 514]]],
  ['a fence without an end', [PROSE, '```ts', ...Array(10).fill(PROSE)], [[42, 467]]],
  ['lines that end in four blanks', Array(10).fill(`${PROSE}    `), [[0, 459]]],
  ['lines that end in three blanks', Array(10).fill(`${PROSE}   `), []],
  ['a log', Array(10).fill(`2026-01-02 ${PROSE}`), [[0, 529]]],
  ['a trace', Array(10).fill(`at pier.land (${PROSE})`), [[0, 569]]],
  ['words of two letters, three of them', Array(40).fill('ab cd ef g h i'), []],
  ['words of two letters, two of them', Array(40).fill('ab cd e f g h i'), [[0, 639]]],
  ['letters for four fifths', Array(60).fill('ab cd ef12'), []],
  ['letters for less', Array(60).fill('ab cd ef123'), [[0, 719]]],
  ['dense writing', Array(40).fill('船が港に入る1234567890 1234567890'), []],
  ['encoded bytes', ['aGVsbG8gd29ybGQgYW5kIG1vcmU'.repeat(30)], [[0, 810]]],
  [
    'one long line with few blanks',
    [`${'abcdefghijklmnopqrstuvwxyz'.repeat(2)} `.repeat(12)],
    [[0, 636]],
  ],
  ['one long line with enough blanks', [`${'abcdefghijklmnopqr'} `.repeat(30)], []],
  [
    'numbers behind five hundred characters of prose',
    [`${PROSE} `.repeat(12) + NUMBERS.repeat(40)],
    [],
  ],
])('%s', (_, lines, found) => {
  expect(bulk(...lines)).toEqual(found)
})
