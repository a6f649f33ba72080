import { expect, it } from 'vitest'
import { findAllNames, findNames } from './names.ts'

it('finds each name once, where it was seen last, without the mark behind it', () => {
  const text = 'Read src/a.ts, then PELICAN-7. See https://example.com/x! And src/a.ts again?'
  expect(findAllNames(text)).toEqual(['PELICAN-7', 'https://example.com/x', 'src/a.ts'])
})

it('tells the kinds of names apart', () => {
  const text = 'plain words, src/a.ts https://example.com/x PELICAN-7 build4711'
  expect(findNames(text, 'path')).toEqual(['src/a.ts'])
  expect(findNames(text, 'url')).toEqual(['https://example.com/x'])
  expect(findNames(text, 'identifier')).toEqual(['PELICAN-7', 'build4711'])
})

it('takes a word of 300 characters for a name, and a longer one for noise', () => {
  const longest = `a/${'b'.repeat(298)}`
  expect(findNames(`${longest} ${longest}b`, 'path')).toEqual([longest])
  expect(findAllNames(`${longest} ${longest}b`)).toEqual([longest])
})
