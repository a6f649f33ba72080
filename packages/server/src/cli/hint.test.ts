import { describe, expect, it } from 'vitest'
import { commandForm, shellWord } from './hint.ts'

describe('commandForm', () => {
  it.each([
    ['in a clone', '/src/throughline/packages/server', '/src/throughline', 'npx throughline'],
    [
      'deep in a clone',
      '/src/throughline/packages/server',
      '/src/throughline/docs',
      'npx throughline',
    ],
    [
      'beside a clone',
      '/src/throughline/packages/server',
      '/src',
      'node throughline/packages/server/bin/throughline.js',
    ],
    ['in a project', '/app/node_modules/throughline', '/app/src', 'npx throughline'],
    ['for everyone', '/usr/lib/node_modules/throughline', '/app', 'throughline'],
    ['from the cache', '/h/.npm/_npx/1a/node_modules/throughline', '/app', 'npx throughline'],
  ])('is the form that works %s', (_, packageFolder, workingFolder, form) => {
    expect(commandForm({ packageFolder, workingFolder })).toBe(form)
  })
})

describe('shellWord', () => {
  it.each([
    ['plain/path-1.json', 'plain/path-1.json'],
    ['my file.json', "'my file.json'"],
    ["it's.json", `'it'\\''s.json'`],
    ['$(rm).json', "'$(rm).json'"],
    ['', "''"],
  ])('makes %j one word of a shell', (word, quoted) => {
    expect(shellWord(word)).toBe(quoted)
  })
})
